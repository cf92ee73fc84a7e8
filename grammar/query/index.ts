export type * from "./ast.ts";
export { target } from "./ast.ts";
export { andQueries } from "./combine.ts";
export {
  type Completion,
  type CompletionItem,
  type CompletionKind,
  type CompletionSources,
  complete,
} from "./complete.ts";
export { type Explanation, explain, explainAt } from "./explain.ts";
export { highlightQuery } from "./highlight.generated.ts";
export { type FieldType, KNOWN_FIELDS, type KnownField, type KnownValue } from "./known-fields.ts";
export { LEVEL_SPELLINGS, LEVELS, type Level, levelOf, STAGE_WORDS, severity } from "./levels.ts";
export {
  isOwnForm,
  isWholeTime,
  LEVEL_KEYS,
  type LoggerLine,
  levelText,
  MESSAGE_KEYS,
  readLoggerLine,
  TIME_KEYS,
} from "./loggers.ts";
export {
  meantField,
  type NearQuery,
  nearQueries,
  type ReadField,
  readFields,
  type SoughtText,
  soughtTexts,
} from "./near.ts";
export { MAX_DEPTH, MAX_LENGTH, parseQuery } from "./parse.ts";
export { compilePredicate, type PredicateOptions } from "./predicate.ts";
export { printField, printQuery, printValue } from "./print.ts";
export { type Reads, readsOf } from "./reads.ts";
export { type Needle, planScan, type ScanOptions, type ScanPlan, TIME_KEY } from "./scan-plan.ts";
export { QuerySession } from "./session.ts";
export { type NamedStage, stagesNamed } from "./stages.ts";
export { completedMoment, parseMoment, parseTimestamp, readTime } from "./timestamp.ts";
