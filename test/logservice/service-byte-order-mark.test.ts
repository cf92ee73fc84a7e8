// U+FEFF at the beginning of a text is a character like any other, wherever the text is kept and however it is asked for.
import { connect } from "node:net";
import t from "tap";
import { startTestService } from "../support/service.ts";
import { slow } from "../support/slow.ts";
import { until } from "../support/until.ts";

const MARK = "\ufeff";

t.test("a text that begins with U+FEFF is kept as it is", slow(), async (t) => {
  let service = await startTestService(t, { engine: "duckdb" });
  await service.call("add_project", { project: { id: "app", name: "app" } });
  const range = { project_id: "app", start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
  const events = ["one", "two", ""].map((text, i) => ({
    id: `${MARK}${text}`,
    timestamp: `2026-01-01T00:00:0${i}.000Z`,
    level: "info",
    message: `${MARK}${text}${MARK}`,
    fields: { name: `${MARK}${text}`, list: [`${MARK}x`], [`${MARK}key`]: `${MARK}${MARK}` },
  }));
  const socket = connect(service.running.port, "127.0.0.1").setEncoding("utf8");
  t.teardown(() => socket.destroy());
  let tailed = "";
  socket.on("data", (chunk) => {
    tailed += chunk;
  });
  socket.write(`GET /tail?project_id=app HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.owner}\r\n\r\n`);
  await until("the head", () => tailed.includes("\r\n\r\n"));
  await service.call("add_events", { project_id: "app", events });
  const data = () => [...tailed.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!));
  await until("the events", () => data().length === events.length);
  t.strictSame(data(), events, "the tail");
  socket.destroy();

  const look = async (when: string) => {
    const answer = await service.call("search", { ...range, order: "ascending" });
    t.strictSame(answer.json.events, events, `search, ${when}`);
    const one = await service.call("search", { ...range, query: `message = "${MARK}two${MARK}"` });
    t.strictSame(one.json.events, [events[1]], `a query, ${when}`);
    const stats = await service.call("get_string_field_stats", { ...range, field: "name" });
    t.strictSame(
      stats.json.values.map(({ value }: { value: string }) => value).sort(),
      events.map(({ fields: { name } }) => name).sort(),
      `field statistics, ${when}`,
    );
    const filtered = await service.call("get_string_field_stats", { ...range, query: "exists name", field: "name" });
    t.strictSame(filtered.json.values, stats.json.values, `counted by the engine, ${when}`);
    const fields = await service.call("get_discovered_fields", { ...range, query: "exists name" });
    t.strictSame(
      fields.json.fields.map(({ name }: { name: string }) => name),
      ['fields["\\ufeffkey"]', "list", "name"],
      `fields, ${when}`,
    );
    const sql = await service.call("query", {
      project_id: "app",
      query: `select id, message, fields, [message] as list, {m: message} as struct, '${MARK}x' as "${MARK}n" from events order by timestamp`,
    });
    t.strictSame(
      sql.json.results,
      events.map(({ id, message, fields }) => {
        return { id, message, fields, list: [message], struct: { m: message }, [`${MARK}n`]: `${MARK}x` };
      }),
      `SQL, ${when}`,
    );
    const page = await service.call("search", { ...range, order: "ascending", limit: 1 });
    const next = await service.call("search", { ...range, order: "ascending", cursor: page.json.cursor });
    t.strictSame(next.json.events, events.slice(1), `the next page, ${when}`);
    const again = await service.call("add_events", { project_id: "app", events });
    t.equal(again.status, 204);
    t.equal((await service.call("get_count", range)).json.count, events.length, `ids are known, ${when}`);
  };
  const restart = async () => {
    await service.stop();
    service = await startTestService(t, { engine: "duckdb", directory: service.directory });
  };
  await look("in memory");
  await (service.events as unknown as { flush(): Promise<void> }).flush();
  await look("in a segment");
  await restart();
  await look("after a start");
});
