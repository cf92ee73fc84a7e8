// The decisions of the pages of the web UI: names, titles, what is found, sentences of the audit, roles, TOOL_CONFIG.
import t from "tap";
import { readTeamConfig } from "../../../cli/team/team-config.ts";
import { parsePipeline } from "../../../grammar/query/index.ts";
import { KEYWORD_DOCS, PIPE_WORDS, WORD_DOCS } from "../../../grammar/query/reference.ts";
import { pageKey, titleOf } from "../../../logservice/address/names.ts";
import { pageAt } from "../../../logservice/address/page.ts";
import { LIMITS } from "../../../logservice/limits.ts";
import { urgentFirst } from "../../../logservice/ui/alerts/urgent-first.ts";
import { matchingEntries } from "../../../logservice/ui/audit/matching.ts";
import { DESCRIBED_OPERATIONS, sentenceOf, sentenceText } from "../../../logservice/ui/audit/sentence.ts";
import { byName } from "../../../logservice/ui/data/by-name.ts";
import {
  FIRST,
  functionExample,
  meaningOf,
  pipeExample,
  UNITS,
  WORD_EXAMPLES,
  WRITTEN,
} from "../../../logservice/ui/help/examples.ts";
import { typeable } from "../../../logservice/ui/kit/visible.ts";
import { totalUsage, usageByDay, withoutEmptyRuns } from "../../../logservice/ui/projects/usage-by-day.ts";
import { matchingSearches, searchNamed } from "../../../logservice/ui/searches/matching.ts";
import { matchingDestinations } from "../../../logservice/ui/shell/found-places.ts";
import { waysToSend } from "../../../logservice/ui/start/ways-to-send.ts";
import { isLastOwner, mayChange, ROLE_TABLE, rolesUpTo } from "../../../logservice/ui/team/roles.ts";
import { lacksPro, subscriptionState } from "../../../logservice/ui/team/subscription-state.ts";
import { toolConfigOf } from "../../../logservice/ui/team/tool-config.ts";
import type { Alert, AuditEntry, Member, Search, Subscription } from "../../../schema/rpc.generated.ts";
import { rpcSchema } from "../../../schema/rpc-schema.generated.ts";

t.test("a title names the page first, then the project or team", (t) => {
  const names = { project: "Shop", team: "Acme" };
  const rows = [
    ["/", "Logs"],
    ["/t/acme", "Projects · Acme · Logs"],
    ["/t/acme/members", "Members · Acme · Logs"],
    ["/t/acme/usage", "Usage · Acme · Logs"],
    ["/t/acme/p/shop", "Explore · Shop · Logs"],
    ["/t/acme/p/shop/settings", "Settings · Shop · Logs"],
    ["/t/acme/p/shop/alerts/new", "Alerts · Shop · Logs"],
    ["/help/language", "Query language · Logs"],
    ["/help/nothing", "No such page · Logs"],
  ] as const;
  for (const [path, title] of rows) t.equal(titleOf(pageAt(path), names), title, path);
  t.equal(titleOf(pageAt("/t/acme/p/shop"), {}), "Explore · shop · Logs", "ids until the names are known");
  t.end();
});

t.test("usage of some projects by day", (t) => {
  const day = (day: string, events: number, errors: number) => ({
    ...{ day, events, bytes: events * 100, stored_bytes: events * 10 },
    levels: [
      ...(events > errors ? [{ level: "info" as const, count: events - errors }] : []),
      ...(errors > 0 ? [{ level: "critical" as const, count: errors }] : []),
    ],
  });
  const projects = [
    { project_id: "api", days: [day("2026-02-27", 4, 1), day("2026-03-01", 2, 0)] },
    { project_id: "web", days: [day("2026-03-01", 10, 3)] },
  ];
  const nowMs = Date.parse("2026-03-01T00:00:00Z");
  const days = usageByDay(projects, { nowMs, days: 3 });
  t.same(
    days.map(({ day, events, bytes, storedBytes, errors }) => [day, events, bytes, storedBytes, errors]),
    [
      ["2026-03-01", 12, 1200, 120, 3],
      ["2026-02-28", 0, 0, 0, 0],
      ["2026-02-27", 4, 400, 40, 1],
    ],
    "the latest first, and days without events too",
  );
  t.same(
    [...days[0]!.byLevel],
    [
      ["info", 9],
      ["critical", 3],
    ],
  );
  t.same(
    usageByDay([], { nowMs, days: 1 }).map(({ day, events }) => [day, events]),
    [["2026-03-01", 0]],
  );
  t.same(
    withoutEmptyRuns(usageByDay(projects, { nowMs: nowMs + 2 * 86_400_000, days: 9 })).map((row) =>
      "emptyDays" in row ? `${row.first} to ${row.last}: none on ${row.emptyDays}` : `${row.day}: ${row.events}`,
    ),
    [
      "2026-03-02 to 2026-03-03: none on 2",
      "2026-03-01: 12",
      "2026-02-28 to 2026-02-28: none on 1",
      "2026-02-27: 4",
      "2026-02-23 to 2026-02-26: none on 4",
    ],
    "days without events that follow each other are one row",
  );
  const { events, bytes, storedBytes, errors } = totalUsage(usageByDay(projects, { nowMs, days: 3 }));
  t.same([events, bytes, storedBytes, errors], [16, 1600, 160, 4]);
  t.end();
});

t.test("the focus moves if another page is shown", (t) => {
  const rows = [
    ["/t/a/p/b/alerts", "/t/a/p/b/searches", true],
    ["/t/a/p/b/events", "/t/a/p/c/events", true],
    ["/t/a/p/b/alerts", "/t/a/p/b/alerts/new", true],
    ["/t/a/p/b/alerts/new", "/t/a/p/b/alerts/x1", false],
    ["/t/a/p/b", "/t/a/p/b/events", false],
    ["/t/a/members", "/t/b/members", true],
    ["/help", "/help/language", false],
  ] as const;
  for (const [from, to, isOther] of rows)
    t.equal(pageKey(pageAt(from)) !== pageKey(pageAt(to)), isOther, `${from} → ${to}`);
  t.end();
});

t.test("the search over pages", (t) => {
  const places = ["Explore/page", "Café/project", "My explore/saved search", "شحن/project", "API tokens/team page"].map(
    (one) => {
      const [text, kind] = one.split("/") as [string, string];
      return { text, kind, href: "/" };
    },
  );
  const rows = [
    ["", ["Explore", "Café", "My explore", "شحن", "API tokens"]],
    ["explore", ["Explore", "My explore"]],
    ["my", ["My explore"]],
    ["cafe", ["Café"]],
    ["PROJECT", ["Café", "شحن"]],
    ["شحن", ["شحن"]],
    [" tokens  api ", ["API tokens"]],
    ["nothing", []],
    ["page", ["Explore", "API tokens"]],
  ] as const;
  for (const [typed, expected] of rows)
    t.same(
      matchingDestinations(places, typed).map(({ text }) => text),
      expected,
      typed,
    );
  t.end();
});

t.test("saved searches", (t) => {
  const made = { created_at: null, updated_at: null, managed_by: "" };
  const searches: Search[] = [
    { ...made, id: "a", project_id: "p", name: "Slow pages", query: "duration > 1s" },
    { ...made, id: "b", project_id: "p", name: "Errors", query: "error | count by path" },
  ];
  const rows = [
    ["Slow pages", undefined, "a"],
    ["  slow   PAGES ", undefined, "a"],
    ["Slow pages", "a", undefined],
    ["Slow page", undefined, undefined],
  ] as const;
  for (const [name, except, id] of rows) t.equal(searchNamed(searches, name, except)?.id, id, `${name}, not ${except}`);
  for (const [typed, ids] of [
    ["", ["a", "b"]],
    ["PATH err", ["b"]],
    ["1s", ["a"]],
    ["nothing", []],
  ] as const)
    t.same(
      matchingSearches(searches, typed).map(({ id }) => id),
      ids,
      typed,
    );
  t.end();
});

const entry = (part: Partial<AuditEntry>): AuditEntry => ({
  ...{ id: "e", at: "2026-01-31T00:00:00.000Z", actor: "ann@example.com", address: "10.0.0.1" },
  ...{ operation: "", project_id: "", target_id: "", result: "done", detail: "" },
  ...part,
});

t.test("the audit in sentences", (t) => {
  const rows: [Partial<AuditEntry>, string][] = [
    [{ operation: "add_member", target_id: "bob@example.com", detail: "admin" }, "invited bob@example.com as admin"],
    [{ operation: "update_member", target_id: "b@c.d", detail: "owner" }, "changed the role of b@c.d to owner"],
    [{ operation: "accept_invite", target_id: "b@c.d", detail: "member" }, "accepted the invite to the team as member"],
    [{ operation: "add_owner", target_id: "b@c.d", detail: "owner" }, "made b@c.d an owner"],
    [
      { operation: "add_ci_token", target_id: "tok_1", detail: "GitHub #1 @ 50%" },
      "created the CI token GitHub #1 @ 50%",
    ],
    [
      { operation: "add_alert", target_id: "2c5v", detail: "Checkout is failing" },
      "created the alert Checkout is failing",
    ],
    [{ operation: "remove_token", target_id: "tok_1" }, "removed the API token tok_1"],
    [{ operation: "export", detail: "csv from A to B: error" }, "exported csv from A to B: error"],
    [{ operation: "query", detail: "select 1" }, "ran SQL"],
    [{ operation: "confirm_sign_in", target_id: "sig_1" }, "signed in"],
    [{ operation: "add_thing", target_id: "x" }, "add thing x"],
    [{ operation: "constructor" }, "constructor"],
    [
      { operation: "confirm_sign_in", target_id: "sig_1", result: "unauthorized", detail: "3 wrong codes" },
      "failed to sign in with 3 wrong codes",
    ],
    [
      { operation: "confirm_notification", target_id: "n", result: "unauthorized", detail: "1 wrong code" },
      "failed to confirm a number with 1 wrong code",
    ],
    [{ operation: "add_alert", result: "forbidden" }, "tried add_alert and may not do that"],
    [{ operation: "/tail", result: "unauthorized" }, "tried /tail without a valid sign-in or token"],
  ];
  for (const [part, text] of rows) t.equal(sentenceText(sentenceOf(entry(part))), text, JSON.stringify(part));
  t.end();
});

t.test("whether the page shows the form of what needs Pro", (t) => {
  t.equal(lacksPro({ provider: "stripe", edition: "free" }), true);
  t.equal(lacksPro({ provider: "stripe", edition: "pro" }), false);
  t.equal(lacksPro({ provider: "none", edition: "pro" }), false);
  t.equal(lacksPro(undefined), false, "not known yet: the service refuses by itself");
  t.end();
});

t.test("what an owner may do with a subscription", (t) => {
  const ends_at = "2026-02-01T00:00:00.000Z";
  const rows: readonly [Pick<Subscription, "status" | "edition" | "ends_at">, buttons: string, text: RegExp][] = [
    [{ status: "none", edition: "free" }, "Free: subscribe", /no subscription/],
    [{ status: "active", edition: "pro" }, "Pro: card, end", /is active/],
    [{ status: "active", edition: "pro", ends_at }, "Pro: subscribe, card", /was ended, and runs until/],
    [{ status: "past_due", edition: "pro" }, "Pro: card, end", /change the card\. The team keeps Pro for 7 days/],
    [{ status: "past_due", edition: "free" }, "Free: card, end", /change the card\.$/],
    [{ status: "past_due", edition: "free", ends_at }, "Free: subscribe, card", /change the card/],
    [{ status: "incomplete", edition: "free" }, "Free: subscribe, card, end", /subscribe again/],
    [{ status: "paused", edition: "free" }, "Free: card, end", /paused: write to whoever runs this service/],
    [{ status: "canceled", edition: "free" }, "Free: subscribe", /has ended/],
  ];
  for (const [part, buttons, text] of rows) {
    const state = subscriptionState({ team_id: "acme", provider: "stripe", ...part });
    const shown = [state.canSubscribe && "subscribe", state.canChangeCard && "card", state.canEnd && "end"];
    t.equal(`${state.edition}: ${shown.filter(Boolean).join(", ")}`, buttons, JSON.stringify(part));
    t.match(state.text, text);
  }
  const labelOf = (status: Subscription["status"]) =>
    subscriptionState({ team_id: "acme", provider: "stripe", edition: "free", status, ends_at }).ends;
  t.same(
    ["active", "past_due", "canceled"].map((one) => labelOf(one as Subscription["status"])),
    ["Ends", "Ends", "Ended"],
  );
  t.end();
});

t.test("names are sorted as people do", (t) => {
  const rows = [
    ["Orders billing <img", "<img billing Orders"],
    ["alert-11 alert-2 alert-1 Alert-3", "alert-1 alert-2 Alert-3 alert-11"],
  ] as const;
  for (const [names, sorted] of rows) {
    const all = names.split(" ").map((name) => ({ name }));
    t.equal(
      byName(all)
        .map(({ name }) => name)
        .join(" "),
      sorted,
    );
  }
  const triggered = { name: "z", triggered: true, state: "ok" };
  const failing = { name: "y", triggered: false, state: "failing" };
  const alerts = [{ name: "b10" }, { name: "b9" }, failing, { name: "A" }, triggered] as unknown as readonly Alert[];
  t.same(
    urgentFirst(alerts).map(({ name }) => name),
    ["z", "y", "A", "b9", "b10"],
  );
  t.end();
});

t.test("curl is told how many events a call may have", (t) => {
  const place = { origin: "https://logs.example.com", projectId: "shop", token: "lgs_x" };
  const { about } = waysToSend(place).find(({ name }) => name === "curl")!;
  t.match(about, LIMITS.eventsPerBatch.toLocaleString("en-US"));
  t.end();
});

t.test("each operation that changes something has a sentence", (t) => {
  const changes = Object.keys(rpcSchema.operations).filter(
    (name) => !/^(check|get|poll|preview|test)_|^search$|^aggregate$/.test(name),
  );
  // Events are no records, and an export is told when it is sent.
  t.same(
    changes.filter((name) => !["add_events", "add_export"].includes(name) && !DESCRIBED_OPERATIONS.includes(name)),
    [],
  );
  t.end();
});

t.test("the audit is filtered by what is shown", (t) => {
  const entries = [
    entry({ id: "1", operation: "add_member", target_id: "bob@example.com", detail: "admin" }),
    entry({ id: "2", operation: "get_alerts", result: "forbidden", actor: "tok_1" }),
  ];
  for (const [typed, isRefused, ids] of [
    ["", false, ["1", "2"]],
    ["invited BOB", false, ["1"]],
    ["may not", false, ["2"]],
    ["", true, ["2"]],
    ["bob", true, []],
  ] as const)
    t.same(
      matchingEntries(entries, { typed, isRefused }).map(({ id }) => id),
      ids,
      `${typed} ${isRefused}`,
    );
  t.end();
});

t.test("roles", (t) => {
  t.same(rolesUpTo("member"), ["member"]);
  t.same(rolesUpTo("admin"), ["member", "admin"]);
  t.same(rolesUpTo("owner"), ["member", "admin", "owner"]);
  t.same(rolesUpTo(undefined), []);
  for (const [own, role, may] of [
    ["member", "member", false],
    ["admin", "member", true],
    ["admin", "admin", true],
    ["admin", "owner", false],
    ["owner", "owner", true],
    [undefined, "member", false],
  ] as const)
    t.equal(mayChange(own, { role }), may, `${own} changes ${role}`);
  const person = (email: string, role: Member["role"], state: Member["state"] = "member"): Member => {
    return { id: email, email, role, state, since: "2026-01-31T00:00:00Z" };
  };
  const [ann, bob] = [person("ann", "owner"), person("bob", "member")];
  t.equal(isLastOwner([ann, bob], ann), true);
  t.equal(isLastOwner([ann, bob], bob), false);
  t.equal(isLastOwner([ann, person("cid", "owner")], ann), false);
  t.equal(isLastOwner([ann, person("cid", "owner", "invited")], ann), true, "who is invited is no owner yet");
  // A higher role may do all that a lower one may.
  for (const { text, roles } of ROLE_TABLE) t.match(roles.join(), /^(member,)?(admin,)?owner$/, text);
  t.end();
});

t.test("what is typed before something is removed", (t) => {
  const rows = [
    ["Shop", "Shop"],
    [" Shop 2 ", "Shop 2"],
    ["متجر", "متجر"],
    ["Sh\u200bop", "id"],
    ["\u202eShop", "id"],
    ["  ", "id"],
  ] as const;
  for (const [name, typed] of rows) t.equal(typeable(name, "id"), typed, JSON.stringify(name));
  t.end();
});

t.test("TOOL_CONFIG of a CI token is read by the command", (t) => {
  const credential = {
    team: "sohne",
    email: "söhne@example.com",
    url: "https://logs.example.com",
    token: "lgs_0123abc",
  };
  const read = readTeamConfig(Buffer.from(toolConfigOf(credential), "base64").toString());
  t.match(read, { ok: true, value: { current: credential } });
  t.end();
});

t.test("every example of the page of the language is a query, and is explained", (t) => {
  const functions = ["count", "sum", "avg", "min", "max", "pNN", "distinct", "first", "last", "rate"] as const;
  const queries = [
    ...FIRST,
    ...WRITTEN.flatMap(({ queries }) => queries),
    ...Object.values(WORD_EXAMPLES),
    ...PIPE_WORDS.map(pipeExample),
    ...functions.map((name) => functionExample(name).query),
    ...UNITS.map(({ unit }) => `${unit.endsWith("b") ? "size" : "duration"} > 1${unit}`),
  ];
  for (const query of queries) {
    const parsed = parsePipeline(query);
    t.same(parsed.ok ? [] : parsed.problems, [], query);
    t.type(meaningOf(query), "string", query);
  }
  t.same(Object.keys(WORD_EXAMPLES), Object.keys(WORD_DOCS), "an example for each word");
  for (const [word, query] of Object.entries(WORD_EXAMPLES)) t.ok(query.includes(word), `${word} is in ${query}`);
  t.ok(Object.keys(KEYWORD_DOCS).length > 0);
  t.equal(meaningOf("status >= 500 | limit 1"), "status is at least 500. The first one.");
  t.equal(meaningOf("error"), "The level is error.");
  t.equal(meaningOf("| count by path"), "All events. Then the count for each path.");
  t.equal(
    meaningOf("| timeseries 90m count() by path, status"),
    "All events. Then the count per 1 h 30 min, path and status.",
  );
  t.equal(meaningOf("status >="), undefined);
  t.end();
});
