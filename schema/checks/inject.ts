import { quote } from "../../grammar/problem.ts";
import { addition, removal } from "../edits.ts";
import { memberOf, type Node, type ObjectNode, spanInside } from "../json.ts";
import type { ProblemReport } from "../report.ts";

/** Text that would end the element around it, by injection type. */
export const CLOSING_TAG: Readonly<Record<string, RegExp>> = {
  "inline script": /<\/script/i,
  "inline style": /<\/style/i,
};

export function checkInject(report: ProblemReport, inject: Node | undefined) {
  for (const item of injections(inject)) {
    const type = memberOf(item, "type")?.value;
    const value = memberOf(item, "value");
    const file = memberOf(item, "file");
    if (value !== undefined && file !== undefined) {
      report.error("config/value-and-file", file.key.span, `"value" and "file" exclude each other`, {
        hint: "the content of the file is the value: remove one of them",
        fixes: [removal(item, file), removal(item, value)],
      });
    } else if (value === undefined && file === undefined) {
      const span = type?.span ?? { start: item.span.start, end: item.span.start + 1 };
      const what = type?.type === "string" ? quote(type.value) : "the item";
      report.error("config/no-value", span, `${what} has neither "value" nor "file"`, {
        hint: `add "value": "..." or "file": "path"`,
        fix: addition(report.source, item, { name: "value", value: JSON.stringify(exampleOf(type)), order: ["value"] }),
      });
    }
    if (value?.value?.type !== "string" || type?.type !== "string" || !Object.hasOwn(CLOSING_TAG, type.value)) continue;
    const match = CLOSING_TAG[type.value]!.exec(value.value.value);
    if (match === null) continue;
    report.error(
      "config/closing-tag",
      spanInside(report.source, value.value, { start: match.index, end: match.index + match[0].length }),
      `${quote(match[0])} would close the element that contains the value`,
      {
        hint: type.value === "inline script" ? "write <\\/script in a string of the script" : "remove it",
        fix: report.suggest(
          value.value,
          type.value === "inline script"
            ? value.value.value.replace(/<\/(?=script)/gi, "<\\/")
            : value.value.value.replace(/<\/style[^>]*>?/gi, ""),
        ),
      },
    );
  }
}

const EXAMPLES: Readonly<Record<string, string>> = {
  style: "/style.css",
  script: "/app.js",
  "inline style": "body { margin: 0 }",
  "inline script": "console.log(1)",
  literal: "<p>Hello</p>",
};

const exampleOf = (type: Node | undefined) => (type?.type === "string" ? EXAMPLES[type.value] : undefined) ?? "text";

/** The items of head and body. */
export function injections(inject: Node | undefined): ObjectNode[] {
  return ["head", "body"].flatMap((place) => {
    const items = memberOf(inject, place)?.value;
    return items?.type === "array" ? items.items.filter((item) => item.type === "object") : [];
  });
}
