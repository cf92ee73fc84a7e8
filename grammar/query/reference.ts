// The tables of the language and the query in plain words, for a page about it: with them alone its file stays small.
export { explain } from "./explain.ts";
export { KNOWN_FIELDS, WORD_DOCS } from "./known-fields.ts";
export { LEVEL_SPELLINGS, LEVELS } from "./levels.ts";
export { NUMBER_UNITS } from "./literals.ts";
export { explainPipes } from "./pipe/explain.ts";
export { FUNCTIONS } from "./pipe/functions.ts";
export { KEYWORD_DOCS, PIPE_DOCS, PIPE_USES, PIPE_WORDS } from "./pipe-words.ts";
