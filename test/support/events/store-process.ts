// An events store in a process of its own, which may be killed: appends batches as long as it lives and prints the number of
// each one that was acknowledged. Arguments: directory, the first number, events in a batch, events in a journal file.
import { openEventsStore } from "../../../logservice/events/open.ts";

const [directory = "", first = "0", size = "20", flushEvents = "500"] = process.argv.slice(2);
const store = await openEventsStore({
  directory,
  reserveBytes: 0,
  flushEvents: Number(flushEvents),
  maxWaitingEvents: 1e9,
});
process.stdout.write("open\n");

let next = Number(first);
async function client(): Promise<never> {
  for (;;) {
    const number = next++;
    const batch = Array.from({ length: Number(size) }, (_, i) => ({
      timestamp: new Date(1714557600000 + number * 10 + i).toISOString(),
      level: "info",
      message: "x".repeat((number * 37) % 400),
      fields: { number, i, size: Number(size) },
    }));
    // Every third has a key, as a client that retries sends it.
    await store.append("app", batch, number % 3 === 0 ? { idempotencyKey: `batch ${number}` } : {});
    process.stdout.write(`${number}\n`);
  }
}
await Promise.all([client(), client(), client(), client()]);
