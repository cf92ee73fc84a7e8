export { type ExchangeHalf, exchangeHalf, wholeExchange } from "./exchange.ts";
export { fieldsBesides, memberPath } from "./field-path.ts";
export type { Summary, SummaryPart, Tone } from "./part.ts";
export { summaryOf, summaryText } from "./summary.ts";
