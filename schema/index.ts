// tool.json: text in, a checked configuration or problems out. Start reading at check.ts. README.md lists the other
// files that may be imported from outside.
export { type ConfigCheckOptions, checkConfig, checkInSteps } from "./check.ts";
export { checkTemplate } from "./checks/error-pages.ts";
export { stageNames, unknownStages } from "./checks/query-stages.ts";
export { CSS_COLORS } from "./colors.ts";
export type {
  Action,
  Backoff,
  Config,
  Hooks,
  Injection,
  LogAlert,
  LogNotification,
  Redirect,
} from "./config.generated.ts";
export { defaultRole, servesStatic, withDefaults } from "./defaults.ts";
export { developmentLogOf, type LogFacts } from "./development-log.ts";
export { migrateConfig, migrateUses } from "./dialect.ts";
export type { Directory, DirectoryEntry } from "./directory.ts";
export { insertItem, insertMember, spaced } from "./edits.ts";
export { notUtf8 } from "./encoding.ts";
export { fixAll } from "./fix-all.ts";
export { parseGlob } from "./glob.ts";
export { type Inference, inferRuntime, MARKER_FILES, type Runtime } from "./infer.ts";
export { isLogPart, logParts, type PartOf, partOf } from "./log-parts.ts";
export { maskProblems, maskSecrets } from "./masked.ts";
export { Memory } from "./memory.ts";
export { type ProKey, proKeysIn, proProblem } from "./pro-keys.ts";
export type { Profiles } from "./profiles.ts";
export { withQueryFixes } from "./query-fixes.ts";
export { DEFAULT_REGION, isGlob, REGIONS } from "./regions.ts";
export type { ResolvedConfig } from "./resolved-config.ts";
export { isShownByPages } from "./served-files.ts";
export { withSoundFixes } from "./sound-fixes.ts";
export { DEFAULT_STAGES, forStage, hookCommands } from "./stages.ts";
export { startedFiles } from "./started-files.ts";
export { toolSchema } from "./tool-schema.generated.ts";
export { variableNameProblem, variableValueProblem, variableWarning } from "./variable-name.ts";
export { largestVariables, MAX_VARIABLES_BYTES, variablesSize, withCommas } from "./variables-size.ts";
