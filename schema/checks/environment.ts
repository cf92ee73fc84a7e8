import { quote } from "../../grammar/problem.ts";
import type { Node } from "../json.ts";
import type { Report } from "../report.ts";

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

/** Names that end so hold secrets. `MAX_TOKENS`, `TOKEN_URL` and `PUBLIC_KEY` do not. */
const SECRET_NAME =
  /(^|_)(SECRET|SECRET_KEY|PASSWORD|PASSWD|PASSPHRASE|TOKEN|API_?KEY|PRIVATE_KEY|ACCESS_KEY|ENCRYPTION_KEY)$/i;

/** Forms that only credentials have: cloud and service keys, private keys, JSON web tokens, URLs with a password. */
const SECRET_VALUE =
  /^(AKIA|ASIA)[0-9A-Z]{16}$|-----BEGIN [A-Z ]*PRIVATE KEY-----|^gh[pousr]_[A-Za-z0-9]{36,}$|^github_pat_\w{22,}$|^glpat-[\w-]{20,}$|^(sk|rk)_live_[A-Za-z0-9]{16,}$|^xox[abeprs]-[\w-]{10,}$|^AIza[\w-]{35}$|^npm_[A-Za-z0-9]{36}$|^SG\.[\w-]{16,}\.[\w-]{16,}$|^eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}$|^[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@$<{]{3,}@/;

/** Values that say where a secret is or that there is none, rather than being one. */
const NO_SECRET =
  /^$|^\$|^[<{%]|^\/|^\.{1,2}\/|^[a-z]+:\/\/|^arn:|^\d+$|^(true|false|none|null|changeme|example|test|dummy|todo|x+|\*+)$/i;

export function checkEnvironment(report: Report, environment: Node | undefined) {
  if (environment?.type !== "object") return;
  for (const { key, value } of environment.members) {
    const name = key.value;
    if (Object.hasOwn(PROVIDED, name)) {
      report.error("config/provided-variable", key.span, `the tool sets ${quote(name)} itself`, {
        hint: PROVIDED[name],
      });
    } else if (RESERVED.has(name)) {
      report.error("config/reserved-variable", key.span, `the function platform sets ${quote(name)} itself`, {
        hint: `choose another name, such as ${quote(`APP_${name.replace(/^_/, "")}`)}, or remove it`,
      });
    } else if (!/^[A-Za-z][A-Za-z0-9_]+$/.test(name)) {
      // The platform's own rule, which is narrower than a shell's.
      const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
      const message = `${quote(name)} is ${isName ? "a name that the function platform refuses" : "no name of a variable"}`;
      report.error("config/variable-name", key.span, message, {
        hint: "a name is a letter, then at least one more letter, digit or _",
      });
    }
    if (value?.type !== "string") continue;
    if (value.value.includes("\0")) {
      report.error("config/variable-value", value.span, `the value of ${quote(name)} holds a NUL character`, {
        hint: "remove it",
      });
    }
    const byValue = SECRET_VALUE.test(value.value);
    if (!byValue && (!SECRET_NAME.test(name) || NO_SECRET.test(value.value))) continue;
    // The value is not quoted: this message ends up in logs.
    report.warning("config/secret", byValue ? value.span : key.span, `${quote(name)} looks like a secret`, {
      hint: "tool.json is plain text: keep it with `tool env` instead",
    });
  }
}
