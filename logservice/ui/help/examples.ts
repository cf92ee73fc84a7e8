import { readPipeline } from "../../../grammar/query/read.ts";
import { explain, explainPipes, FUNCTIONS, NUMBER_UNITS, PIPE_USES } from "../../../grammar/query/reference.ts";
import { number } from "../kit/numbers.ts";

/** Queries to begin with, for somebody who looks for what broke. What each means is said by the language itself. */
export const FIRST: readonly string[] = [
  "error",
  "level >= warn not path = /health",
  "error or status >= 500",
  '"*connection refused*"',
  'duration > 1s path = "/api/*"',
  "user.email = ann@example.com",
  "error | count by path | limit 10",
  "status >= 500 | timeseries 5m count() by path",
  "| stats count(), p50(duration), p99(duration) by path",
];

/** An example of each operator and word of `WORD_DOCS`. */
export const WORD_EXAMPLES: Readonly<Record<string, string>> = {
  "=": "status = 404",
  "==": "status == 404",
  "!=": "method != GET",
  ">": "duration > 1.5s",
  ">=": "level >= warn",
  "<": "size < 10kb",
  "<=": "status <= 299",
  "~": "message ~ /time ?out/i",
  contains: 'message contains "50% off"',
  in: "method in (POST, PUT)",
  "not in": "status not in (200, 304)",
  and: "error and path = /pay",
  "&&": "error && path = /pay",
  or: "error or critical",
  "||": "error || critical",
  not: "not path = /health",
  "!": "!(path = /health)",
  exists: "exists user.id",
};

/** How terms and values are written. */
export const WRITTEN: readonly { readonly title: string; readonly queries: readonly string[] }[] = [
  {
    title: "Single words",
    queries: ["error production", '"checkout failed"', "user.email"],
  },
  {
    title: "Quotes and wildcards",
    queries: [
      'path = "/a b"',
      "path = /api/*",
      '"*timed out*"',
      'path = "/\\*"',
      'name = "say \\"hi\\""',
      'fields["odd key"] = 1',
    ],
  },
  {
    title: "Combining terms",
    queries: ["error (path = /pay or path = /cart)", "not (status = 200)"],
  },
  {
    title: "Time",
    queries: ["timestamp > 15m", 'timestamp >= "2026-01-31T14:00:00Z"'],
  },
];

/** The meaning of a query, in words. Undefined if the text is not one. */
export function meaningOf(text: string): string | undefined {
  const read = readPipeline(text);
  if (read === undefined) return undefined;
  const condition = text.trim().startsWith("|") ? "All events" : capital(explain(read.query));
  return [`${condition}.`, ...explainPipes(read.pipes)].join(" ");
}

/** A stage as a query of its own. */
export const pipeExample = (pipe: keyof typeof PIPE_USES): string =>
  pipe === "where" || pipe === "sort" ? `| count by path | ${PIPE_USES[pipe]}` : `| ${PIPE_USES[pipe]}`;

/** A function as it is called, and a query that does so. */
export function functionExample(name: keyof typeof FUNCTIONS): { readonly call: string; readonly query: string } {
  const field = FUNCTIONS[name].argument === "none" ? "" : FUNCTIONS[name].isOfNumbers ? "duration" : "user.id";
  const call = `${name === "pNN" ? "p99" : name}(${FUNCTIONS[name].argument === "possible" ? "" : field})`;
  return { call, query: `| stats ${call} by path` };
}

/** The units of numbers: `kb`, and `1,024 bytes`. */
export const UNITS: readonly { readonly unit: string; readonly is: string }[] = Object.entries(NUMBER_UNITS).map(
  ([unit, size]) => ({
    unit,
    is: `${number(size)} ${/b$/.test(unit) ? (size === 1 ? "byte" : "bytes") : "ms"}`,
  }),
);

/** Words of the explanation begin with a capital; names of fields stay as they are. */
function capital(text: string): string {
  return /^(?:the|every|not)\b/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
