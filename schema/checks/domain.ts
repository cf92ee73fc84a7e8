import { quote } from "../../grammar/problem.ts";

export interface DomainOptions {
  /** `*` may stand for the first label. */
  readonly wildcard?: boolean;
  /** Labels such as `_dmarc`. */
  readonly underscores?: boolean;
  /** One label is enough. */
  readonly topLevel?: boolean;
}

/**
 * The problem of a domain name (RFC 1035 section 2.3.1, RFC 1123 section 2.1), or undefined. One final dot is allowed.
 */
export function domainProblem(
  name: string,
  options: DomainOptions = {},
): { message: string; hint: string; fixed?: string; near?: string } | undefined {
  const wrong = problemOf(name, options);
  if (wrong === undefined) return undefined;
  // The host of an address, without doubled dots, blanks and what follows it.
  const plain = name
    .replace(/^[a-z]+:\/\//i, "")
    .replace(/[/?#:].*$/, "")
    .trim()
    .replace(/\s*\.[\s.]*/g, ".")
    .replace(/^[-.]+/, "")
    .replace(/[-.]+$/, "");
  const isName = plain !== name && plain !== "" && problemOf(plain, options) === undefined;
  // A path or port was meant to do something: whether to drop it is for the user to decide.
  const [rest = ""] = /[/?#:].*$/.exec(name.replace(/^[a-z]+:\/\//i, "")) ?? [];
  if (isName) return /^[/?#:]*$/.test(rest.trim()) ? { ...wrong, fixed: plain } : { ...wrong, near: plain };
  const near = nearestName(plain, options);
  return near === undefined ? wrong : { ...wrong, near };
}

/** A name without what cannot be in one, and with an end where it has none. */
function nearestName(name: string, options: DomainOptions): string | undefined {
  const labels = name
    .toLowerCase()
    .split(".")
    .map((label, i) => {
      if (i === 0 && label === "*" && options.wildcard) return label;
      const bad = options.underscores ? /[^a-z0-9_-]+/g : /[^a-z0-9-]+/g;
      return label
        .replace(bad, "-")
        .replace(/^-+|-+$/g, "")
        .slice(0, 63);
    })
    .filter((label) => label !== "");
  const near =
    labels.length === 0 ? "example.com" : labels.length === 1 ? `${labels[0]}.example.com` : labels.join(".");
  return problemOf(near, options) === undefined ? near : undefined;
}

function problemOf(name: string, options: DomainOptions): { message: string; hint: string } | undefined {
  const example = "write a name such as example.com";
  if (name === "") return { message: "the domain name is empty", hint: example };
  const url = /^[a-z]+:\/\/([^/]*)/i.exec(name);
  if (url !== null)
    return { message: `${quote(name)} is a URL, no domain name`, hint: url[1] ? `write ${url[1]}` : example };
  const plain = name.replace(/\.$/, "");
  if (plain.length > 253) return { message: `${quote(name)} is longer than 253 characters`, hint: example };
  const labels = plain.split(".");
  for (const [i, label] of labels.entries()) {
    if (label === "*" && i === 0 && options.wildcard) continue;
    if (label === "") return { message: `${quote(name)} has an empty part`, hint: "separate the parts with one dot" };
    if (label.length > 63) return { message: `${quote(label)} is longer than 63 characters`, hint: example };
    const bad = (options.underscores ? /[^a-z0-9_-]/iu : /[^a-z0-9-]/iu).exec(label);
    if (bad !== null) {
      const foreign = bad[0].codePointAt(0)! > 0x7f;
      return {
        message: `${quote(bad[0])} is not allowed in the domain name ${quote(name)}`,
        hint: foreign ? "write the name in its ASCII form, xn--..." : example,
      };
    }
    if (/^-|-$/.test(label)) return { message: `a part of ${quote(name)} begins or ends with "-"`, hint: example };
  }
  if (labels.length < 2 && !options.topLevel)
    return { message: `${quote(name)} has no top-level domain`, hint: example };
  return undefined;
}
