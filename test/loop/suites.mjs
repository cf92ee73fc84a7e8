// The suites of `.ci/run`, with the files and the processor time of each as cost.json has them. The tables of README.md and
// test/README.md say the same: test/queue.test.ts holds them against this.

/** The folders of `npm test` by the words of the table; files at the top are tests of the house, as `loop` and `lint` are. */
const ROOMS = {
  logservice: "`npm test`: logservice",
  cli: "`npm test`: cli",
  ...Object.fromEntries(
    ["grammar", "schema", "language-server", "vscode-extension", "runtime"].map((room) => [
      room,
      "`npm test`: grammar, schema, language-server, vscode-extension, runtime",
    ]),
  ),
};
const HOUSE = "`npm test`: the house";
const KINDS = {
  slow: "slow rows of usual files",
  node24: "Node 24",
  package: "package for npm",
  postgres: "on PostgreSQL",
  paused: "paused",
  layer: "layer",
};
const WHOLE = { clients: "`clients/`", peers: "`peers/`" };

/** The suite that a run of a test belongs to, by its key in cost.json; undefined for what is no test, such as the lint. */
function suiteOf(key) {
  const [test, kind] = key.split(" ");
  if (!test.startsWith("test/")) return undefined;
  if (kind !== undefined) return KINDS[kind];
  const [, room, name] = test.split("/");
  if (room === "slow") return name.startsWith("ui-") ? "`slow/ui-*`" : "`slow/` without browsers";
  return WHOLE[room] ?? ROOMS[room] ?? HOUSE;
}

/** Files and seconds of processor time by suite. */
export function suitesOf(costs) {
  const suites = {};
  for (const [key, { cpuS }] of Object.entries(costs)) {
    const suite = suiteOf(key);
    if (suite === undefined) continue;
    const { files, seconds } = suites[suite] ?? { files: 0, seconds: 0 };
    suites[suite] = { files: files + 1, seconds: seconds + cpuS };
  }
  return suites;
}

/** Seconds that a command takes on two cores that do nothing else, if both are busy to its end. */
export function commandSeconds(costs) {
  const suites = Object.entries(suitesOf(costs));
  const half = (isIn) => suites.reduce((sum, [suite, { seconds }]) => sum + (isIn(suite) ? seconds : 0), 0) / 2;
  return {
    "npm test": half((suite) => suite.startsWith("`npm test`")),
    "npm run test:slow": half((suite) => suite.startsWith("`slow/") || suite === KINDS.slow),
    ".ci/run": half(() => true),
  };
}
