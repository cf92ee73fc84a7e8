// The answers of the pipeline, over loopback and in front of a real app. The rows are in vectors/http*.json.
import t from "tap";
import type { Entry } from "../../grammar/entry.ts";
import { checkLogs, checkResponse, httpSuites, type Row, sendRow, titleOf } from "../support/http-rows.ts";
import { type RawResponse, start } from "../support/runtime.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";

// Each suite has a proxy and an app of its own.
t.jobs = 3;

for (const { name, rows, ...project } of httpSuites()) {
  t.test(name, async (t) => {
    const clock = new TestClock();
    const server = await start(t, { ...project, clock });
    if (project.app !== undefined) await turnUntil(clock, "the app listens", server.entry(listens));
    for (const row of rows) {
      await t.test(titleOf(row), async (t) => {
        const before = server.entries.length;
        checkResponse(t, row, await sendOn(clock, server.port, row));
        if (row.logs === undefined) return;
        await server.entry((entry) => endsRequest(entry) && server.entries.indexOf(entry) >= before);
        checkLogs(t, row, server.entries.slice(before));
      });
    }
  });
}

/** The answer to a row by the clock that nothing else turns: `elapsed` passes once the request's deadline has begun. */
async function sendOn(clock: TestClock, port: number, row: Row): Promise<RawResponse> {
  if (row.elapsed === undefined) return sendRow(port, row);
  // Nothing that waits is left of the request before.
  await clock.advance(SETTLED_MS);
  const before = clock.timers.length;
  const answer = sendRow(port, row);
  await until("the request to wait for the app", () => clock.timers.length > before);
  await clock.advance(row.elapsed);
  return answer;
}

/** More than the proxy takes to see that no deadline is left. */
const SETTLED_MS = 1_000;

async function turnUntil(clock: TestClock, what: string, promise: Promise<unknown>): Promise<void> {
  let isSettled = false;
  void promise.finally(() => {
    isSettled = true;
  });
  await until(what, async () => {
    await clock.advance(10);
    return isSettled;
  });
}

const listens = ({ message }: Entry) => message === "app listening";

/** A message that could not be read as a request makes one entry alone. */
const endsRequest = (entry: Entry) => ["response", "malformed request"].includes(entry.message);
