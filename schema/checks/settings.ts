import { type Fix, type Problem, quote, type Span } from "../../grammar/problem.ts";
import { parsePipeline, savedQueryIn } from "../../grammar/query/index.ts";
import { cleanName, cleanPath } from "../clean-text.ts";
import { addition } from "../edits.ts";
import { memberOf, type Node, type ObjectNode } from "../json.ts";
import type { ProblemReport } from "../report.ts";
import { resolve, type Schema } from "../shape.ts";
import { emailFix, isEmail } from "./alerts.ts";

/** Cloud names may have 64 characters, and the app's name becomes a part of them. */
const MAX_NAME_LENGTH = 40;

export function checkAppName(report: ProblemReport, name: Node | undefined) {
  if (name?.type !== "string") return;
  const { value, span } = name;
  const wanted = "write lower-case letters, digits and -, beginning with a letter";
  if (value === "") {
    report.error("config/name", span, "the name is empty", { hint: wanted, fix: report.suggest(name, "app") });
  }
  if (value === "") return;
  if (!/^[a-z][a-z0-9-]*$/.test(value)) {
    const near = value
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^[^a-z]+|-+$/g, "")
      .slice(0, MAX_NAME_LENGTH);
    report.error("config/name", span, `${quote(value)} is not a valid app name`, {
      hint: near === "" ? wanted : `${wanted}, such as ${quote(near)}`,
      fix: report.suggest(name, near.replace(/-+$/, "") || "app"),
    });
  } else if (value.length > MAX_NAME_LENGTH) {
    report.error("config/name", span, `the name has ${value.length} characters, the maximum is ${MAX_NAME_LENGTH}`, {
      hint: "it becomes a part of cloud names, which are limited to 64",
      fix: report.suggest(name, value.slice(0, MAX_NAME_LENGTH).replace(/-+$/, "")),
    });
  }
}

/** A backoff that begins above its end; a side that is not written is the default. */
export function checkBackoff(report: ProblemReport, proxy: Node | undefined) {
  const backoff = memberOf(proxy, "backoff")?.value;
  if (backoff === undefined) return;
  const { properties } = resolve({ $ref: "#/definitions/backoff" });
  const side = (name: "min" | "max") => {
    const member = memberOf(backoff, name);
    if (member === undefined) return { value: properties![name]!.default as number, span: undefined };
    return member.value?.type === "number" ? { value: member.value.value, span: member.value.span } : undefined;
  };
  const min = side("min");
  const max = side("max");
  if (min === undefined || max === undefined || min.value <= max.value) return;
  const defaulted = min.span === undefined ? ` (the default "min")` : "";
  const other = max.span === undefined ? ` (the default "max")` : "";
  report.error(
    "config/backoff",
    (min.span ?? max.span)!,
    `the backoff begins at ${min.value} ms${defaulted} and ends at ${max.value} ms${other}`,
    {
      hint:
        min.span === undefined
          ? `write "min" too, at most ${max.value}`
          : max.span === undefined
            ? `write "max" too, at least ${min.value}`
            : "swap the two",
      fix: backoffFix(report.source, backoff as ObjectNode, { min, max }),
    },
  );
}

interface Side {
  readonly value: number;
  /** Undefined for the default. */
  readonly span: Span | undefined;
}

function backoffFix(source: string, backoff: ObjectNode, { min, max }: { min: Side; max: Side }): Fix | undefined {
  if (min.span === undefined)
    return addition(source, backoff, { name: "min", value: String(max.value), order: ["min", "max"] });
  if (max.span === undefined)
    return addition(source, backoff, {
      name: "max",
      value: String(min.value),
      order: ["max", "factor", "attempts", "jitter"],
    });
  return {
    title: "Swap the two",
    edits: [
      { span: min.span, text: String(max.value) },
      { span: max.span, text: String(min.value) },
    ],
    isSuggestion: true,
  };
}

export function checkStaticPrefix(report: ProblemReport, settings: Node | undefined) {
  const prefix = memberOf(settings, "prefix")?.value;
  if (prefix?.type !== "string" || prefix.value === "") return;
  const bad = /[\s?#*:\\\u0000-\u001f]/.exec(prefix.value);
  if (bad !== null) {
    report.error(
      "config/static-prefix",
      prefix.span,
      `${quote(bad[0])} is not allowed in the prefix ${quote(prefix.value)}`,
      {
        hint: "write the beginning of a URL path, such as /static/",
        fix: report.suggest(prefix, cleanPath(prefix.value)),
      },
    );
  } else if (!prefix.value.startsWith("/")) {
    report.error("config/static-prefix", prefix.span, `the prefix ${quote(prefix.value)} does not begin with "/"`, {
      hint: `write /${prefix.value}`,
      fix: report.replace(prefix, `/${prefix.value}`),
    });
  }
}

/** Saved queries are called as `@name` on a command line. `isNamed`: whether there is one of a name. */
export function checkSavedQueries(report: ProblemReport, logs: Node | undefined, isNamed: (name: string) => boolean) {
  const queries = memberOf(logs, "queries")?.value;
  if (queries?.type !== "object") return;
  for (const { key, value } of queries.members) {
    if (value?.type === "string") report.inside(value, namesOfOthers(value.value, isNamed));
    if (/^[A-Za-z][A-Za-z0-9_-]*$/.test(key.value)) continue;
    report.error("config/query-name", key.span, `${quote(key.value)} is not a valid query name`, {
      hint: "write letters, digits, - and _, beginning with a letter: it is used as @name",
      fix: report.suggest(key, cleanName(key.value, { others: "-_" })),
    });
  }
}

/**
 * The command reads names in what was typed only: here they would be fields. Before stages neither the command nor the service
 * takes a field for one that is written like a name.
 */
function namesOfOthers(text: string, isNamed: (name: string) => boolean): readonly Problem[] {
  const parsed = text.includes("@") ? parsePipeline(text) : undefined;
  const saved = parsed?.ok ? savedQueryIn(parsed.value.query) : undefined;
  if (parsed?.ok !== true || saved === undefined) return [];
  if (parsed.value.pipes.length === 0 && !isNamed(saved.name.slice(1))) return [];
  const message = `a saved query cannot name another one, as ${saved.name} would`;
  const hint = `write its text, or of a field of that name: exists ${saved.name}; what is typed may name several: tool logs '@slow @mine'`;
  return [{ code: "config/nested-query", severity: "error", message, hint, span: saved.span }];
}

/** The variables that the built-in page reads; templates of the project may read them as they like. */
export function checkErrorPageVariables(report: ProblemReport, errorPages: Node | undefined) {
  if (memberOf(errorPages, "dir") !== undefined) return;
  const variables = memberOf(errorPages, "variables")?.value;
  for (const name of ["color", "support_email"]) {
    const value = memberOf(variables, name)?.value;
    if (value !== undefined && value.type !== "string" && value.type !== "broken") {
      const example = (resolve({ $ref: "#/definitions/error_pages" }).properties!.variables as Schema).properties![
        name
      ]!.examples![0];
      const start = value.span.start;
      const span = value.type === "object" || value.type === "array" ? { start, end: start + 1 } : value.span;
      const isPlain = value.type !== "object" && value.type !== "array";
      report.error("config/type", span, `"${name}" must be a string`, {
        hint: `for example "${example}"`,
        fix: isPlain ? report.suggest(value, example as string) : undefined,
      });
    }
    if (name === "support_email" && value?.type === "string" && value.value !== "" && !isEmail(value.value)) {
      report.error("config/email", value.span, `${quote(value.value)} is not an email address`, {
        hint: "write one such as support@example.com",
        fix: emailFix(report, value),
      });
    }
  }
}
