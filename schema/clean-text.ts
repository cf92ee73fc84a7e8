// Guesses at the text that was meant where a text breaks the rules of its place: the nearest one that keeps them.

/** A name of letters, digits and some other characters; undefined if nothing is left. */
export function cleanName(
  text: string,
  {
    others,
    lower = false,
    digitFirst = false,
    max = 255,
  }: { others: string; lower?: boolean; digitFirst?: boolean; max?: number },
): string | undefined {
  const [between] = others;
  const base = lower ? text.toLowerCase() : text;
  const kept = [...base.trim()]
    .map((char) => (/[A-Za-z0-9]/.test(char) || others.includes(char) ? char : " "))
    .join("");
  const joined = kept.trim().replace(/ +/g, between ?? "");
  const begun = digitFirst ? joined : joined.replace(/^[^A-Za-z]+/, "");
  const ended = begun.slice(0, max).replace(/[-_.]+$/, (end) => (text.trim().endsWith(end) ? end : ""));
  return ended === "" ? undefined : ended;
}

/** An address without what mail programs put around it. */
export function cleanEmail(text: string): string {
  return text
    .trim()
    .replace(/^mailto:/i, "")
    .replace(/^.*<([^<>]*)>.*$/, "$1")
    .replace(/\s*(?:\(at\)|\[at\]|\sat\s)\s*/i, "@")
    .replace(/\s*(?:\(dot\)|\[dot\])\s*/gi, ".")
    .replace(/@{2,}/, "@")
    .replace(/\.{2,}/g, ".")
    .replace(/^[<\s]+|[>,;.\s]+$/g, "")
    .replace(/\s+/g, "");
}

/** A number in E.164 form, as far as it can be told. */
export function cleanNumber(text: string): string {
  const plain = text
    .trim()
    .replace(/^tel:/i, "")
    .replace(/\(0\)/, "")
    .replace(/[\s()./-]/g, "");
  return plain.replace(/^00/, "+").replace(/^(?=[1-9])/, "+");
}

/** An https URL. */
export function cleanUrl(text: string): string {
  return text
    .trim()
    .replace(/\s/g, "%20")
    .replace(/^(?:h?t?t?ps?:?\/*|[a-z]+:\/+|\/\/)/i, "https://")
    .replace(/^(?!https:\/\/)/i, "https://");
}

/** A path of a URL: segments between single slashes, without query and fragment. */
export function cleanPath(text: string): string {
  const path = text
    .trim()
    .replace(/^[a-z]+:\/\/[^/]*/i, "")
    .replace(/[?#].*$/, "")
    .replace(/\\/g, "/")
    .replace(/\s+/g, "-")
    .replace(/[*:]+/g, "")
    .replace(/\/{2,}/g, "/");
  return path.startsWith("/") ? path : `/${path}`;
}
