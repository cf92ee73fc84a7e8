// The process of one rival: see rivals.ts.
import { Bodies, eventsOf } from "./bodies.ts";
import { openPlainTable } from "./plain-table.ts";
import type { RivalAnswer, RivalRequest, RivalStore } from "./rivals.ts";
import { openSqlite } from "./sqlite.ts";

let store: RivalStore | undefined;

process.on("message", (request: RivalRequest) => {
  answer(request).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ kind: "failed", error: String(error) } satisfies RivalAnswer),
  );
});
process.on("disconnect", () => {
  store?.close();
  process.exit(0);
});

async function answer(request: RivalRequest): Promise<RivalAnswer> {
  switch (request.kind) {
    case "open":
      store = await (request.name === "table" ? openPlainTable : openSqlite)(request.path);
      return { kind: "opened" };
    case "load":
      return { kind: "loaded", ms: await load(request.batches) };
    case "ask": {
      const began = performance.now();
      const rows = await store!.all(request.sql);
      return { kind: "asked", ms: performance.now() - began, rows };
    }
  }
}

async function load(batches: number): Promise<number> {
  const bodies = new Bodies();
  let ms = 0;
  for (let number = 0; number < batches; number++) {
    const events = eventsOf(bodies.body(number));
    const began = performance.now();
    await store!.append(events);
    ms += performance.now() - began;
  }
  const began = performance.now();
  await store!.settle();
  return ms + performance.now() - began;
}
