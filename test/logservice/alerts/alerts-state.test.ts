// The state machine of alerts, against a plain model of what is told.
import fc from "fast-check";
import t from "tap";
import { lastInstantBefore } from "../../../grammar/query/index.ts";
import { replay } from "../../../logservice/alerts/replay.ts";
import { firstSlotFrom, jitterMs, lastDueSlot, slotStartMs, slotStopMs } from "../../../logservice/alerts/slots.ts";
import {
  breaches,
  type EvaluationState,
  type Rule,
  type Slot,
  type SlotOutcome,
  stepAlert,
  type Transition,
  WELL,
} from "../../../logservice/alerts/state.ts";
import { referenceOf } from "../../support/alerts/reference.ts";
import { holds } from "../../support/property.ts";

const RUNS = Number(process.env.ALERT_RUNS ?? 3_000);

const ruleArbitrary: fc.Arbitrary<Rule> = fc.record({
  operator: fc.constantFrom(">", ">=", "<", "<="),
  threshold: fc.integer({ min: 0, max: 3 }),
  for: fc.integer({ min: 1, max: 3 }),
  recover: fc.integer({ min: 1, max: 3 }),
  repeat: fc.constantFrom(0, 1, 5, 7, 10),
  interval: fc.constantFrom(1, 5),
  isMuted: fc.boolean(),
  isCount: fc.boolean(),
});

const GROUPS = ["", '["a"]', '["b"]'];

const outcomeArbitrary: fc.Arbitrary<SlotOutcome> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(fc.tuple(fc.constantFrom(...GROUPS), fc.integer({ min: 0, max: 5 })), { maxLength: 3 })
      .map((values) => ({ ok: true as const, value: new Map(values) })),
  },
  { weight: 1, arbitrary: fc.constant({ ok: false as const, problems: ["the query failed"] }) },
);

/** Slots, and whether the alert is muted in each. */
const historyArbitrary = fc.array(fc.tuple(outcomeArbitrary, fc.boolean()), { maxLength: 40 });

const slotOf = (number: number, outcome: SlotOutcome): Slot => ({ number, stop: stopOf(number), outcome });
const stopOf = (number: number) => new Date(slotStopMs(number, 1)).toISOString();

function ids(): () => string {
  let made = 0;
  return () => `e${made++}`;
}

const lineOf = ({ kind, key, slot, value, episode }: Transition) => `${slot} ${kind} ${key} ${value} ${episode.since}`;

t.test("what is told is what the plain model tells", (t) => {
  holds(
    t,
    fc.property(ruleArbitrary, historyArbitrary, (rule, history) => {
      let state: EvaluationState = WELL;
      const newId = ids();
      const messages: string[] = [];
      history.forEach(([outcome, isMuted], number) => {
        const next = stepAlert({ ...rule, isMuted }, state, slotOf(number, outcome), newId);
        state = next.state;
        messages.push(...next.transitions.filter(({ isTold }) => isTold).map(lineOf));
      });
      const expected = referenceOf(
        rule,
        history.map(([outcome, isMuted]) => ({ outcome, isMuted })),
        stopOf,
      );
      const open = [...state.groups].filter(([, { episode }]) => episode !== undefined).map(([key]) => key);
      return (
        JSON.stringify([messages.sort(), open.sort(), state.failing !== undefined]) ===
        JSON.stringify([expected.messages.sort(), expected.triggered.sort(), expected.isFailing])
      );
    }),
    { numRuns: RUNS },
  );
  t.end();
});

t.test("a replay ends in the same state, and tells a target no more than a trigger and a resolution", (t) => {
  holds(
    t,
    fc.property(ruleArbitrary, historyArbitrary, historyArbitrary, (rule, before, missed) => {
      const newId = ids();
      const live: Transition[] = [];
      let state: EvaluationState = WELL;
      before.forEach(([outcome], number) => {
        const next = stepAlert(rule, state, slotOf(number, outcome), newId);
        state = next.state;
        live.push(...next.transitions);
      });
      const slots = missed.map(([outcome], at) => slotOf(before.length + at, outcome));
      let alone = state;
      const otherId = ids();
      for (const slot of slots) alone = stepAlert(rule, alone, slot, otherId).state;
      const replayed = replay(rule, state, slots, newId);
      const open = ({ groups, failures, failing }: EvaluationState) =>
        JSON.stringify([
          [...groups].map(([key, { breaches, recoveries, episode }]) => [key, breaches, recoveries, episode?.since]),
          [failures, failing?.since],
        ]);
      if (open(alone) !== open(replayed.state)) return false;
      const notices = replayed.transitions.filter(({ isTold }) => isTold);
      for (const key of new Set(notices.map((one) => one.key))) {
        const kinds = notices.filter((one) => one.key === key).map(({ kind }) => kind);
        if (slots.length > 1 && kinds.filter((kind) => kind === "resolved").length > 1) return false;
        if (slots.length > 1 && kinds.filter((kind) => kind !== "resolved").length > 1) return false;
      }
      // Whoever was told of an episode is told of its end, and of no end besides.
      const opened = new Set<string>();
      for (const { kind, episode } of [...live, ...replayed.transitions].filter(({ isTold }) => isTold)) {
        if (kind !== "resolved") opened.add(episode.id);
        else if (!opened.delete(episode.id)) return false;
      }
      const lasting = [...replayed.state.groups.values(), { episode: replayed.state.failing }].flatMap(({ episode }) =>
        episode?.isTold === true ? [episode.id] : [],
      );
      return JSON.stringify([...opened].sort()) === JSON.stringify(lasting.sort());
    }),
    { numRuns: RUNS },
  );
  t.end();
});

t.test("values against thresholds", (t) => {
  const rows: [operator: string, value: number, threshold: number, isBreach: boolean][] = [
    [">", 1, 1, false],
    [">", 2, 1, true],
    [">=", 1, 1, true],
    [">=", 0, 1, false],
    ["<", 1, 1, false],
    ["<", 0, 1, true],
    ["<=", 1, 1, true],
    ["<=", 2, 1, false],
  ];
  for (const [operator, value, threshold, isBreach] of rows) {
    t.equal(breaches({ operator, threshold }, value), isBreach, `${value} ${operator} ${threshold}`);
  }
  t.end();
});

t.test("slots", (t) => {
  const time = Date.parse("2026-03-01T12:00:00Z");
  const slot = firstSlotFrom(time, 5);
  t.equal(new Date(slotStartMs(slot, 5)).toISOString(), "2026-03-01T12:00:00.000Z");
  t.equal(new Date(slotStopMs(slot, 5)).toISOString(), "2026-03-01T12:05:00.000Z");
  t.equal(firstSlotFrom(time + 1, 5), slot + 1, "of the slots that begin later");
  t.ok(lastInstantBefore(0) < 0 && lastInstantBefore(-1) < -1);
  t.ok(lastInstantBefore(time) < time && lastInstantBefore(time) > time - 0.001);
  const jitters = Array.from({ length: 3_000 }, (_, i) => jitterMs(`alert${i}`));
  t.ok(Math.max(...jitters) < 30_000 && Math.min(...jitters) >= 0);
  for (let from = 0; from < 30_000; from += 5_000) {
    const here = jitters.filter((ms) => ms >= from && ms < from + 5_000).length;
    t.ok(here > 350 && here < 650, `${here} alerts from ${from} ms on`);
  }
  const alert = { id: "alert7", interval: 5, lateness: 15 };
  const dueMs = slotStopMs(slot, 5) + 15_000 + jitterMs(alert.id);
  t.same([lastDueSlot(alert, dueMs - 1), lastDueSlot(alert, dueMs)], [slot - 1, slot]);
  const later = { ...alert, lateness: 120 };
  t.same([lastDueSlot(later, dueMs + 104_999), lastDueSlot(later, dueMs + 105_000)], [slot - 1, slot]);
  t.end();
});
