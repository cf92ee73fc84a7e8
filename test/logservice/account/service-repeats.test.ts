// A request of a browser that comes again: it runs once, whichever process of the service it comes to, and after a start.
import t from "tap";
import { openSession } from "../../../logservice/account/sign-in.ts";
import { RecordsAway } from "../../../logservice/records/away.ts";
import type { Records } from "../../../logservice/records/open.ts";
import { userOf } from "../../../logservice/records/people.ts";
import { answerRepeat, releaseRepeat } from "../../../logservice/records/repeats.ts";
import { Repeats } from "../../../logservice/rpc/repeats.ts";
import { type Answer, startTestService, type TestService } from "../../support/service.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const EMAIL = "olga@example.com";
const newToken = (description = "of a browser") => ({ token: { description, scopes: ["events:read"] } });

/** Starts a service and the session of a person, of which the cookie is that of each service that has the same records. */
async function start(t: Parameters<typeof startTestService>[0]) {
  const clock = new TestClock(Date.UTC(2026, 10, 30));
  const service = await startTestService(t, { clock });
  await service.person(EMAIL, "owner");
  const user = await userOf(service.records.db, EMAIL);
  const of = { device: "a test", address: "127.0.0.1", nowMs: clock.nowMs() };
  const secret = await openSession(service.records.db, user!, of);
  const send = ({ running, send }: TestService, key: string, body: unknown = newToken(), path = "/add_token") =>
    send({
      path,
      headers: {
        "content-type": "application/json",
        "idempotency-key": key,
        cookie: `tool_session_${running.port}=${secret}`,
        origin: running.url,
      },
      body: JSON.stringify(body),
    });
  /** Turns the clock until it is answered. */
  const answered = async (answer: Promise<Answer>) => {
    let isOver = false;
    const over = answer.finally(() => {
      isOver = true;
    });
    while (!isOver) await clock.advance(10);
    return over;
  };
  return { service, clock, send, answered };
}

const rowsOf = ({ records }: TestService) => records.db.selectFrom("repeats").selectAll().execute();
/** The claim of a process that was killed, or is at it. */
async function leaveClaimed(service: TestService) {
  const [row] = await rowsOf(service);
  await answerRepeat(service.records.db, row!, "");
  return row!;
}

t.test("a request that comes again, to the same process, another one, and after a start", async (t) => {
  const { service, clock, send } = await start(t);
  const first = await send(service, "key one");
  t.equal(first.status, 200, first.text);
  const { id: secret } = first.json;
  t.type(secret, "string");
  t.equal((await send(service, "key one")).text, first.text, "at once");
  const [row, ...more] = await rowsOf(service);
  t.same(more, []);
  t.notMatch(JSON.stringify(row), secret, "the records have no secret in the clear");
  t.notMatch(JSON.stringify(row), "key one", "nor the key");

  const beside = await startTestService(t, { clock, directory: service.directory });
  t.equal((await send(beside, "key one")).text, first.text, "to another process");
  await service.stop();
  await beside.stop();
  const later = await startTestService(t, { clock, directory: service.directory });
  clock.jump(59_000);
  t.equal((await send(later, "key one")).text, first.text, "after a start");
  const { tokens } = (await later.call("get_tokens")).json;
  t.equal(tokens.filter(({ description }: { description: string }) => description === "of a browser").length, 1);
  for (const other of [await send(later, "key two"), await send(later, "key one", newToken("other"))]) {
    t.equal(other.status, 200);
    t.not(other.json.id, secret, "another key, and another body, are other requests");
  }
  clock.jump(2_000);
  t.not((await send(later, "key one")).json.id, secret, "after a minute it is another request");
  clock.jump(-3_600_000);
  t.equal((await send(later, "key three")).status, 200);
  t.equal((await rowsOf(later)).length, 1, "what is over is removed, also by a clock that was set back");
});

t.test("what was refused runs again", async (t) => {
  const { service, send } = await start(t);
  const search = { search: { project_id: "shop", name: "errors", query: "level = error" } };
  t.equal((await send(service, "key one", search, "/add_search")).status, 404);
  t.same(await rowsOf(service), []);
  t.equal((await service.call("add_project", { project: { id: "shop", name: "shop" } })).status, 200);
  t.equal((await send(service, "key one", search, "/add_search")).status, 200);
});

t.test("a request that another process is at", async (t) => {
  const { service, clock, send, answered } = await start(t);
  const first = await send(service, "key one");
  const { answer } = (await rowsOf(service))[0]!;
  const claim = await leaveClaimed(service);
  const beside = await startTestService(t, { clock, directory: service.directory });

  const again = send(beside, "key one");
  const begunMs = clock.monotonicMs();
  const refused = await answered(again);
  t.equal(refused.status, 503, "it was killed");
  t.match(
    refused.text,
    "the same request is being answered, or was broken off: look whether it was made before you try again",
  );
  t.equal(refused.headers["retry-after"], "5");
  t.ok(clock.monotonicMs() - begunMs >= 5_000, "after five seconds");

  const waiting = send(beside, "key one");
  await clock.advance(1_000);
  await answerRepeat(beside.records.db, claim, answer);
  t.equal((await answered(waiting)).text, first.text, "it ends with it");

  await answerRepeat(beside.records.db, claim, "");
  const third = await startTestService(t, { clock, directory: service.directory });
  const failed = send(third, "key one");
  await clock.advance(1_000);
  await releaseRepeat(beside.records.db, claim);
  const own = await answered(failed);
  t.equal(own.status, 200, "it was refused there");
  t.not(own.json.id, first.json.id);
});

t.test("an operation that makes nothing is not kept", async (t) => {
  const { service, send } = await start(t);
  t.equal((await send(service, "key one", {}, "/get_projects")).status, 200);
  t.same(await rowsOf(service), []);
});

t.test("a request whose change may have been made runs no second time", async (t) => {
  const { service, clock } = await start(t);
  const repeats = new Repeats(service.records, clock);
  let runs = 0;
  const failing = (isInDoubt: boolean) => () => {
    runs++;
    return Promise.reject(new RecordsAway("away", { isInDoubt }));
  };
  await t.rejects(repeats.once("taken back", failing(false)), { message: "away" });
  await until("its key is free", async () => (await rowsOf(service)).length === 0);
  await t.rejects(repeats.once("in doubt", failing(true)), { message: "away" });
  const again = repeats.once("in doubt", failing(false)).catch((error: unknown) => error);
  let isOver = false;
  void again.then(() => {
    isOver = true;
  });
  await until("it is refused", async () => {
    await clock.advance(100);
    return isOver;
  });
  t.match(await again, { type: "unavailable", message: /look whether it was made/ });
  t.equal(runs, 2);
});

t.test("on a full disk a process keeps the answers itself", async (t) => {
  const db = {
    transaction: () => ({ execute: () => Promise.reject(Object.assign(new Error("full"), { code: "SQLITE_FULL" })) }),
  };
  const clock = new TestClock();
  const repeats = new Repeats({ db } as unknown as Pick<Records, "db">, clock);
  let runs = 0;
  const once = () => repeats.once("key", async () => ++runs);
  t.same([await once(), await once()], [1, 1]);
  clock.jump(61_000);
  t.equal(await once(), 2, "for a minute");
});
