import type { Location, Route } from "./ast.ts";
import { percentEncode } from "./path.ts";

/** The canonical text: parsing it gives the same route. */
export function printRoute(route: Route): string {
  return route.parts
    .map((part, i) => {
      if (part.kind === "param") return `:${part.name}`;
      return part.kind === "wildcard" ? "*" : printLiteral(part.text, route.parts[i - 1]?.kind === "param");
    })
    .join("");
}

/** The canonical text: parsing it gives the same location. */
export function printLocation(location: Location): string {
  const printed = location.parts.map((part) =>
    part.kind === "placeholder" ? `:${part.name}` : part.text.replace(/\*|:(?=[A-Za-z_])/g, "\\$&"),
  );
  return location.origin + printed.join("");
}

/** Readable: other alphabets stay as they are, what cannot be seen or has a meaning is encoded. */
function printLiteral(text: string, afterParam: boolean): string {
  const printed = text
    .replace(/[*:\\]/g, "\\$&")
    .replace(/[\s\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}?#{}<>[\]()|^"`]/gu, percentEncode);
  // A letter would become a part of the name before it, a plus sign a quantifier.
  return afterParam ? printed.replace(/^[A-Za-z0-9_+]/, percentEncode) : printed;
}
