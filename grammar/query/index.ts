export type * from "./ast.ts";
export { target } from "./ast.ts";
export { andQueries } from "./combine.ts";
export { commentsIn, withoutComments } from "./comments.ts";
export type { CompletionItem, CompletionKind, CompletionSources } from "./complete.ts";
export { doubtsOf, type NothingReason, reasonsFor } from "./doubts.ts";
export { explain, explainAt } from "./explain.ts";
export type { KnownField, KnownValue } from "./known-fields.ts";
export { LEVEL_SPELLINGS, LEVELS, type Level, levelOf, severity } from "./levels.ts";
export { encodeString } from "./literals.ts";
export {
  isOwnForm,
  isWholeTime,
  LEVEL_KEYS,
  levelText,
  MESSAGE_KEYS,
  readLoggerLine,
  TIME_KEYS,
} from "./loggers.ts";
export {
  isSeen,
  meantField,
  meantQueries,
  type NearQuery,
  nearQueries,
  type ReadField,
  readFields,
  type SoughtText,
  soughtTexts,
} from "./meant/near.ts";
export { conditionsOf, isPossible, otherTypesIn, type PlacedCondition } from "./other-types.ts";
export { parseQuery } from "./parse.ts";
export { type Accumulator, accumulator } from "./pipe/accumulators.ts";
export { type AlertQuery, parseAlertQuery, savedQueryIn } from "./pipe/alert-query.ts";
export { columnIndex, columnName, columnOf, outputOf, type RowColumn, resultOf } from "./pipe/columns.ts";
export { isMergeable, isStreaming, type PipesResult, PipesRun, pipesOver, readOfField } from "./pipe/evaluate.ts";
export { explainPipeAt, explainPipes } from "./pipe/explain.ts";
export { FUNCTIONS, type FunctionKind, type FunctionName, functionOf } from "./pipe/functions.ts";
export { withLeading } from "./pipe/leading.ts";
export { columnNamedAt } from "./pipe/occurrences.ts";
export { combinations } from "./pipe/operators.ts";
export { type PackedState, Packing } from "./pipe/packed.ts";
export { parsePipeline } from "./pipe/parse.ts";
export { aggregatesOf, factsOf, givesRows, groupsOf, isTimed, pipeCondition } from "./pipe/pipe-facts.ts";
export { printPipeline } from "./pipe/print.ts";
export { fieldsNamed, readsOfPipeline } from "./pipe/reads.ts";
export { type SortOrder, sortOrder } from "./pipe/sort-order.ts";
export { lastInstantBefore, periodSeconds, stepCount, stepFor, stepStart, stepsOf } from "./pipe/steps.ts";
export { addToSum, type ExactSum, mergeSums, valueOfSum } from "./pipe/sums.ts";
export { type Table, type TableNotes, TooManyGroups } from "./pipe/table.ts";
export { type Cell, canonicalValue, compareCells, jsonText, keyOf } from "./pipe/values.ts";
export { DIRECTION_WORDS, PIPE_USES, PIPE_WORDS } from "./pipe-words.ts";
export { compileOver, compilePredicate, type FieldCondition } from "./predicate.ts";
export { printField, printQuery } from "./print.ts";
export { type Reads, readsOf } from "./reads.ts";
export { type Needle, planScan, type ScanPlan, TIME_KEY } from "./scan-plan.ts";
export {
  addValues,
  type CountedValues,
  type DiscoveredValues,
  NOTHING_SEEN,
  nameInQuery,
  type SeenFields,
  seenFields,
  seenInService,
} from "./seen-fields.ts";
export { QuerySession } from "./session.ts";
export { type NamedStage, stagesNamed, stagesNamedIn } from "./stages.ts";
export { completedMoment, parseMoment, readTime } from "./timestamp.ts";
export { continuesTrace } from "./trace-lines.ts";
