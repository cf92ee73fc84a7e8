// Words from public standards, offered in addition to those of the project.

/** Where each region is, as its operator calls the place. */
export const REGION_PLACES: Readonly<Record<string, string>> = {
  "af-south-1": "Cape Town",
  "ap-east-1": "Hong Kong",
  "ap-east-2": "Taipei",
  "ap-northeast-1": "Tokyo",
  "ap-northeast-2": "Seoul",
  "ap-northeast-3": "Osaka",
  "ap-south-1": "Mumbai",
  "ap-south-2": "Hyderabad",
  "ap-southeast-1": "Singapore",
  "ap-southeast-2": "Sydney",
  "ap-southeast-3": "Jakarta",
  "ap-southeast-4": "Melbourne",
  "ap-southeast-5": "Malaysia",
  "ap-southeast-6": "New Zealand",
  "ap-southeast-7": "Thailand",
  "ca-central-1": "Montreal",
  "ca-west-1": "Calgary",
  "eu-central-1": "Frankfurt",
  "eu-central-2": "Zurich",
  "eu-north-1": "Stockholm",
  "eu-south-1": "Milan",
  "eu-south-2": "Spain",
  "eu-west-1": "Ireland",
  "eu-west-2": "London",
  "eu-west-3": "Paris",
  "il-central-1": "Tel Aviv",
  "me-central-1": "United Arab Emirates",
  "me-south-1": "Bahrain",
  "mx-central-1": "Mexico",
  "sa-east-1": "S\u00e3o Paulo",
  "us-east-1": "Northern Virginia",
  "us-east-2": "Ohio",
  "us-west-1": "Northern California",
  "us-west-2": "Oregon",
};

/** Response headers that are usually set (the IANA registry of field names), and values that are commonly meant. */
export const RESPONSE_HEADERS: Readonly<Record<string, readonly string[]>> = {
  "Cache-Control": ["no-store", "no-cache", "max-age=3600", "public, max-age=31536000, immutable"],
  "Content-Security-Policy": ["default-src 'self'", "default-src 'self'; frame-ancestors 'none'"],
  "Content-Security-Policy-Report-Only": ["default-src 'self'"],
  "Content-Disposition": ["inline", "attachment"],
  "Content-Language": ["en"],
  "Content-Type": ["text/html; charset=utf-8", "text/plain; charset=utf-8", "application/json"],
  "Cross-Origin-Embedder-Policy": ["require-corp", "credentialless", "unsafe-none"],
  "Cross-Origin-Opener-Policy": ["same-origin", "same-origin-allow-popups", "unsafe-none"],
  "Cross-Origin-Resource-Policy": ["same-site", "same-origin", "cross-origin"],
  Link: ["</style.css>; rel=preload; as=style"],
  "Permissions-Policy": ["geolocation=(), camera=(), microphone=()"],
  "Referrer-Policy": ["no-referrer", "same-origin", "strict-origin", "strict-origin-when-cross-origin"],
  "Server-Timing": ["db;dur=53", "cache;desc=hit"],
  "Strict-Transport-Security": ["max-age=31536000", "max-age=63072000; includeSubDomains; preload"],
  "Timing-Allow-Origin": ["*"],
  Vary: ["Accept-Encoding", "Origin", "Accept"],
  "X-Content-Type-Options": ["nosniff"],
  "X-Frame-Options": ["DENY", "SAMEORIGIN"],
  "X-Robots-Tag": ["noindex", "noindex, nofollow"],
};

/** The purpose of each header, in a sentence or two (RFC 9110 and 9111, Fetch, and the header's own specification). */
const HEADER_DOCS: Readonly<Record<string, string>> = {
  Accept: "The media types that the client takes.",
  "Accept-Language": "The languages that the client prefers.",
  Authorization: "The credentials of the client, such as `Bearer` and a token.",
  "Cache-Control":
    "How long, and by whom, the response may be cached. `no-store`: not at all; `immutable`: it never changes.",
  "Content-Disposition":
    "Whether a browser shows the response (`inline`) or saves it (`attachment`), and under which name.",
  "Content-Language": "The language of the page's audience.",
  "Content-Length": "The size of the body in bytes.",
  "Content-Security-Policy": "The sources that the page may load scripts, styles and other content from.",
  "Content-Security-Policy-Report-Only": "As Content-Security-Policy, but violations are only reported.",
  "Content-Type": "The media type of the body, and its character set.",
  "Cross-Origin-Embedder-Policy":
    "Whether the page may load cross-origin resources that do not opt in; `require-corp` isolates it.",
  "Cross-Origin-Opener-Policy": "Whether windows of other origins that open the page, or that it opens, can reach it.",
  "Cross-Origin-Resource-Policy": "Which sites may load this response.",
  ETag: "The version of the response, for conditional requests.",
  "If-Match": "Perform the request only if the version is still this one.",
  "If-None-Match": "Send a body only if the version differs.",
  Link: "Related resources; with `rel=preload`, resources that the page will need.",
  Location: "The target of a redirect, or the URL of a created resource.",
  Origin: "The origin of the requesting page.",
  "Permissions-Policy": "Which features of the browser, such as the camera, the page and its frames may use.",
  "Referrer-Policy": "How much of its URL the page sends as the referrer.",
  "Retry-After": "When to retry: seconds, or a date.",
  "Server-Timing": "How long parts of the work took, for the browser's developer tools.",
  "Strict-Transport-Security": "How long browsers use HTTPS only, in seconds. Hard to undo: start with a short time.",
  "Timing-Allow-Origin": "Which origins may read the load timings of this response.",
  Vary: "The request headers that the response depends on; caches store one response for each of their values.",
  "X-Content-Type-Options": "`nosniff`: browsers trust the Content-Type.",
  "X-CSRF-Token": "A token that proves that the request comes from the app's own pages.",
  "X-Frame-Options": "Whether the page may be shown in a frame: `DENY`, or `SAMEORIGIN`.",
  "X-Request-Id": "Identifies the request, such as in logs.",
  "X-Requested-With": "`XMLHttpRequest` by convention, for requests of scripts.",
  "X-Robots-Tag": "How search engines may use the response, such as `noindex`.",
};

/** The purpose of a header, whatever the case of its name. */
export function headerDocs(name: string): string | undefined {
  const canonicalName = Object.keys(HEADER_DOCS).find((header) => header.toLowerCase() === name.toLowerCase());
  return canonicalName === undefined ? undefined : HEADER_DOCS[canonicalName];
}

/** Request headers that scripts of other origins send in addition to the safelisted ones (Fetch standard). */
export const REQUEST_HEADERS: readonly string[] = [
  "*",
  "Accept",
  "Accept-Language",
  "Authorization",
  "Cache-Control",
  "Content-Type",
  "If-Match",
  "If-None-Match",
  "Origin",
  "X-CSRF-Token",
  "X-Request-Id",
  "X-Requested-With",
];

/** Response headers that scripts often want to read. */
export const EXPOSED_HEADERS: readonly string[] = [
  "Content-Disposition",
  "Content-Length",
  "ETag",
  "Link",
  "Location",
  "Retry-After",
  "X-Request-Id",
];

export const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** The meaning of the status of a rule for the client (RFC 9110 section 15.4); 200 is ours. */
export const STATUS_WORDS: Readonly<Record<number, string>> = {
  200: "rewrite: the app answers another path",
  301: "moved for good",
  302: "moved for now",
  303: "see other, with GET",
  307: "moved for now, same method",
  308: "moved for good, same method",
};

/** An example value for each type of record that a zone may contain. */
export const RECORD_VALUES: Readonly<Record<string, string>> = {
  A: "192.0.2.1",
  AAAA: "2001:db8::1",
  ALIAS: "example.cloudfront.net",
  CAA: '0 issue "ca.example"',
  CNAME: "example.blog.host",
  MX: "10 mail.example.com",
  NS: "ns1.example.net",
  PTR: "host.example.com",
  SPF: "v=spf1 -all",
  SRV: "1 10 5269 xmpp.example.com",
  TXT: "some text",
};
