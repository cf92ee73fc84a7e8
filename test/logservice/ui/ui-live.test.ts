// When a tab has a stream of new events: a browser has few connections, for all tabs together.
import { setImmediate as turn } from "node:timers/promises";
import t from "tap";
import { LIVE_PLACES, type Locks, takeLivePlace, whileSeen } from "../../../logservice/ui/explorer/live-place.ts";
import { TestClock } from "../../support/test-clock.ts";

/** As `navigator.locks` of a browser: a lock is held until what the callback returns is settled. */
function browserLocks(): Locks {
  const held = new Set<string>();
  return {
    async request(name, _, callback) {
      await undefined;
      if (held.has(name)) return callback(null);
      held.add(name);
      try {
        return await callback({ name });
      } finally {
        held.delete(name);
      }
    },
  };
}

t.test("so many tabs have a stream, and the next one as soon as one of them is closed", async (t) => {
  const locks = browserLocks();
  const places = [];
  for (let n = 0; n < LIVE_PLACES; n++) places.push(await takeLivePlace(locks));
  t.notOk(places.includes(undefined));
  t.equal(await takeLivePlace(locks), undefined, "one more");
  places[2]!();
  await turn();
  const next = await takeLivePlace(locks);
  t.type(next, "function");
  t.equal(await takeLivePlace(locks), undefined);
  next!();
  for (const place of places) place!();
  await turn();
  t.equal((await Promise.all([0, 1, 2, 3].map(() => takeLivePlace(locks)))).includes(undefined), false, "all again");
  const broken: Locks = { request: () => Promise.reject(new Error("no locks")) };
  await t.rejects(takeLivePlace(broken), { message: "no locks" });
});

t.test("a tab in the background gives its place up after a while", async (t) => {
  const target = new EventTarget();
  let visibilityState = "visible";
  const page = {
    get visibilityState() {
      return visibilityState;
    },
    addEventListener: (type: string, listener: () => void) => target.addEventListener(type, listener),
    removeEventListener: (type: string, listener: () => void) => target.removeEventListener(type, listener),
  };
  const show = (state: string) => {
    visibilityState = state;
    target.dispatchEvent(new Event("visibilitychange"));
  };
  const calls: string[] = [];
  const clock = new TestClock();
  const watch = () =>
    whileSeen(page, 50, { seen: () => calls.push("seen"), unseen: () => calls.push("unseen") }, clock);
  const end = watch();
  t.same(calls, ["seen"], "at first");
  show("hidden");
  show("visible");
  await clock.advance(80);
  t.same(calls, ["seen"], "who looks elsewhere for a moment loses nothing");
  show("hidden");
  await clock.advance(80);
  t.same(calls, ["seen", "unseen"]);
  show("visible");
  t.same(calls, ["seen", "unseen", "seen"]);
  show("hidden");
  end();
  await clock.advance(80);
  show("visible");
  t.same(calls, ["seen", "unseen", "seen"], "and nothing after its end");

  visibilityState = "hidden";
  calls.length = 0;
  const endHidden = watch();
  await clock.advance(80);
  t.same(calls, [], "opened in the background");
  show("visible");
  t.same(calls, ["seen"]);
  endHidden();
});
