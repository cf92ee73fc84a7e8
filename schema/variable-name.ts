import { quote } from "../grammar/problem.ts";
import { cleanName } from "./clean-text.ts";

/** The problem of a variable, in words that fit a file and a command line. */
export interface VariableProblem {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** A name or value that is right, and what was most likely meant; undefined if it should be left out. */
  readonly suggestion?: string;
}

/** Set by the tool for every process (specification, "environment and provided variables"), and when it deploys. */
const PROVIDED: Readonly<Record<string, string>> = {
  PORT: "the app listens on $PORT: leave it out",
  TOOL_STAGE: "it holds the stage's name: leave it out",
  TOOL_COMMIT: "it holds the deployed commit: leave it out",
  TOOL_RESPONSE_MODE: "leave it out",
  AWS_LAMBDA_EXEC_WRAPPER: "it starts the tool's runtime: leave it out",
};

/** Names that the tool sets today or with a later version, when an app's own variable would break. */
const PREFIX = "TOOL_";

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

/** Why an app cannot have a variable of this name, in tool.json or in `tool env`; undefined if it can. */
export function variableNameProblem(name: string): VariableProblem | undefined {
  if (Object.hasOwn(PROVIDED, name)) {
    return {
      code: "config/provided-variable",
      message: `the tool sets ${quote(name)} itself`,
      hint: PROVIDED[name]!,
    };
  }
  if (RESERVED.has(name)) {
    const other = `APP_${name.replace(/^_/, "")}`;
    return {
      code: "config/reserved-variable",
      message: `the function platform sets ${quote(name)} itself`,
      hint: `choose another name, such as ${quote(other)}, or leave it out`,
      suggestion: other,
    };
  }
  if (name === "PATH" || name.startsWith("LD_")) {
    const what = name === "PATH" ? "programs" : "libraries";
    return {
      code: "config/reserved-variable",
      message: `with ${quote(name)} the function platform finds its own ${what}`,
      hint: 'leave it out; a command can extend it for the app: "PATH=$PWD/bin:$PATH ./server"',
    };
  }
  if (name.startsWith(PREFIX)) {
    const other = platformName(`APP_${name.slice(PREFIX.length) || "VALUE"}`);
    return {
      code: "config/provided-variable",
      message: `names that begin with ${PREFIX} are for the tool, and ${quote(name)} is one of them`,
      hint: `choose another name, such as ${quote(other)}`,
      suggestion: other,
    };
  }
  // The platform's own rule, which is narrower than a shell's.
  if (/^[A-Za-z][A-Za-z0-9_]+$/.test(name)) return undefined;
  const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
  return {
    code: "config/variable-name",
    message: `${quote(name)} is ${isName ? "a name that the function platform refuses" : "not a valid variable name"}`,
    hint: "a name is a letter, then at least one more letter, digit or _",
    suggestion: platformName(name),
  };
}

/** Says that a variable reaches more than the app; undefined if it does not. */
export function variableWarning(name: string): Omit<VariableProblem, "suggestion"> | undefined {
  if (name !== "NODE_OPTIONS") return undefined;
  return {
    code: "config/runtime-variable",
    message: `${quote(name)} applies to the runtime of the function too, which may not start with it`,
    hint: "set it for the app alone, in its command: NODE_OPTIONS=--enable-source-maps node app.js",
  };
}

/** Why a variable cannot have this value; undefined if it can. The value is not in the words: they end up in logs. */
export function variableValueProblem(name: string, value: string): VariableProblem | undefined {
  if (!value.includes("\0")) return undefined;
  return {
    code: "config/variable-value",
    message: `the value of ${quote(name)} contains a NUL character`,
    hint: "remove it",
    suggestion: value.replaceAll("\0", ""),
  };
}

/** The nearest name that an app can have. */
function platformName(name: string): string {
  const cleaned = (cleanName(name.replace(/=.*$/s, ""), { others: "_" }) ?? "").replace(/^[^A-Za-z]+/, "");
  // "AWS-REGION" is no name, and with its nearest form it would be a reserved one.
  const isFree = cleaned.length > 1 && variableNameProblem(cleaned) === undefined;
  return isFree ? cleaned : `APP_${cleaned || "VALUE"}`;
}
