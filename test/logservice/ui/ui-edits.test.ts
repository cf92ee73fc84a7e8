// Text typed over a record that others change meanwhile: what is shown, what clashes, and how a clash ends.
import t from "tap";
import { alertOf, NEW_ALERT } from "../../../logservice/ui/alerts/draft.ts";
import { changedMembers } from "../../../logservice/ui/data/changes.ts";
import {
  clashesOf,
  edited,
  keepingMine,
  withEdits,
  withoutEdit,
  withoutSent,
} from "../../../logservice/ui/data/edits.ts";
import { NOTIFICATION_PATHS } from "../../../logservice/ui/notifications/draft.ts";
import { rpcSchema } from "../../../schema/rpc-schema.generated.ts";

const READ = { ...NEW_ALERT, name: "Errors", query: "error", notification: "n" };
type Part = Partial<typeof READ>;

const ROWS: readonly (readonly [name: string, typed: Part, saved: Part, expected: Part, clashes: readonly string[]])[] =
  [
    ["nobody else", { threshold: "20" }, {}, { threshold: "20" }, []],
    ["another field elsewhere", { threshold: "20" }, { interval: "60" }, { threshold: "20", interval: "60" }, []],
    ["the same field, another value", { threshold: "20" }, { threshold: "30" }, { threshold: "20" }, ["threshold"]],
    ["the same field, the same value", { threshold: "20" }, { threshold: "20" }, { threshold: "20" }, []],
    ["blanks are not saved", { name: "Slow " }, { name: "Slow" }, { name: "Slow " }, []],
    ["typed, and typed back", { threshold: "10" }, { threshold: "30" }, { threshold: "30" }, []],
    ["both ways of two", { muted: true, query: "x" }, { query: "y" }, { muted: true, query: "x" }, ["query"]],
  ];

t.test("what two people change", (t) => {
  for (const [name, typed, other, expected, clashes] of ROWS) {
    const edits = edited({}, READ, typed);
    const saved = { ...READ, ...other };
    t.same(withEdits(saved, edits), { ...READ, ...expected }, name);
    t.same(clashesOf(edits, saved), clashes, name);
  }
  t.end();
});

t.test("an edit begins with what was saved when it began", (t) => {
  const first = edited({}, READ, { threshold: "2" });
  const saved = { ...READ, threshold: "30" };
  t.same(clashesOf(edited(first, saved, { threshold: "20" }), saved), ["threshold"], "more of it is typed");
  t.same(clashesOf(edited({}, saved, { threshold: "20" }), saved), [], "the other value was seen");
  t.end();
});

t.test("what is typed in a clash stays, also if it is again as it was", (t) => {
  const saved = { ...READ, threshold: "30", muted: true };
  let edits = edited({}, READ, { threshold: "20" });
  for (const text of ["", "1", "10", "100"]) {
    edits = edited(edits, saved, { threshold: text });
    t.equal(withEdits(saved, edits).threshold, text);
    t.same(clashesOf(edits, saved), ["threshold"], text);
  }
  t.same(edited(edited({}, READ, { threshold: "20" }), READ, { threshold: "10" }), {}, "without a clash it is no edit");
  t.end();
});

t.test("what is typed while a save is under way stays", (t) => {
  const sent = edited({}, READ, { threshold: "20", name: "Slow", muted: true });
  const during = edited(edited(sent, READ, { threshold: "25", muted: false }), READ, { query: "warning" });
  const stored = { ...READ, threshold: "20", name: "Slow", muted: true };
  const left = withoutSent(during, sent, stored);
  t.same(left, {
    ...{ threshold: { from: "20", to: "25" }, query: { from: "error", to: "warning" } },
    muted: { from: true, to: false },
  });
  t.same(clashesOf(left, stored), [], "what was sent is nobody else's");
  t.same(clashesOf(left, { ...stored, query: "debug" }), ["query"], "what was not sent was read before");
  t.same(withoutSent(sent, sent, stored), {}, "nothing was typed meanwhile");
  t.end();
});

t.test("a clash ends by either value, until there is another", (t) => {
  const edits = edited({}, READ, { threshold: "20", name: "Mine" });
  const saved = { ...READ, threshold: "30" };
  const mine = keepingMine(edits, saved, "threshold");
  t.same(clashesOf(mine, saved), []);
  t.same(changedMembers(alertOf(saved, "p"), alertOf(withEdits(saved, mine), "p")), { threshold: 20, name: "Mine" });
  t.same(clashesOf(mine, { ...READ, threshold: "40" }), ["threshold"], "a third value");
  const theirs = withoutEdit(edits, "threshold");
  t.same(clashesOf(theirs, saved), []);
  t.same(changedMembers(alertOf(saved, "p"), alertOf(withEdits(saved, theirs), "p")), { name: "Mine" });
  t.end();
});

t.test("the form of a notification has a place for what the service says of each member", (t) => {
  const { properties } = rpcSchema.definitions.NotificationInput as { readonly properties: Record<string, unknown> };
  const named = Object.keys(properties).filter(
    (name) => !["id", "project_id", "type", "managed_by", "secret_hash"].includes(name),
  );
  t.same([...NOTIFICATION_PATHS].sort(), named.map((name) => `notification.${name}`).sort());
  t.end();
});
