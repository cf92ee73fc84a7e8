/**
 * What running an app costs, in US dollars, in us-west-2: the first tier of each, as the pages below had it in December
 * 2025. Other regions differ by some percent (the gateway up to a fifth); the estimate says whose prices it uses.
 *
 * - https://aws.amazon.com/lambda/pricing/ (x86)
 * - https://aws.amazon.com/api-gateway/pricing/ (REST APIs)
 */
export const PRICES = {
  region: "us-west-2",
  asOf: "2025-12",
  perGatewayRequest: 3.5 / 1_000_000,
  perInvocation: 0.2 / 1_000_000,
  perGibSecond: 0.0000166667,
} as const;
