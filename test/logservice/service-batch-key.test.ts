// The header Idempotency-Key: a batch that is sent again counts once, another one under the same key is refused.
import t from "tap";
import { openEventsStore } from "../../logservice/events/open.ts";
import { startTestService } from "../support/service.ts";

t.test("the same batch counts once, another one is a conflict, also after a flush and a start", async (t) => {
  const service = await startTestService(t, { engine: "duckdb" });
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const send = async (message: string, key: string) => {
    const headers = {
      authorization: `Bearer ${service.owner}`,
      "content-type": "application/json",
      "idempotency-key": key,
    };
    const body = JSON.stringify({ project_id: "app", events: [{ level: "info", message }] });
    const { status, json } = await service.send({ path: "/add_events", headers, body });
    return status === 204 ? status : `${status} ${json.type} ${json.message}`;
  };
  const conflict = '409 conflict Idempotency-Key: "k" was sent with another body: give each batch its own key';
  t.same(await Promise.all([send("first", "k"), send("first", "k")]), [204, 204]);
  t.equal(await send("second", "k"), conflict);
  t.equal(await send("second", "l"), 204);
  await (service.events as unknown as { flush(): Promise<void> }).flush();
  t.equal(await send("first", "k"), 204);
  t.equal(await send("second", "k"), conflict, "from the file of keys");
  const range = { project_id: "app", start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
  t.equal((await service.call("get_count", range)).json.count, 2);
  t.same(service.logged, []);
});

t.test("keys are known after a start, from the journal and from the file of keys", async (t) => {
  const directory = t.testdir();
  const batch = [{ timestamp: "2024-05-01T10:00:00Z", level: "info", message: "one", fields: {} }];
  for (const step of ["first", "from the journal", "from the file of keys"]) {
    const store = await openEventsStore({ directory, reserveBytes: 0 });
    await store.append("app", batch, { idempotencyKey: "k", digest: "a" });
    t.equal((await store.projectStats("app")).eventsTotal, 1, step);
    if (step !== "first") {
      const again = store.append("app", batch, { idempotencyKey: "k", digest: "b" });
      await t.rejects(again, { message: /was sent with another body/ });
    }
    if (step === "from the journal") await store.flush();
    await store.close();
  }
});
