/**
 * Prices in US dollars for us-west-2: the first tier of each, from the pages below in December 2025. Other regions differ by
 * a few percent (the gateway by up to a fifth); the estimate names the region whose prices it uses.
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
