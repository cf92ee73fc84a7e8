// The alerts and notifications pages of the web UI, as far as they are functions from values to values.
import fc from "fast-check";
import t from "tap";
import {
  type AlertDraft,
  alertOf,
  BOUNDS,
  draftIn,
  draftOfAlert,
  NEW_ALERT,
  ON_DISK,
  OPERATORS,
  problemIn,
  SEVERITIES,
  searchOfDraft,
} from "../../../logservice/ui/alerts/draft.ts";
import {
  countsFrom,
  endOf,
  isOfLate,
  isUndelivered,
  sinceOf,
  statesOf,
  windowOf,
} from "../../../logservice/ui/alerts/history.ts";
import { type Preview, previewWords, spansOf, stripBars } from "../../../logservice/ui/alerts/preview-data.ts";
import {
  conditionWords,
  draftSummary,
  EVENTS,
  FREE_DISK,
  paceWords,
  unbroken,
  valueWords,
} from "../../../logservice/ui/alerts/words.ts";
import { changedMembers } from "../../../logservice/ui/data/changes.ts";
import { alertAnswer } from "../../../logservice/ui/language/alert-answer.ts";
import {
  draftRecipients,
  maskOf,
  membersOf,
  NEW_NOTIFICATION,
  notificationProblem,
} from "../../../logservice/ui/notifications/draft.ts";
import { missingFor, unconfirmedText } from "../../../logservice/ui/notifications/kinds.ts";
import type { Alert, AlertEpisode, Notification } from "../../../schema/rpc.generated.ts";

const P99 = { what: "p99(duration)", unit: "ms" };

const CONDITIONS: readonly (readonly [string, Parameters<typeof conditionWords>])[] = [
  ["more than 10 events in 5 min", [{ operator: ">", threshold: 10, interval: 5 }, EVENTS]],
  ["at least 1 event in 1 h", [{ operator: ">=", threshold: 1, interval: 60 }, EVENTS]],
  ["fewer than 3 events in 1 h 30 min", [{ operator: "<", threshold: 3, interval: 90, for: 1 }, EVENTS]],
  ["at most 0 events in 1 day, 3 times in a row", [{ operator: "<=", threshold: 0, interval: 1440, for: 3 }, EVENTS]],
  ["free disk less than 10 %", [{ operator: "<", threshold: 10, interval: 1 }, FREE_DISK]],
  ["free disk at most 5 %, 3 times in a row", [{ operator: "<=", threshold: 5, interval: 1, for: 3 }, FREE_DISK]],
  ["p99(duration) less than 350 ms in 5 min", [{ operator: "<", threshold: 350, interval: 5 }, P99]],
];

t.test("only what was changed is sent, so that what others have saved stays", async (t) => {
  const read = { ...NEW_ALERT, name: "orig", query: "error", notification: "n" };
  const rows: readonly (readonly [Partial<typeof read>, object])[] = [
    [{}, {}],
    [{ threshold: "77" }, { threshold: 77 }],
    [{ threshold: " 10 ", name: "orig " }, {}],
    [
      { description: "x", muted: true },
      { description: "x", muted: true },
    ],
    [{ notification: "m" }, { notification_id: "m" }],
  ];
  for (const [typed, sent] of rows)
    t.same(changedMembers(alertOf(read, "shop"), alertOf({ ...read, ...typed }, "shop")), sent, JSON.stringify(typed));
  t.same(changedMembers({ a: ["x"], b: 1 }, { a: ["x"], b: 1 }), {}, "lists");
  t.same(changedMembers({ a: ["x"] }, { a: ["x", "y"] }), { a: ["x", "y"] }, "longer lists");
  t.same(changedMembers<object>({}, { a: "" }), { a: "" }, "what was absent");
});

t.test("the condition in words", (t) => {
  for (const [wanted, args] of CONDITIONS) t.equal(conditionWords(...args), wanted, wanted);
  const words = "at least 1 event in 1 h 30 min, 3 times in a row";
  t.equal(
    unbroken(words),
    "at least 1\u00a0event in 1\u00a0h 30\u00a0min, 3 times in a row",
    "units keep their numbers",
  );
  t.end();
});

const SUMMARIES: readonly (readonly [Partial<AlertDraft>, string | undefined])[] = [
  [
    {},
    "Triggers on more than 10 events in 5 min. Resolves after the first interval that does not meet the condition. Notifies once when it triggers and once when it resolves.",
  ],
  [
    { operator: "<", threshold: "1" },
    "Triggers when no event matches for 5 min. Resolves after the first interval that does not meet the condition. Notifies once when it triggers and once when it resolves.",
  ],
  [
    { operator: "<=", threshold: "0", for: "2", recover: "3", interval: "1" },
    "Triggers when no event matches for 1 min, 2 times in a row. Resolves after 3 intervals in a row that do not meet the condition (3 min). Notifies once when it triggers and once when it resolves.",
  ],
  [
    { repeat: "60" },
    "Triggers on more than 10 events in 5 min. Resolves after the first interval that does not meet the condition. Notifies when it triggers, every 1 h until it resolves, and when it resolves.",
  ],
  [
    { muted: true },
    "Triggers on more than 10 events in 5 min. Resolves after the first interval that does not meet the condition. Nobody is notified while it is muted.",
  ],
  [{ threshold: "" }, undefined],
  [{ interval: "0" }, undefined],
];

t.test("what a draft does, in sentences", (t) => {
  for (const [part, wanted] of SUMMARIES)
    t.equal(draftSummary({ ...NEW_ALERT, ...part }, EVENTS, false), wanted, JSON.stringify(part));
  t.match(draftSummary({ ...NEW_ALERT, operator: "<", threshold: "0" }, EVENTS, false), /^Never triggers/);
  t.match(draftSummary({ ...NEW_ALERT, operator: ">=", threshold: "0" }, EVENTS, false), /^Always triggered/);
  t.match(draftSummary({ ...NEW_ALERT, operator: "<", threshold: "0" }, P99, false), /^Triggers on p99/);
  t.match(
    draftSummary(NEW_ALERT, P99, true),
    /^Triggers on p99\(duration\) more than 10 ms in 5 min, for each group separately\./,
  );
  t.end();
});

t.test("an alert that is evaluated seldom, in words", (t) => {
  const rows: [interval: number | undefined, every: number | undefined, expected: string | undefined][] = [
    [1, 1, undefined],
    // An older service does not say it.
    [1, undefined, undefined],
    [undefined, 5, undefined],
    [1, 2, "Evaluated every 2 min instead of every 1 min, because its query takes too long: narrow it."],
    [90, 1440, "Evaluated every 1 day instead of every 1 h 30 min, because its query takes too long: narrow it."],
  ];
  for (const [interval, evaluated_every, expected] of rows) {
    const of = {
      ...(interval !== undefined && { interval }),
      ...(evaluated_every !== undefined && { evaluated_every }),
    };
    t.equal(paceWords(of), expected, `${evaluated_every} for ${interval}`);
  }
  t.end();
});

t.test("values in words", (t) => {
  t.equal(valueWords(1, EVENTS), "1 event");
  t.equal(valueWords(1200, EVENTS), "1,200 events");
  t.equal(valueWords(362.25, P99), "362.25 ms");
  t.equal(valueWords(3, { what: "distinct(user)", unit: "" }), "3");
  t.end();
});

const ADDRESSES: readonly (readonly [string, Partial<AlertDraft>])[] = [
  ["", {}],
  ["?query=status+%3E%3D+500", { query: "status >= 500" }],
  [
    "?query=%7C+count+by+path&threshold=0&operator=%3C%3D",
    { query: "| count by path", threshold: "0", operator: "<=" },
  ],
  ["?severity=loud&operator=%3D%3D&interval=0&for=61&limit=x&threshold=-1", {}],
  ["?muted=yes", {}],
  ["?kind=disk", ON_DISK],
  ["?kind=disk&operator=%3E&threshold=100&repeat=60", { ...ON_DISK, repeat: "60" }],
  ["?kind=disk&operator=%3C%3D&threshold=5", { ...ON_DISK, operator: "<=", threshold: "5" }],
  ["?kind=memory", {}],
  ["?muted=1&repeat=10080", { muted: true, repeat: "10080" }],
  ["?columns=path&last=7d&event=evt_1", {}],
];

t.test("the draft that an address begins", (t) => {
  for (const [search, wanted] of ADDRESSES) t.same(draftIn(search), { ...NEW_ALERT, ...wanted }, search);
  t.equal(searchOfDraft(NEW_ALERT), "", "a new alert has a bare address");
  t.end();
});

const texts = fc.record({ name: fc.string(), description: fc.string(), query: fc.string(), notification: fc.string() });
const numbers = fc.record(
  Object.fromEntries(
    Object.entries(BOUNDS).map(([name, { least, most }]) => [
      name,
      fc.integer({ min: least, max: Math.min(most, 1e14) }).map(String),
    ]),
  ),
);
const drafts = fc
  .tuple(texts, numbers, fc.constantFrom(...SEVERITIES), fc.constantFrom(...OPERATORS), fc.boolean())
  .map(([some, counts, severity, operator, muted]) => ({
    ...NEW_ALERT,
    ...some,
    ...counts,
    severity,
    operator,
    muted,
  }));

t.test("an address keeps a draft, and an alert does", (t) => {
  fc.assert(fc.property(drafts, (draft) => t.same(draftIn(searchOfDraft(draft)), draft)));
  fc.assert(
    fc.property(drafts, (draft) => {
      const clean = { name: draft.name.trim(), query: draft.query.trim(), description: draft.description.trim() };
      t.same(draftOfAlert({ ...alertOf(draft, "shop") } as Alert), { ...draft, ...clean });
    }),
  );
  t.end();
});

t.test("what is sent, and what is refused before", (t) => {
  const whole = { ...NEW_ALERT, name: " Errors ", query: " error ", notification: "n1" };
  t.same(alertOf(whole, "shop"), {
    ...{ project_id: "shop", name: "Errors", description: "", kind: "events", query: "error" },
    ...{ severity: "error", operator: ">" },
    ...{ threshold: 10, interval: 5, for: 1, recover: 1, repeat: 0, limit: 10, notification_id: "n1", muted: false },
  });
  const rows: readonly (readonly [Partial<AlertDraft>, string | undefined])[] = [
    [{}, undefined],
    [{ query: " " }, "alert.query: write what to look for, or | count for all events"],
    [{ threshold: "1.5" }, "alert.threshold: write a whole number, 0 or more"],
    [{ threshold: "-1" }, "alert.threshold: write a whole number, 0 or more"],
    [{ interval: "1441" }, "alert.interval: write a whole number, from 1 to 1440"],
    [{ for: "" }, "alert.for: write a whole number, from 1 to 60"],
    [{ name: "  " }, "alert.name: give it a name: messages begin with it"],
    [{ ...ON_DISK, threshold: "99" }, undefined],
    [{ ...ON_DISK, threshold: "0" }, "alert.threshold: write a whole number, from 1 to 99"],
    [{ ...ON_DISK, threshold: "100" }, "alert.threshold: write a whole number, from 1 to 99"],
    [{ notification: "" }, "alert.notification_id: choose who is notified, or create a notification"],
  ];
  for (const [part, wanted] of rows) t.equal(problemIn({ ...whole, ...part }), wanted, JSON.stringify(part));
  t.end();
});

t.test("queries that an alert may have, as the service reads them", (t) => {
  t.same(alertAnswer("status >= 500"), { ok: true, measured: EVENTS, isGrouped: false, queries: [] });
  t.same(alertAnswer("| stats p99(duration) by path", [[{ name: "path", value: "/a" }], []]), {
    ok: true,
    measured: P99,
    isGrouped: true,
    queries: ['path = "/a"', ""],
  });
  t.match(alertAnswer("| timeseries 5m"), { ok: false, problems: [/^must have no timeseries/] });
  t.same(alertAnswer("error and"), { ok: false, problems: [] }, "what is no query is said where it is typed");
  t.end();
});

const DAY = 86_400_000;
const times = { startMs: 0, stopMs: 7 * DAY };
const at = (hours: number) => new Date(hours * 3_600_000).toISOString();
const episode = (from: number, to: number | null) => ({
  ...{ group: [], value: 12, triggered_at: at(from), resolved_at: to === null ? null : at(to) },
});
const preview = (...episodes: Preview["episodes"]): Preview => ({
  ...{ episodes, intervals: 2016, unevaluated: 0, missing_bytes: 0 },
});

t.test("a replay in words", (t) => {
  const rows: readonly (readonly [string, Preview])[] = [
    ["It would never have triggered in the last 7 days.", preview()],
    ["It would have triggered once in the last 7 days, for 2 h in all.", preview(episode(10, 12))],
    ["It would have triggered twice in the last 7 days, for 3 h in all.", preview(episode(10, 12), episode(11, 13))],
    [
      "It would have triggered 3 times in the last 7 days, for 1 d 3 h in all. It would be triggered now.",
      preview(episode(10, 12), episode(20, 21), episode(144, null)),
    ],
    ["It would have been triggered for all of the last 7 days: choose another threshold.", preview(episode(1, null))],
    [
      "It would have been triggered for almost all of the last 7 days (twice): choose another threshold.",
      preview(episode(1, 90), episode(91, null)),
    ],
    ["No interval of the last 7 days could be evaluated.", { ...preview(), intervals: 0 }],
  ];
  for (const [wanted, input] of rows) t.equal(previewWords(input, times), wanted, wanted);
  const many = preview(...Array.from({ length: 1_000 }, (_, i) => episode(i / 10, i / 10 + 0.05)));
  t.match(previewWords(many, times), /^It would have triggered more than 1,000 times/);
  t.end();
});

t.test("times that are triggered, and the bars behind them", (t) => {
  const spans = spansOf([episode(5, 6), episode(1, 3), episode(2, 4), episode(167, null)], times);
  t.same(
    spans.map(({ startMs, stopMs }) => [startMs / 3_600_000, stopMs / 3_600_000]),
    [
      [1, 4],
      [5, 6],
      [167, 168],
    ],
  );
  const points = [
    { timestamp: at(0), level: "error", count: 2 },
    { timestamp: at(0), level: "info", count: 3 },
    { timestamp: at(2), level: "info", count: 1 },
  ] as const;
  const HOUR = 3_600_000;
  const hours = { startMs: 0, stopMs: 3 * HOUR - 1, intervalMs: HOUR, mostSteps: 3, mostBars: 3, episodes: [] };
  const { bars, most, stepMs } = stripBars(points, hours);
  t.same([most, stepMs, bars.map(({ most }) => most)], [5, HOUR, [5, 0, 1]]);
  const folded = stripBars(points, { ...hours, mostBars: 2 });
  t.same([folded.barMs, folded.bars], [2 * HOUR, [0, 2].map((hour, i) => ({ startMs: hour * HOUR, most: [5, 1][i] }))]);
  const week = { ...hours, stopMs: 168 * HOUR - 1, mostSteps: 168, mostBars: 168 };
  const from = (hour: number, episodes: Preview["episodes"] = []) => {
    const { times, bars } = stripBars(
      [
        { timestamp: at(0), level: "info", count: 0 },
        { timestamp: at(hour), level: "info", count: 1 },
      ],
      { ...week, episodes },
    );
    return [Math.round(times.startMs / HOUR), bars.length];
  };
  t.same(from(100), [100, 68], "from the first event on");
  t.same(from(167), [156, 13], "a few intervals at least");
  t.same(from(100, [episode(50, 60)]), [50, 118], "an episode without events");
  t.same(from(0), [0, 168]);
  t.end();
});

const NOW_MS = Date.parse("2026-11-26T12:00:00Z");
const alert = (part: Partial<Alert>) =>
  ({ id: "a", state: "ok", triggered: false, evaluated_at: at(9), ...part }) as Alert;
const alertEpisode = (part: Partial<AlertEpisode>) =>
  ({ alert_id: "a", kind: "triggered", reason: "", triggered_at: at(1), resolved_at: null, ...part }) as AlertEpisode;

t.test("states, since when, and how episodes ended", (t) => {
  const words = (part: Partial<Alert>) => statesOf(alert(part)).map(({ text }) => text);
  t.same(words({}), ["ok"]);
  t.same(words({ evaluated_at: null }), ["not evaluated yet"]);
  const from = (updated_at: string, interval: number, part: Partial<Alert> = { created_at: updated_at }) =>
    new Date(
      countsFrom(alert({ ...{ created_at: "2026-11-26T09:00:00Z", updated_at, interval }, ...part }), NOW_MS) ?? 0,
    ).toISOString();
  t.equal(from("2026-11-26T11:24:03.137Z", 1), "2026-11-26T11:25:00.000Z");
  t.equal(from("2026-11-26T11:24:03.137Z", 5), "2026-11-26T11:25:00.000Z");
  t.equal(from("2026-11-26T11:25:00Z", 5), "2026-11-26T11:25:00.000Z", "made as an interval begins");
  t.equal(from("2026-01-01T00:00:00Z", 5), new Date(0).toISOString(), "older than its history");
  t.equal(
    from("2026-11-26T11:24:03Z", 5, { created_at: "2026-01-01T00:00:00Z", evaluated_at: null }),
    "2026-11-26T11:25:00.000Z",
    "its condition was changed",
  );
  t.equal(from("2026-11-26T11:24:03Z", 5, {}), new Date(0).toISOString(), "what was changed is not known");
  t.same(words({ state: "triggered", triggered: true }), ["triggered"]);
  t.same(words({ state: "failing", triggered: true }), ["triggered", "failing"], "it fails and stays triggered");
  const all = [
    alertEpisode({ triggered_at: at(5) }),
    alertEpisode({ triggered_at: at(3) }),
    alertEpisode({ triggered_at: at(1), resolved_at: at(2) }),
    alertEpisode({ triggered_at: at(4), kind: "failed" }),
    alertEpisode({ alert_id: "b", triggered_at: at(0) }),
  ];
  t.equal(sinceOf(alert({ state: "triggered", triggered: true }), all), at(3), "the first group that is triggered");
  t.equal(sinceOf(alert({ state: "failing" }), all), at(4));
  t.equal(sinceOf(alert({}), all), at(2), "the last resolution");
  t.equal(sinceOf(alert({ id: "c" }), all), undefined);
  t.equal(sinceOf(alert({ evaluated_at: null }), all), undefined, "after a change it is nothing yet");
  const sent = (status: "waiting" | "delivered" | "failed", attempts: number, alert_id = "a") => ({
    ...{ alert_id, status, attempts },
  });
  t.equal(isUndelivered("a", []), false);
  t.equal(isUndelivered("a", [sent("waiting", 0), sent("failed", 5)]), false, "the last one has not been tried yet");
  t.equal(isUndelivered("a", [sent("delivered", 1, "b"), sent("waiting", 1)]), true, "of its own ones");
  t.equal(isUndelivered("a", [sent("failed", 9), sent("delivered", 1)]), true);
  t.equal(isUndelivered("a", [sent("delivered", 2), sent("failed", 9)]), false);
  t.equal(endOf(alertEpisode({})), "still triggered");
  t.equal(endOf(alertEpisode({ resolved_at: at(2) })), "resolved");
  t.equal(
    endOf(alertEpisode({ resolved_at: at(2), reason: "closed by a change of the alert" })),
    "closed by a change of the alert",
  );
  const late = alertEpisode({ reason: "its events came late" });
  t.same([isOfLate(late), endOf(late)], [true, "still triggered"]);
  t.equal(endOf({ ...late, resolved_at: at(2) }), "resolved", "why it began is not how it ended");
  t.notOk(isOfLate(alertEpisode({ reason: "closed by a change of the alert" })));
  t.equal(endOf(alertEpisode({ kind: "failed", reason: "too slow", resolved_at: at(2) })), "could be evaluated again");
  const range = windowOf(alertEpisode({ triggered_at: at(2), resolved_at: at(3) }), { interval: 5, for: 2 }, 0);
  t.same(
    [at(0).slice(0, 11), range.startMs, range.stopMs],
    ["1970-01-01T", 2 * 3_600_000 - 600_000, 3 * 3_600_000 - 1],
  );
  t.end();
});

t.test("notifications: what is sent, and what is refused before", (t) => {
  const mail = {
    ...NEW_NOTIFICATION,
    type: "email",
    name: " Ops ",
    recipients: "a@x.org, b@x.org\n\na@x.org",
  } as const;
  t.same(membersOf(mail), { type: "email", name: "Ops", email_addresses: ["a@x.org", "b@x.org"] });
  t.same(draftRecipients({ ...mail, type: "sms", recipients: "+1 555 0100\n+1 (555) 0101;" }), [
    "+1 555 0100",
    "+1 (555) 0101",
  ]);
  const chat = { ...NEW_NOTIFICATION, name: "Chat", channel: " #ops ", recipients: "a@x.org" };
  t.same(membersOf(chat), { type: "slack", name: "Chat", slack_channel: "#ops" }, "no secret keeps the stored one");
  t.same(membersOf({ ...chat, secret: " https://x.org/h " }), {
    ...{ type: "slack", name: "Chat", slack_channel: "#ops", slack_webhook_url: "https://x.org/h" },
  });
  t.equal(notificationProblem(mail, true), undefined);
  t.equal(
    notificationProblem({ ...mail, recipients: "a@x.org foo" }, true),
    'notification.email_addresses: "foo" is not an email address',
  );
  t.equal(
    notificationProblem({ ...mail, type: "sms" }, true),
    'notification.sms_numbers: "a@x.org" is not a phone number',
  );
  t.equal(
    notificationProblem({ ...mail, recipients: " " }, true),
    "notification.email_addresses: write an email address at least",
  );
  t.equal(notificationProblem(chat, true), "notification.slack_webhook_url: paste the address of the webhook");
  t.equal(notificationProblem(chat, false), undefined);
  t.equal(notificationProblem({ ...chat, name: "" }, false), "notification.name: give it a name; alerts refer to it");
  t.equal(maskOf({ type: "webhook", webhook_url: "https://x.org/****" } as Notification), "https://x.org/****");
  t.equal(maskOf({ type: "email", webhook_url: "" } as Notification), "");
  t.match(missingFor("email", { isMailing: false, isTexting: true }), /--smtp/);
  t.match(missingFor("sms", { isMailing: true, isTexting: false }), /--sms/);
  t.equal(missingFor("slack", { isMailing: false, isTexting: false }), undefined);
  const numbers = (all: number, unconfirmed: number) => {
    const one = { sms_number: "+1", expires_at: null, failure: "" };
    return unconfirmedText({
      ...{ sms_numbers: Array(all).fill("+1"), unconfirmed_numbers: Array(unconfirmed).fill(one) },
    });
  };
  const where = "Type the code on the page of the notification.";
  t.equal(numbers(2, 0), undefined);
  t.equal(numbers(3, 2), `2 of its 3 numbers are not confirmed. ${where}`);
  t.equal(numbers(1, 1), `Its number is not confirmed, so nobody is told. ${where}`);
  t.equal(numbers(2, 2), `Its numbers are not confirmed, so nobody is told. ${where}`);
  t.end();
});
