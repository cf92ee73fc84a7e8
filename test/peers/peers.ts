// The stand-in beside public emulators, by the same calls of the SDK's clients. Ours must answer what the documentation
// says; where an emulator does not, the difference is in differences.json, no more and no less.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { startAws } from "../support/aws/index.ts";
import { root } from "../support/cli.ts";
import { requires } from "../support/require.ts";
import { installPeers, type Peer, startPeer } from "./servers.ts";
import { clientsOf, observe, STEPS } from "./smoke.ts";

const path = join(root, "test/peers/differences.json");

type Differences = Record<Peer, Record<string, string>>;

// Ministack ends a change on a thread of its own, at times before it has written the answer to the call that began it.
const RACES: Record<Peer, string[]> = {
  ministack: ["a change is in progress at first (Lambda function states)"],
  moto: [],
};

t.test("the stand-in answers as the documentation says", async (t) => {
  // Slow enough that a change is seen while it is in progress.
  const { endpoint } = await startAws(t, { clock: { speed: 5 } });
  const clients = clientsOf(endpoint);
  for (const step of STEPS) t.equal(await observe(step, clients), step.documented, `${step.name} (${step.page})`);
});

const missing = requires("python3") || installPeers();

t.test("emulators differ in what is written down", { skip: missing || false }, async (t) => {
  const expected: Differences = JSON.parse(readFileSync(path, "utf8"));
  const differences: Differences = { ministack: {}, moto: {} };
  for (const peer of ["ministack", "moto"] as const) {
    const clients = clientsOf(await startPeer(t, peer));
    for (const step of STEPS) {
      const observed = await observe(step, clients);
      if (observed !== step.documented)
        differences[peer][`${step.name} (${step.page})`] = `${observed}, documented: ${step.documented}`;
    }
    const count = Object.keys(differences[peer]).length;
    process.stdout.write(`measured: ${peer} answers ${STEPS.length - count} of ${STEPS.length} calls as documented\n`);
  }
  for (const [peer, rows] of Object.entries(RACES)) for (const row of rows) delete differences[peer as Peer][row];
  if (process.env.RECORD) writeFileSync(path, `${JSON.stringify(differences, undefined, 2)}\n`);
  else t.same(differences, expected);
});
