// An evaluator in a process of its own, which may be killed. Arguments: directory of the records, key of the project's events,
// and the clock: "slots" goes on from the first slot that is not evaluated, from slot to slot as fast as it can; a number is
// the time when the minute BEGIN_MS began, in a clock in which a second is a minute.

import { systemClock } from "../../../grammar/units/clock.ts";
import { Evaluator } from "../../../logservice/alerts/evaluator.ts";
import { openRecords } from "../../../logservice/records/open.ts";
import { clockAt } from "../clock-at.ts";
import { openOracle } from "../events/oracle.ts";
import { fill } from "./numbers.ts";
import { BEGIN_MS, LATEST_MS, MINUTE_MS } from "./world.ts";

const [directory = "", project = "", clock = ""] = process.argv.slice(2);
const SPEED = 60;

const records = await openRecords(directory);
let slotMs = 0;
const nowMs = () => (clock === "slots" ? slotMs : BEGIN_MS + (systemClock.nowMs() - Number(clock)) * SPEED);
const events = openOracle(nowMs);
await fill(events, project);
const evaluator = new Evaluator({
  ...{ records, events, clock: clockAt(nowMs), deliveriesAdded() {} },
  failed: (message, error) => process.stderr.write(`${message}: ${(error as Error).stack}\n`),
});
const { first } = await records.db
  .selectFrom("alerts")
  .select((row) => row.fn.min("next_slot").as("first"))
  .executeTakeFirstOrThrow();
slotMs = (Number(first) + 1) * MINUTE_MS + LATEST_MS;
for (;;) {
  // A line for each pass tells how far it has come.
  process.stdout.write("pass\n");
  await evaluator.pass();
  const isHolder = evaluator.metrics().alerts_evaluator === 1;
  // The lease of the one that was killed ends after half a minute.
  slotMs += isHolder ? MINUTE_MS : 31_000;
  await systemClock.sleep(clock === "slots" ? 0 : 20);
}
