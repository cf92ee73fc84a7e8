/**
 * Options of a test that takes seconds of processor time: `npm test` skips it. `npm run test:slow`, which sets TAP_ONLY,
 * runs these tests, and no others of their files. A new object each time, as tap keeps a test's own state in its options.
 * Such a test may begin before the rest of its file is evaluated, so what it uses is declared above it.
 */
export const slow = () =>
  process.env.TAP_ONLY === "1" ? { only: true, runOnly: false } : { skip: "slow: npm run test:slow runs it" };
