// tool.json: text in, a checked configuration or problems out. Where to start reading is check.ts.
export { type CheckOptions, checkConfig } from "./check.ts";
export type {
  Action,
  Alert,
  Config,
  Cors,
  DnsRecord,
  ErrorPages,
  FunctionSettings,
  Hooks,
  Inject,
  Injection,
  Logs,
  Proxy,
  Redirect,
  Stage,
  Static,
} from "./config.generated.ts";
export {
  type DefaultsOptions,
  defaultRole,
  servesStatic,
  withDefaults,
} from "./defaults.ts";
export type { Directory, DirectoryEntry } from "./directory.ts";
export { notUtf8 } from "./encoding.ts";
export { fixAll } from "./fix-all.ts";
export { type Inference, type InferOptions, inferRuntime, MARKER_FILES, type Runtime } from "./infer.ts";
export { maskProblems, maskSecrets } from "./masked.ts";
export { migrate } from "./migrate.ts";
export type { ResolvedConfig, ResolvedHooks } from "./resolved-config.ts";
export { isShownByPages } from "./served-files.ts";
export { DEFAULT_STAGES, forStage, hookCommands } from "./stages.ts";
export { startedFiles } from "./started-files.ts";
export { toolSchema } from "./tool-schema.generated.ts";
export { largestVariables, MAX_VARIABLES_BYTES, variablesSize, withCommas } from "./variables-size.ts";
