import { quote } from "../../grammar/problem.ts";
import { cleanName } from "../clean-text.ts";
import { removal } from "../edits.ts";
import type { Node } from "../json.ts";
import type { Report } from "../report.ts";
import { isSecretName, isSecretText, SECRET_VARIABLE_HINT } from "./secrets.ts";

/** Set by the tool for every process (specification, "environment and provided variables"), and when it deploys. */
const PROVIDED: Readonly<Record<string, string>> = {
  PORT: "the app listens on $PORT: remove it",
  TOOL_STAGE: "it holds the stage's name: remove it",
  TOOL_COMMIT: "it holds the deployed commit: remove it",
  TOOL_RESPONSE_MODE: "remove it",
  AWS_LAMBDA_EXEC_WRAPPER: "it starts the tool's runtime: remove it",
};

/** "Reserved environment variables" of the function platform (Lambda guide): a deploy that names one is refused. */
const RESERVED = new Set([
  "_HANDLER",
  "_X_AMZN_TRACE_ID",
  "AWS_ACCESS_KEY",
  "AWS_ACCESS_KEY_ID",
  "AWS_DEFAULT_REGION",
  "AWS_EXECUTION_ENV",
  "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
  "AWS_LAMBDA_FUNCTION_NAME",
  "AWS_LAMBDA_FUNCTION_VERSION",
  "AWS_LAMBDA_INITIALIZATION_TYPE",
  "AWS_LAMBDA_LOG_GROUP_NAME",
  "AWS_LAMBDA_LOG_STREAM_NAME",
  "AWS_LAMBDA_RUNTIME_API",
  "AWS_REGION",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "LAMBDA_RUNTIME_DIR",
  "LAMBDA_TASK_ROOT",
]);

export function checkEnvironment(report: Report, environment: Node | undefined) {
  if (environment?.type !== "object") return;
  for (const member of environment.members) {
    const { key, value } = member;
    const name = key.value;
    if (Object.hasOwn(PROVIDED, name)) {
      report.error("config/provided-variable", key.span, `the tool sets ${quote(name)} itself`, {
        hint: PROVIDED[name],
        fix: removal(environment, member),
      });
    } else if (RESERVED.has(name)) {
      report.error("config/reserved-variable", key.span, `the function platform sets ${quote(name)} itself`, {
        hint: `choose another name, such as ${quote(`APP_${name.replace(/^_/, "")}`)}, or remove it`,
        fix: report.suggest(key, `APP_${name.replace(/^_/, "")}`),
      });
    } else if (!/^[A-Za-z][A-Za-z0-9_]+$/.test(name)) {
      // The platform's own rule, which is narrower than a shell's.
      const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
      const message = `${quote(name)} is ${isName ? "a name that the function platform refuses" : "not a valid variable name"}`;
      report.error("config/variable-name", key.span, message, {
        hint: "a name is a letter, then at least one more letter, digit or _",
        fix: report.suggest(key, platformName(name)),
      });
    }
    if (value?.type !== "string") continue;
    if (value.value.includes("\0")) {
      report.error("config/variable-value", value.span, `the value of ${quote(name)} contains a NUL character`, {
        hint: "remove it",
        fix: report.suggest(value, value.value.replaceAll("\0", "")),
      });
    }
    const byValue = isSecretText(value.value);
    if (!byValue && !isSecretName(name, value.value)) continue;
    // The value is not quoted: this message ends up in logs.
    report.warning("config/secret", byValue ? value.span : key.span, `${quote(name)} looks like a secret`, {
      hint: SECRET_VARIABLE_HINT,
    });
  }
}

/** The nearest name that the platform takes. */
function platformName(name: string): string {
  const cleaned = (cleanName(name.replace(/=.*$/s, ""), { others: "_" }) ?? "").replace(/^[^A-Za-z]+/, "");
  return cleaned.length > 1 ? cleaned : `APP_${cleaned || "VALUE"}`;
}
