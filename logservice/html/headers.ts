/**
 * Nothing runs in our pages but what is ours, nobody shows them in a frame, and nothing keeps them. Their addresses, which
 * hold links for one use, are told to nobody else. Not `no-referrer`: with that, browsers send `Origin: null` with our own
 * forms (Fetch, section 3.2 "append a request `Origin` header").
 */
export const PAGE_HEADERS = [
  [
    "Content-Security-Policy",
    "default-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'; object-src 'none'",
  ],
  ["Referrer-Policy", "same-origin"],
  ["Cache-Control", "no-store"],
  ["Cross-Origin-Opener-Policy", "same-origin"],
] as const;

/** The policy of a page that has its style in its markup, loads nothing but our icon, and runs nothing. */
export const INLINE_STYLE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'";
