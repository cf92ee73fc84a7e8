import { LEVELS, STAGE_WORDS } from "./levels.ts";

export type FieldType = "string" | "number" | "bytes" | "duration" | "boolean" | "level" | "timestamp";

/** A field that entries have. `name` is written as in a query: `status`, `user.email`, `fields["odd key"]`. */
export interface KnownField {
  readonly name: string;
  readonly type?: FieldType;
  /** In how many entries it was seen: the more, the earlier it is offered. */
  readonly count?: number;
  readonly documentation?: string;
}

/** A value of a field. */
export interface KnownValue {
  readonly value: string | number | boolean;
  readonly count?: number;
}

/** The fields of every entry, and of the entries that the proxy writes of each request and answer. */
export const KNOWN_FIELDS: readonly KnownField[] = [
  { name: "level", type: "level", documentation: "Severity of the entry, ordered from debug to emergency." },
  { name: "message", type: "string", documentation: "The message. A quoted text alone tests it." },
  {
    name: "timestamp",
    type: "timestamp",
    documentation: "The time: a quoted RFC 3339 time, or a duration ago such as 1h.",
  },
  { name: "status", type: "number", documentation: "The status of the response, such as 404." },
  { name: "duration", type: "duration", documentation: "How long the response took; a bare number is milliseconds." },
  { name: "size", type: "bytes", documentation: "The size of the response body; a bare number is bytes." },
  { name: "method", type: "string", documentation: "The method of the request, such as GET." },
  { name: "path", type: "string", documentation: "The path that the client requested, without the query." },
  { name: "query", type: "string", documentation: "The query string of the request." },
  {
    name: "stage",
    type: "string",
    documentation: "Where the app runs; production, staging and development are words.",
  },
  { name: "ip", type: "string", documentation: "The address of the client." },
  { name: "id", type: "string", documentation: "The id of the entry, or of the request it belongs to." },
  { name: "version", type: "string", documentation: "The deployed version." },
  { name: "commit", type: "string", documentation: "The Git commit or tag that was deployed." },
  { name: "rule.kind", type: "string", documentation: "The kind of rule that answered in place of the app." },
  { name: "rule.pattern", type: "string", documentation: "The pattern of the redirect or rewrite that answered." },
  {
    name: "rule.loop",
    type: "boolean",
    documentation: "True if the redirect led the client back to where it came from; absent otherwise.",
  },
];

/** Values that a field has without having been seen. */
export const KNOWN_VALUES: Readonly<Record<string, readonly (string | number)[]>> = {
  level: LEVELS,
  stage: STAGE_WORDS,
  method: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"],
  status: [200, 201, 204, 301, 302, 304, 400, 401, 403, 404, 422, 429, 500, 502, 503, 504],
  message: ["request", "response"],
  "rule.kind": ["redirect", "rewrite", "static", "error page", "cors preflight"],
};

/** The effect of each operator and keyword, in a sentence or two. */
export const WORD_DOCS: Readonly<Record<string, string>> = {
  "=": "Equal to. Case-sensitive, * matches any text; false if the field is missing.",
  "==": "Equal, as = is.",
  "!=": "Not equal to. False if the field is missing; not (a = b) is true then.",
  ">": "More than. Numbers, level by severity, and timestamp.",
  ">=": "At least. Numbers, level by severity, and timestamp.",
  "<": "Less than. Numbers, level by severity, and timestamp.",
  "<=": "At most. Numbers, level by severity, and timestamp.",
  "~": "Matches a regular expression (RE2), such as /time ?out/i; i ignores case.",
  contains: "Contains the text (case-sensitive). A * is literal.",
  in: "Equal to any value of the list.",
  "not in": "Equal to no value of the list; true if the field is missing.",
  and: "Both terms are true. Terms side by side mean the same.",
  "&&": "Both terms are true, as with and.",
  or: "At least one term is true. Binds looser than and.",
  "||": "At least one term is true, as with or.",
  not: "True if the term is false, also because of a missing field. Binds tighter than and.",
  "!": "True if the term is false, as with not.",
  exists: "The field is present, with any value.",
};
