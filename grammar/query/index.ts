export type * from "./ast.ts";
export { target } from "./ast.ts";
export { andQueries } from "./combine.ts";
export { LEVEL_SPELLINGS, LEVELS, type Level, levelOf, STAGE_WORDS, severity } from "./levels.ts";
export { MAX_DEPTH, MAX_LENGTH, parseQuery } from "./parse.ts";
export { compilePredicate, type PredicateOptions } from "./predicate.ts";
export { printField, printQuery, printValue } from "./print.ts";
export { type Reads, readsOf } from "./reads.ts";
export { type Needle, planScan, type ScanOptions, type ScanPlan } from "./scan-plan.ts";
