// The results of the fixes on faulty tool.json files: how many come right, and that none makes a file worse.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { applyEdits, fixesOf, LineIndex } from "../../grammar/problem.ts";
import { checkConfig, fixAll } from "../../schema/index.ts";
import { root } from "../support/cli.ts";
import { configBases } from "../support/config-bases.ts";
import { drawMutants, HABIT_NAMES, OPERATOR_NAMES } from "../support/config-mutants.ts";
import { endlessFixes } from "../support/fix-walk.ts";
import { type Judged, measureFixes } from "../support/judge-fixes.ts";
import { randomOf } from "../support/random.ts";
import { isRecording } from "../support/vectors.ts";

const COUNT = 500;
const SEEDS = [1, 2, 3];

/** The goals: shares of all faults. */
const MIN_FLAGGED = 0.97;
const MIN_RIGHT = 0.6;

const HABIT_SEED = 4;

/** The result of the first seed, fault by fault. `npm run t -- --record test/slow/fixes.ts` writes it again. */
const RECORDED = join(root, "test/vectors/config-faults.json");

const bases = configBases(root);
const measured = SEEDS.map((seed) => ({ seed, ...measureFixes(bases, COUNT, seed) }));
const everything = measured.flatMap(({ judged }) => judged);

t.test("what the faults are made in is valid", (t) => {
  for (const { name, text } of bases) t.same(checkConfig(text).problems, [], name);
  t.end();
});

t.test("the operators make faults, the same for a seed", (t) => {
  const texts = (seed: number) => drawMutants(bases, COUNT, randomOf(seed)).map(({ text }) => text);
  t.equal(new Set(texts(1)).size, COUNT, "all are different");
  t.same(texts(1), texts(1), "the same seed draws the same");
  const [first, second] = [new Set(texts(1)), texts(2)];
  t.ok(second.filter((text) => first.has(text)).length < COUNT / 2, "another seed draws others");
  const made = new Set(everything.map(({ mutant }) => mutant.operator));
  t.same(
    OPERATOR_NAMES.filter((name) => !made.has(name)),
    [],
    "each operator has its turn",
  );
  t.end();
});

t.test("faults are flagged, and come right by fixes", (t) => {
  for (const { seed, all, byOperator } of measured) {
    const share = (part: number) => part / all.count;
    t.equal(all.count, COUNT);
    t.ok(share(all.flagged) >= MIN_FLAGGED, `seed ${seed}: ${(100 * share(all.flagged)).toFixed(1)} % are flagged`);
    t.ok(share(all.right) >= MIN_RIGHT, `seed ${seed}: ${(100 * share(all.right)).toFixed(1)} % come right`);
    const weak = [...byOperator].filter(([, { count, right }]) => right < count / 2);
    t.comment(
      `rarely right: ${weak.map(([name, { count, right }]) => `${name} ${right}/${count}`).join(", ") || "none"}`,
    );
  }
  t.end();
});

t.test("what people write out of habit is flagged, and the first fix is the one", (t) => {
  const { judged, all, byOperator } = measureFixes(bases, COUNT, HABIT_SEED, HABIT_NAMES);
  const percent = (part: number) => `${((100 * part) / all.count).toFixed(1)} %`;
  t.equal(all.count, COUNT);
  t.ok(all.flagged >= MIN_FLAGGED * all.count, `${percent(all.flagged)} are flagged`);
  t.ok(all.first >= MIN_RIGHT * all.count, `${percent(all.first)} come right by the first fix`);
  t.same(
    [...byOperator].flatMap(([name, { count, first }]) => (first < count / 2 ? `${name}: ${first} of ${count}` : [])),
    [],
    "each kind comes right more often than not",
  );
  t.same(
    judged.flatMap(({ faults }) => faults),
    [],
    "a fix takes its problem away and adds none",
  );
  t.end();
});

t.test("each fault comes out as written down", (t) => {
  const rows = measured[0]!.judged.map(rowOf);
  if (isRecording) writeFileSync(RECORDED, `${JSON.stringify(rows, null, 2)}\n`);
  t.same(rows, JSON.parse(readFileSync(RECORDED, "utf8")));
  t.end();
});

/** `drop comma, shop.tool.json:12: flagged, right by one, as it was`. */
function rowOf({ mutant, isFlagged, right, isRestored }: Judged): string {
  const { base, text } = mutant;
  let at = 0;
  while (at < text.length && text[at] === base.text[at]) at++;
  const { line } = new LineIndex(text).position(at);
  const parts = [isFlagged ? "flagged" : "missed", right && `right by ${right}`, isRestored && "as it was"];
  return `${mutant.operator}, ${base.name}:${line}: ${parts.filter(Boolean).join(", ")}`;
}

t.test("a fix takes its problem away and adds none", (t) => {
  t.same(
    everything.flatMap(({ faults }) => faults),
    [],
  );
  const count = everything.reduce((sum, { problems }) => sum + problems.flatMap(fixesOf).length, 0);
  t.ok(count > everything.length, `${count} fixes`);
  t.end();
});

t.test("fixes taken one after the other never lead back to a file that was left", (t) => {
  const endless = measured[0]!.judged.flatMap(({ mutant }) => {
    const titles = endlessFixes(mutant.text, (text) => checkConfig(text).problems);
    return titles === undefined ? [] : [`${mutant.operator}, ${mutant.base.name}: ${titles.join(", ")}`];
  });
  t.same(endless, []);
  t.end();
});

t.test("no fix is the opposite of another: a colon or a value that one puts in is not taken out by the next", (t) => {
  const opposites: string[] = [];
  for (const { mutant, problems } of measured[0]!.judged) {
    for (const fix of problems.flatMap(fixesOf)) {
      const text = applyEdits(mutant.text, fix.edits);
      for (const back of checkConfig(text).problems.flatMap(fixesOf)) {
        if (applyEdits(text, back.edits) === mutant.text) opposites.push(`${fix.title}, ${back.title}`);
      }
    }
  }
  t.same(opposites, []);
  t.end();
});

const words = (text: string) => text.match(/[\p{L}\p{N}_.@-]+/gu) ?? [];

t.test("a fix that is certain loses nothing", (t) => {
  const lost: string[] = [];
  for (const { mutant, problems } of everything) {
    for (const problem of problems) {
      const { fix, code, span } = problem;
      // A member that the older dialect drops is no setting any more; the notes of the migration say so.
      if (fix === undefined || fix.isSuggestion || code.startsWith("config/deprecated-")) continue;
      const removed = fix.edits.flatMap((edit) => words(mutant.text.slice(edit.span.start, edit.span.end)));
      const kept = applyEdits(mutant.text, fix.edits);
      const own = mutant.text.slice(span.start, span.end);
      // A setting goes whose value says nothing; a comment is none of the configuration.
      const isEmpty = /^Remove "/.test(fix.title) && /^(null|true|"")$/.test(own);
      const gone = removed.filter((word) => !kept.includes(word) && !own.includes(word));
      if (gone.length > 0 && !isEmpty && code !== "config/comment") lost.push(`${code}, ${fix.title}: ${gone}`);
    }
  }
  t.same(lost, []);
  t.end();
});

/** Remedies that the hint says in words and that no text can be made of, or that depend on what else is broken. */
const UNFIXED = new Set(["config/trailing-text", "route/unencoded", "config/redirect-loop"]);

t.test("a problem whose hint names the remedy has it as a fix", (t) => {
  const named = everything.flatMap(({ mutant, problems }) =>
    problems.flatMap(({ code, message, hint, fix }) => {
      if (!/^(write|add|did you mean|remove)\b/.test(hint ?? "") || UNFIXED.has(code)) return [];
      return { isFixed: fix !== undefined, row: `${mutant.operator}: ${message}: ${hint}` };
    }),
  );
  const without = named.filter(({ isFixed }) => !isFixed);
  for (const { row } of without) t.comment(row);
  // Where brackets are lost, what is behind them is read as something else, and its fixes do not help.
  t.ok(without.length <= named.length * 0.01, `${without.length} of ${named.length} have none`);
  t.end();
});

t.test("all certain fixes at once", (t) => {
  let changed = 0;
  for (const { mutant, problems } of measured[0]!.judged) {
    const { text, notes } = fixAll(mutant.text);
    t.equal(text !== mutant.text, notes.length > 0, `${mutant.operator}: notes say what was done`);
    if (text === mutant.text) continue;
    changed++;
    const left = checkConfig(text).problems;
    if (left.length >= problems.length) t.fail(`${mutant.operator}: ${problems.length} -> ${left.length}`);
  }
  t.ok(changed > COUNT / 4, `${changed} files are changed`);
  t.end();
});

t.test("changes of the text keep its form", (t) => {
  const rows: [name: string, text: string, title: string, fixed: string][] = [
    [
      "a missing key takes its place in the order of the schema",
      '{\n  "name": "app",\n  "redirects": {\n    "/a": {\n      "status": 301\n    }\n  }\n}',
      'Add "location": "/help"',
      '{\n  "name": "app",\n  "redirects": {\n    "/a": {\n      "location": "/help",\n      "status": 301\n    }\n  }\n}',
    ],
    ["an empty object", "{}", 'Add "name": "app"', '{ "name": "app" }'],
    [
      "an alert takes an action that is there",
      '{"name":"app","actions":[{"name":"ops","type":"email","emails":["a@b.example"]}],"alerts":[{"metric":"http.5xx","statistic":"sum","threshold":1}]}',
      'Add "action": "ops"',
      '{"name":"app","actions":[{"name":"ops","type":"email","emails":["a@b.example"]}],"alerts":[{"metric":"http.5xx","statistic":"sum","threshold":1, "action": "ops"}]}',
    ],
    [
      "a record's value is of its type",
      '{ "name": "app", "dns": { "a.example": [{ "name": "a.example", "type": "AAAA" }] } }',
      'Add "value": ["2001:db8::1"]',
      '{ "name": "app", "dns": { "a.example": [{ "name": "a.example", "type": "AAAA", "value": ["2001:db8::1"] }] } }',
    ],
    [
      "above the most",
      '{ "name": "app", "function": { "memory": 5000 } }',
      "Change to 3008",
      '{ "name": "app", "function": { "memory": 3008 } }',
    ],
    [
      "milliseconds for seconds",
      '{ "name": "app", "proxy": { "timeout": 20000 } }',
      "Change to 20",
      '{ "name": "app", "proxy": { "timeout": 20 } }',
    ],
    [
      "too much in quotes",
      '{ "name": "app", "function": { "memory": "9999" } }',
      "Change to 3008",
      '{ "name": "app", "function": { "memory": 3008 } }',
    ],
    [
      "into a section that is there",
      '{ "name": "app", "memory": 256, "function": { "warm": true } }',
      'Move it to "function"',
      '{ "name": "app", "function": { "warm": true, "memory": 256 } }',
    ],
    [
      "into one that is not, two levels down",
      '{ "name": "app", "jitter": true }',
      'Move it to "proxy.backoff"',
      '{ "name": "app", "proxy": { "backoff": { "jitter": true } } }',
    ],
    [
      "out of a section",
      '{ "name": "app", "function": { "memory": 256, "regions": ["eu-west-1"] } }',
      "Move it to the top level",
      '{ "name": "app", "regions": ["eu-west-1"], "function": { "memory": 256 } }',
    ],
    [
      "a section by its main setting",
      '{ "name": "app", "static": "public" }',
      'Change to { "dir": "public" }',
      '{ "name": "app", "static": { "dir": "public" } }',
    ],
    [
      "pairs of a list",
      '{ "name": "app", "environment": ["A=b", "C=d=e"] }',
      'Change to { "A": "b", "C": "d=e" }',
      '{ "name": "app", "environment": { "A": "b", "C": "d=e" } }',
    ],
    [
      "words of a list",
      '{ "name": "app", "cors": { "allowed_methods": "GET, PUT" } }',
      "Write it as a list",
      '{ "name": "app", "cors": { "allowed_methods": ["GET", "PUT"] } }',
    ],
    [
      "an address with a comma behind it",
      '{ "name": "app", "actions": [{ "name": "a", "type": "email", "emails": ["a@b.example,"] }] }',
      "Change to a@b.example",
      '{ "name": "app", "actions": [{ "name": "a", "type": "email", "emails": ["a@b.example"] }] }',
    ],
    ["no first bracket", '"name":"app","logs":{"stdout":"info"}}', "Add {", '{"name":"app","logs":{"stdout":"info"}}'],
    [
      "a semicolon between objects",
      '{ "name": "app", "actions": [{ "name": "a", "type": "email", "emails": ["a@b.example"] }; { "name": "b", "type": "email", "emails": ["a@b.example"] }] }',
      "Change to ,",
      '{ "name": "app", "actions": [{ "name": "a", "type": "email", "emails": ["a@b.example"] }, { "name": "b", "type": "email", "emails": ["a@b.example"] }] }',
    ],
    [
      "one bracket too many",
      '{"name":"app","regions":["eu-west-1"]],"logs":{"stdout":"info"}}',
      "Remove ]",
      '{"name":"app","regions":["eu-west-1"],"logs":{"stdout":"info"}}',
    ],
    [
      "one bracket too few",
      '{"name":"app","static":{"dir":"public","logs":{"stdout":"info"}}',
      "Add }",
      '{"name":"app","static":{"dir":"public"},"logs":{"stdout":"info"}}',
    ],
  ];
  for (const [name, text, title, fixed] of rows) {
    const fixes = checkConfig(text).problems.flatMap(fixesOf);
    const fix = fixes.find((one) => one.title === title && applyEdits(text, one.edits) === fixed);
    t.ok(fix, name, { offered: fixes.map((one) => [one.title, applyEdits(text, one.edits)]) });
  }
  t.end();
});

t.test("what fixes write", (t) => {
  const rows: [part: string, written: string][] = [
    ['"function": 512', '"function": { "memory": 512 }'],
    ['"proxy": "node x.js"', '"proxy": { "command": "node x.js" }'],
    ['"stages": { "beta": "b.example.com" }', '"stages": { "beta": { "domain": "b.example.com" } }'],
    ['"hooks": "make"', '"hooks": { "build": "make" }'],
    ['"cors": true', '"cors": { "enable": true }'],
    ['"logs": false', '"logs": { "disable": true }'],
    [
      '"inject": { "head": [{ "type": "inline script" }] }',
      '"inject": { "head": [{ "type": "inline script", "value": "console.log(1)" }] }',
    ],
    [
      '"inject": { "head": [{ "type": "inline style" }] }',
      '"inject": { "head": [{ "type": "inline style", "value": "body { margin: 0 }" }] }',
    ],
    [
      '"dns": { "a.com": [{ "name": "a.com", "type": "A", "value": ["192 0 2 1"] }] }',
      '"dns": { "a.com": [{ "name": "a.com", "type": "A", "value": ["192.0.2.1"] }] }',
    ],
    [
      '"dns": { "a.com": [{ "name": "a.com", "type": "A", "value": ["192.0.02.1"] }] }',
      '"dns": { "a.com": [{ "name": "a.com", "type": "A", "value": ["192.0.2.1"] }] }',
    ],
    [
      '"dns": { "a.com": [{ "name": "a.com", "type": "SRV" }] }',
      '"dns": { "a.com": [{ "name": "a.com", "type": "SRV", "value": ["1 10 5269 xmpp.example.com"] }] }',
    ],
    ['"regions": ["eu-west-1"]; "type": "server"', '"regions": ["eu-west-1"], "type": "server"'],
  ];
  for (const [part, written] of rows) {
    const text = `{ "name": "app", ${part} }`;
    const results = checkConfig(text)
      .problems.flatMap(fixesOf)
      .map(({ edits }) => applyEdits(text, edits));
    t.has(results, [`{ "name": "app", ${written} }`], part, { results });
  }
  // An escaped character counts as the one that it stands for; a name has its first character checked as well.
  t.same(checkConfig('{ "name": "app", "type": "\\u0073erver", "regions": ["\\u0065u-west-1"] }').problems, []);
  const [tag] = checkConfig('{ "name": "app", "tags": { "!team": "x" } }').problems;
  t.equal(tag?.code, "config/tag-name");
  t.end();
});

t.test("what only people know is a suggestion, the rest is not", (t) => {
  const rows: [text: string, isSuggestion: boolean][] = [
    ['{ "name": "app", "env": {} }', true],
    ['{ "name": "app", "tpye": "server" }', false],
    ['{ "name": "app", "type": "sever" }', false],
    ['{ "name": "app", "logs": { "stdout": "loud" } }', true],
    ['{ "name": "app", "function": { "memory": "512" } }', false],
    ['{ "name": "app", "function": { "memory": 64 } }', true],
    ['{ "name": "app", "regions": "eu-west-1" }', false],
    ['{ "name": "app", "hooks": { "build": null } }', false],
    ['{ "name": "app", "name": "other" }', true],
    ['{ "name": "app", "name": "app" }', false],
    ['{ "name": "app" }{"name":"b"}', true],
    ['{ "name": "app" } [1, 2, 3]', true],
    ['{ "name": "app" }] , {"x":1}', true],
    ['{ "name": "app" }]', false],
    ['{ "name": "app" },', false],
    ['{ "name": "app", "description": "caf\\u00e" }', true],
    ['{ "name": "app", "description": "\\ud83" }', true],
    ['{ "name": "app", "description": "C:\\users" }', false],
    ['{ "name": "app", "stages": { "production": { "domain": "example.com/v2" } } }', true],
    ['{ "name": "app", "stages": { "production": { "domain": "https://example.com:8080" } } }', true],
    ['{ "name": "app", "stages": { "production": { "domain": "https://example.com/" } } }', false],
  ];
  for (const [text, isSuggestion] of rows) {
    const [problem] = checkConfig(text).problems;
    t.equal(problem?.fix?.isSuggestion === true, isSuggestion, text);
    t.equal(fixAll(text).text === text, isSuggestion, `${text}: taken with all`);
  }
  t.end();
});
