export { exchangeHalf, wholeExchange } from "./exchange.ts";
export { fieldsBesides, memberPath } from "./field-path.ts";
export type { EntrySummary, SummaryPart, Tone } from "./part.ts";
export { summaryLine, summaryOf } from "./summary.ts";
