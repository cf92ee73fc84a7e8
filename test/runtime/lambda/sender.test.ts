// Entries on their way from a function to the log service: when they are sent, what they wait for, what is lost.
import { gunzipSync } from "node:zlib";
import t from "tap";
import type { Entry } from "../../../grammar/entry.ts";
import { type Outcome, Sender } from "../../../runtime/lambda/sender.ts";
import { TestClock } from "../../support/test-clock.ts";

const TAKEN: Outcome = { kind: "taken", refused: 0 };
const AWAY: Outcome = { kind: "failed", reason: "logs.example.com cannot be reached: ECONNREFUSED" };

interface Sent {
  readonly key: string;
  readonly messages: readonly string[];
  readonly atMs: number;
}

interface Opened {
  readonly sender: Sender;
  readonly clock: TestClock;
  /** Each attempt, in order. */
  readonly sent: Sent[];
  readonly printed: string[];
  /** The entries about the delivery: message and count or reason. */
  readonly notes: string[];
  /** Sets the outcome of attempts from now on. */
  answers(with_: Outcome | Promise<Outcome>): void;
  write(message: string, level?: string): void;
  /** Whether the promise is settled after `ms` milliseconds. */
  settles(promise: Promise<void>, ms: number): Promise<boolean>;
  /** Messages of the attempts so far, a list for each. */
  batches(): (readonly string[])[];
}

function open({ printsAll = true } = {}): Opened {
  const clock = new TestClock();
  const beganMs = clock.nowMs();
  const sent: Sent[] = [];
  const printed: string[] = [];
  const notes: string[] = [];
  let answer: Outcome | Promise<Outcome> = TAKEN;
  const messageOf = (line: string) => (JSON.parse(line) as Entry).message;
  const write = (message: string, level = "info") => {
    const entry = { timestamp: new Date(clock.nowMs()).toISOString(), level, message, fields: {} };
    sender.write([entry], [JSON.stringify(entry)]);
  };
  const sender = new Sender({
    instance: "0123456789abcdef",
    clock,
    async post({ body, idempotencyKey }) {
      const messages = gunzipSync(body).toString().split("\n").map(messageOf);
      sent.push({ key: idempotencyKey, messages, atMs: clock.nowMs() - beganMs });
      return answer;
    },
    note: (level, message, { entries, reason }) => {
      notes.push(`${level}: ${message}: ${entries ?? reason}`);
      write(message, level);
    },
    print: printsAll ? undefined : (text) => printed.push(...text.trimEnd().split("\n").map(messageOf)),
  });
  return {
    sender,
    clock,
    sent,
    printed,
    notes,
    answers: (outcome) => {
      answer = outcome;
    },
    write,
    async settles(promise, ms) {
      let isSettled = false;
      void promise.then(() => {
        isSettled = true;
      });
      await clock.advance(ms);
      return isSettled;
    },
    batches: () => sent.map(({ messages }) => messages),
  };
}

t.test("entries of a quiet app are sent after its answer", async (t) => {
  const { sender, write, batches } = open();
  write("first");
  await sender.answered(undefined);
  write("second");
  await sender.answered(200);
  await sender.answered(200);
  t.same(batches(), [["first"], ["second"]]);
});

t.test("while pauses are short, entries wait for others, a second at most", async (t) => {
  const { sender, clock, write, batches } = open();
  for (let i = 0; i < 10; i++) {
    write(`${i}`);
    await sender.answered(199);
    await clock.advance(99);
  }
  write("10");
  await sender.answered(199);
  t.same(batches(), [], "a second is not over");
  await clock.advance(10);
  t.same(batches(), [["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]]);
});

t.test("an error does not wait, nor what comes before it", async (t) => {
  for (const level of ["error", "CRITICAL", "fatal"]) {
    const { sender, write, batches } = open();
    write("before");
    await sender.answered(10);
    t.same(batches(), [], level);
    write("failed", level);
    await sender.answered(10);
    t.same(batches(), [["before", "failed"]], level);
  }
});

t.test("a long request's entries do not wait for its end", async (t) => {
  const { clock, write, batches } = open();
  write("begun");
  await clock.advance(999);
  t.same(batches(), []);
  await clock.advance(1);
  t.same(batches(), [["begun"]]);
});

t.test("however much a long request writes, it is sent meanwhile", async (t) => {
  const rows: readonly (readonly [title: string, tenths: number, linesAtOnce: number, text: string])[] = [
    ["more lines in a second than a batch has", 30, 150, ""],
    ["more bytes in a second than a batch has", 100, 10, "x".repeat(2_000)],
    ["as many lines as a batch has, at once", 1, 1_000, ""],
  ];
  for (const [title, tenths, linesAtOnce, text] of rows) {
    const { clock, write, batches, notes } = open();
    let written = 0;
    for (let tenth = 0; tenth < tenths; tenth++) {
      for (let i = 0; i < linesAtOnce; i++) write(`${++written} ${text}`);
      await clock.advance(100);
    }
    const sent = batches().flat().length;
    t.ok(sent >= written - 10 * linesAtOnce, `${title}: all but those of a second, ${sent} of ${written}`);
    await clock.advance(1_000);
    t.equal(batches().flat().length, written, title);
    t.same(notes, [], `${title}: nothing is dropped`);
  }
});

t.test("a service that is back is noticed during a long request", async (t) => {
  const { clock, write, answers, batches } = open();
  answers(AWAY);
  write("a");
  await clock.advance(2_000);
  write("b");
  t.same(batches(), [["a"], ["a"]]);
  answers(TAKEN);
  await clock.advance(2_000);
  t.same(batches().slice(2), [["a"], ["log service does not take entries", "b"]], "though nothing is written any more");
});

t.test("an attempt that two wait for doubles the pause once", async (t) => {
  const { sender, clock, write, answers, settles } = open();
  answers(new Promise(() => {}));
  write("begun");
  // In the background, as the request is a long one.
  await clock.advance(1_100);
  write("failed", "error");
  t.ok(await settles(sender.answered(undefined), 250));
  await clock.advance(900);
  t.notOk(await settles(sender.answered(undefined), 0), "a second after the first of them gave up");
});

t.test("making a batch and handing it over is a part of the 250 ms", async (t) => {
  for (const [ms, isOver] of [
    [20, false],
    [300, true],
  ] as const) {
    const clock = new TestClock();
    const sender = new Sender({
      instance: "0123456789abcdef",
      clock,
      post: () => {
        void clock.stop(ms);
        return new Promise(() => {});
      },
      note: () => {},
    });
    const entry = { timestamp: "", level: "info", message: "a", fields: {} };
    sender.write([entry], [JSON.stringify(entry)]);
    let isSettled = false;
    void sender.answered(undefined).then(() => {
      isSettled = true;
    });
    await clock.advance(Math.max(0, 249 - ms));
    t.equal(isSettled, isOver, `${ms} ms`);
    await clock.advance(1);
    t.ok(isSettled, `${ms} ms`);
  }
});

t.test("a service that does not answer keeps an app 250 ms, once in each pause", async (t) => {
  const { sender, clock, sent, write, answers, settles } = open();
  let land!: (outcome: Outcome) => void;
  answers(new Promise((resolve) => (land = resolve)));
  write("a");
  const first = sender.answered(undefined);
  t.notOk(await settles(first, 249));
  t.ok(await settles(first, 1));
  write("b");
  t.ok(await settles(sender.answered(undefined), 0), "the next answer is not held up");
  await clock.advance(1_000);
  const second = sender.answered(undefined);
  t.notOk(await settles(second, 249));
  t.ok(await settles(second, 1), "the same attempt gets its time once more");
  await clock.advance(1_999);
  t.ok(await settles(sender.answered(undefined), 0), "the pause has doubled");
  t.equal(sent.length, 1);
  answers(TAKEN);
  land(TAKEN);
  await clock.advance(0);
  await sender.answered(undefined);
  t.same(
    sent.map(({ messages }) => messages),
    [["a"], ["b"]],
    "an answer that came late ends the pause",
  );
});

t.test("the pause doubles up to a minute, and a batch has one key", async (t) => {
  const { sender, clock, sent, notes, write, answers, batches } = open();
  answers(AWAY);
  write("a");
  for (let second = 0; second < 200; second++) {
    await sender.answered(undefined);
    await clock.advance(1_000);
  }
  t.same(
    sent.map(({ atMs }) => atMs / 1000),
    [0, 1, 3, 7, 15, 31, 63, 123, 183],
  );
  t.equal(new Set(sent.filter(({ messages }) => messages[0] === "a").map(({ key }) => key)).size, 1);
  t.same(notes, [`warn: log service does not take entries: ${(AWAY as { reason: string }).reason}`], "once");
  answers(TAKEN);
  await clock.advance(60_000);
  await sender.answered(undefined);
  t.same(batches().slice(-2), [["a"], ["log service does not take entries"]]);
});

t.test("the pause that a service asks for counts, up to a minute", async (t) => {
  for (const [retryAfterMs, waitS] of [
    [20_000, 20],
    [3_600_000, 60],
  ] as const) {
    const { sender, clock, sent, write, answers } = open();
    answers({ kind: "failed", reason: "429", retryAfterMs });
    write("a");
    await sender.answered(undefined);
    answers(TAKEN);
    while (sent.length < 2) {
      await clock.advance(1_000);
      await sender.answered(undefined);
    }
    t.equal(sent[1]!.atMs / 1000, waitS);
  }
});

t.test("a clock that is set back does not prolong the pause", async (t) => {
  const { sender, clock, sent, write, answers } = open();
  answers(AWAY);
  write("a");
  await sender.answered(undefined);
  clock.jump(-3_600_000);
  await sender.answered(undefined);
  t.equal(sent.length, 2);
});

t.test("1 MB is kept: whole batches are dropped, the oldest first, and counted when the service is back", async (t) => {
  const { sender, clock, notes, write, answers, batches } = open();
  answers(AWAY);
  const text = "x".repeat(10_000);
  for (let i = 0; i < 300; i++) {
    write(`${i} ${text}`);
    if (i % 10 === 0) await sender.answered(undefined);
    await clock.advance(100);
  }
  const before = batches().length;
  answers(TAKEN);
  await clock.advance(60_000);
  await sender.answered(undefined);
  const delivered = batches().slice(before).flat();
  const numbers = delivered.map((message) => Number.parseInt(message, 10)).filter((number) => !Number.isNaN(number));
  t.same(
    numbers.slice(-50),
    Array.from({ length: 50 }, (_, i) => 250 + i),
    "the newest are there",
  );
  t.ok(numbers.length > 90 && numbers.length < 115, `${numbers.length} of 300, about 1 MB`);
  // Entries about the delivery are dropped like others.
  const dropped = Number(/entries did not reach the log service: (\d+)/.exec(notes.join("\n"))?.[1]);
  t.ok(
    dropped >= 300 - numbers.length && dropped <= 301 - numbers.length,
    `${dropped} dropped of ${300 - numbers.length}`,
  );
  t.equal(delivered.at(-1), "entries did not reach the log service", "with what is sent next");
});

t.test("a refused batch is not sent again, and one entry a minute says so", async (t) => {
  const { sender, clock, notes, write, answers, batches, printed } = open({ printsAll: false });
  answers({ kind: "refused", reason: "413 at most 10 lines" });
  for (const message of ["a", "b"]) {
    write(message);
    await sender.answered(undefined);
    await sender.answered(undefined);
  }
  t.same(notes, ["error: log service refused entries: 1"], "nor again for the entry that says so");
  t.same(batches(), [["a"], ["log service refused entries"], ["b"]]);
  t.same(printed, batches().flat());
  await clock.advance(60_000);
  // More than were sent: a service may answer anything.
  answers({ kind: "taken", refused: 400_001, reason: "line 1: too large" });
  write("c");
  write("d");
  await sender.answered(undefined);
  t.same(notes.slice(1), ["error: log service refused entries: 4"], "with those that were not told");
});

t.test("without CloudWatch, what could not be delivered is printed, once", async (t) => {
  const { sender, clock, write, answers, printed, batches } = open({ printsAll: false });
  write("delivered");
  await sender.answered(undefined);
  t.same(printed, []);
  answers(AWAY);
  write("a");
  await sender.answered(undefined);
  write("b");
  await sender.answered(undefined);
  sender.close();
  t.same(printed, ["a", "log service does not take entries", "b"]);
  answers(TAKEN);
  await clock.advance(60_000);
  await sender.finish(400);
  sender.close();
  t.equal(printed.length, 3);
  t.same(batches().slice(2), [["a"], ["log service does not take entries", "b"]], "it is delivered later all the same");
});

t.test("without CloudWatch, what is written while the service is away is printed at once", async (t) => {
  const { sender, clock, write, answers, printed, batches } = open({ printsAll: false });
  answers(AWAY);
  write("a");
  await sender.answered(undefined);
  // Whoever is killed from here on has printed all of it.
  write("b");
  t.same(printed, ["a", "log service does not take entries", "b"]);
  await clock.advance(999);
  write("c");
  t.equal(printed.at(-1), "c");
  answers(TAKEN);
  await clock.advance(1);
  await sender.answered(undefined);
  write("d");
  sender.close();
  t.same(printed, ["a", "log service does not take entries", "b", "c", "d"], "each once");
  t.same(batches(), [["a"], ["a"], ["log service does not take entries", "b", "c"]], "in as few batches as otherwise");
});

t.test(
  "at the end all that waits is sent, in the time that there is, whatever became of the last attempts",
  async (t) => {
    const { sender, sent, write, answers, settles, printed } = open({ printsAll: false });
    answers(AWAY);
    write("a");
    await sender.answered(undefined);
    answers(TAKEN);
    await sender.finish(400);
    t.equal(sent.length, 3, "a, and that it was not taken");
    answers(new Promise(() => {}));
    write("b");
    const last = sender.finish(400);
    t.notOk(await settles(last, 399));
    t.ok(await settles(last, 1));
    sender.close();
    t.same(printed, ["a", "log service does not take entries", "b"]);
  },
);
