const FACTOR = Number(process.env.FUZZ_FACTOR ?? 1);

/** How many texts a property is held to: FUZZ_FACTOR times as many as given here. `npm run fuzz:rows` has 20 times as many. */
export const runsOf = (runs: number): number => Math.ceil(runs * FACTOR);
