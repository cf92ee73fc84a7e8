// The Accept family of request headers (RFC 9110, section 12.5), as far as the proxy decides by them.

interface Choice {
  readonly value: string;
  readonly q: number;
}

/** Does Accept name HTML? A wildcard alone does not: API clients send it and keep their JSON bodies. */
export function namesHtml(accept: string | undefined): boolean {
  return choices(accept).some(({ value, q }) => q > 0 && (value === "text/html" || value === "application/xhtml+xml"));
}

/** Does Accept name JSON, with at least the weight of plain text? */
export function prefersJson(accept: string | undefined): boolean {
  const all = choices(accept);
  const best = (test: (value: string) => boolean) =>
    Math.max(0, ...all.filter(({ value }) => test(value)).map(({ q }) => q));
  const json = best((value) => value === "application/json" || value.endsWith("+json"));
  return json > 0 && json >= best((value) => value === "text/plain");
}

/**
 * The codings of `offered` that the client accepts: by the client's weight, then in the order of `offered`. None that it
 * weighs less than the plain body (RFC 9110, section 12.5.3).
 */
export function acceptedEncodings(header: string | undefined, offered: readonly string[]): string[] {
  const all = choices(header);
  const own = (coding: string) => all.find(({ value }) => value === coding || value === `x-${coding}`)?.q;
  const weight = (coding: string) => own(coding) ?? own("*") ?? 0;
  const plain = own("identity") ?? 0;
  return offered
    .filter((coding) => weight(coding) > 0 && weight(coding) >= plain)
    .sort((a, b) => weight(b) - weight(a));
}

/** Does the client refuse the plain body? */
export function refusesIdentity(header: string | undefined): boolean {
  const all = choices(header);
  const weight = all.find(({ value }) => value === "identity") ?? all.find(({ value }) => value === "*");
  return weight?.q === 0;
}

function choices(header: string | undefined): Choice[] {
  if (header === undefined) return [];
  return header.split(",").map((part) => {
    const [value = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    const q = weight === undefined ? 1 : Number.parseFloat(weight.slice(2));
    return { value, q: Number.isNaN(q) ? 0 : Math.min(1, Math.max(0, q)) };
  });
}
