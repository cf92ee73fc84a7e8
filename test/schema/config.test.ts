import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import t from "tap";
import { applyEdits, fixesOf, type Problem, renderProblem } from "../../grammar/problem.ts";
import { MAX_FILE_BYTES } from "../../runtime/middleware/static.ts";
import { MAX_SERVED_BYTES } from "../../schema/checks/site.ts";
import {
  type Config,
  checkConfig,
  type Directory,
  type DirectoryEntry,
  fixAll,
  forStage,
  inferRuntime,
  maskProblems,
  maskSecrets,
  migrateConfig,
  servesStatic,
  toolSchema,
  variableNameProblem,
  variableValueProblem,
  withDefaults,
} from "../../schema/index.ts";
import { MEMBERS, type NotificationMembers } from "../../schema/notification-members.ts";
import { timesAsLong } from "../support/processor-time.ts";
import { randomOf } from "../support/random.ts";
import { richConfig } from "../support/rich-config.ts";
import { runsOf } from "../support/runs.ts";
import { slow } from "../support/slow.ts";
import { recorderOf } from "../support/vectors.ts";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const corpus = join(root, "../shared/corpus/older-dialect");
const hasCorpus = existsSync(corpus);
const vectors: Vectors = JSON.parse(readFileSync(join(root, "test/vectors/config.json"), "utf8"));
const record = recorderOf("config.json", vectors);

/** Path to text, or to null for a directory. */
type Files = Record<string, string | null>;

interface Vectors {
  check: { name: string; text: string[]; files?: Files; problems: string[][] }[];
  defaults: {
    name: string;
    text: string[];
    env?: Record<string, string>;
    profileRegion?: string;
    command?: string;
    resolved: unknown;
  }[];
  stages: { name: string; text: string[]; stage: string; config: unknown }[];
  inference: {
    name: string;
    files: Files;
    config?: object;
    development?: boolean;
    missing?: string[];
    inference: unknown;
  }[];
  migration: { name: string; before: string[]; after: string[]; notes: string[] }[];
}

function directoryOf(files: Files): Directory {
  const clean = (path: string) => path.replace(/^(\.\/+)+/, "").replace(/\/+$/, "");
  return {
    kind(path) {
      const name = clean(path);
      if (name === "" || name === ".") return "directory";
      if (Object.hasOwn(files, name)) return files[name] === null ? "directory" : "file";
      return Object.keys(files).some((file) => file.startsWith(`${name}/`)) ? "directory" : undefined;
    },
    read: (path) => files[clean(path)] ?? undefined,
    readEnd: (path) => files[clean(path)] ?? undefined,
    list(path) {
      const name = clean(path);
      const prefix = name === "" || name === "." ? "" : `${name}/`;
      const entries = new Map<string, DirectoryEntry>();
      for (const [file, text] of Object.entries(files)) {
        const [entry = "", ...rest] = file.startsWith(prefix) ? file.slice(prefix.length).split("/") : [];
        if (entry === "") continue;
        const kind = rest.length > 0 || text === null ? "directory" : "file";
        entries.set(entry, { name: entry, kind });
      }
      return [...entries.values()];
    },
    size: (path) => Buffer.byteLength(files[clean(path)] ?? ""),
  };
}

const optionsOf = (files: Files | undefined) => (files ? { directory: directoryOf(files) } : {});
const isError = ({ severity }: Problem) => severity === "error";

t.test("included files that would be left out, or are damaged", (t) => {
  const part = (name: string) => JSON.stringify({ logs: { queries: { [name]: "status = 500" } } });
  const many = (count: number, path: (at: number) => string) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [path(at), part(`q${at}`)]));
  const problemsOf = (pattern: string, directory: Directory) =>
    checkConfig(JSON.stringify({ name: "app", logs: { include: [pattern] } }), { directory }).problems.map(
      ({ severity, code, message }) => `${severity} ${code} ${message}`,
    );
  const site = { "app.js": "" };
  const rows: readonly (readonly [pattern: string, files: Files, problems: readonly string[]])[] = [
    ["ops/*.json", many(100, (at) => `ops/${at}.json`), []],
    [
      "ops/*.json",
      many(101, (at) => `ops/${at}.json`),
      ['error config/too-many-files more than 100 files or folders match "ops/*.json"'],
    ],
    [
      "*/last.json",
      { ...many(101, (at) => `${at}/x.json`), "z/last.json": part("q") },
      [
        'error config/too-many-files more than 100 files or folders match "*/last.json"',
        'warning config/missing-file no file matches "*/last.json"',
      ],
    ],
    [
      "a.json",
      { "a.json": part("q").replace("status = 500", 'message = \\"caf\ufffd\\"') },
      ["error config/encoding a.json:1:41: the file is not UTF-8"],
    ],
  ];
  for (const [pattern, files, problems] of rows) {
    t.same(problemsOf(pattern, directoryOf({ ...files, ...site })), problems, pattern);
  }
  const directory = directoryOf({ "a.json": "", ...site });
  const unread: Directory = { ...directory, read: (path) => (path === "a.json" ? undefined : directory.read(path)) };
  t.same(problemsOf("a.json", unread), ['error config/missing-file the file "a.json" cannot be read']);
  t.end();
});

t.test("values of variables, and what looks like a secret elsewhere, are not shown", (t) => {
  const key = `sk_live_${"a".repeat(16)}`;
  const stars = "*".repeat(key.length);
  const url = "postgres://u:p4ss@db/app";
  const rows: [text: string, expected: string][] = [
    [
      '{"environment":{"A":"secret","B":"x\\"y"},"name":"secret"}',
      '{"environment":{"A":"******","B":"**"*"},"name":"secret"}',
    ],
    ['{"environment":{"A": 12, "B":{"C":"s"}}}', '{"environment":{"A": **, "B":{"C":"*"}}}'],
    ['{"environment":{"A": "secret', '{"environment":{"A": "******'],
    ['{"environment":{"A":\r\n "secret"\r\n}}', '{"environment":{"A":\r\n "******"\r\n}}'],
    ['{"environment":"A=secret"}', '{"environment":"********"}'],
    ['{"environment":{"A":"one"},"environment":{"B":"two"}}', '{"environment":{"A":"***"},"environment":{"B":"***"}}'],
    ['{"enviroment":{"A":"one"},"Env":{"A":"two"}}', '{"enviroment":{"A":"***"},"Env":{"A":"***"}}'],
    // A quote is missing: what follows is read as something else.
    ['{"environment":{"A":"x}, "B_C":"secret"}}', '{"environment":{"A":"*}, "B_C":"******"}}'],
    ["{environment:{A:secret}}", "{environment:{A:******}}"],
    ['{"actions":[{"name":"a","url":"http://x/secret"}]}', '{"actions":[{"name":"a","url":"***************"}]}'],
    // In headers, by form and by name; the scheme may be seen.
    [`{"headers":{"/*":{"X-Key":"${key}","X-A":"b"}}}`, `{"headers":{"/*":{"X-Key":"${stars}","X-A":"b"}}}`],
    ['{"headers":{"/*":{"Authorization":"Bearer abc"}}}', '{"headers":{"/*":{"Authorization":"Bearer ***"}}}'],
    ['{"headers":{"/*":{"X-Api-Key":"hunter2"}}}', '{"headers":{"/*":{"X-Api-Key":"*******"}}}'],
    [`{"headers":{"/*":{"Set-Cookie":"k=${key}; Path=/"}}}`, `{"headers":{"/*":{"Set-Cookie":"k=${stars}; Path=/"}}}`],
    ['{"headers":{"/*":{"Authorization":"Bearer \\u0061c"}}}', '{"headers":{"/*":{"Authorization":"Bearer *******"}}}'],
    // In commands, of stages and hooks too.
    ['{"proxy":{"command":"DB_PASSWORD=abc node a.js"}}', '{"proxy":{"command":"DB_PASSWORD=*** node a.js"}}'],
    [`{"hooks":{"build":["x ${url}"]}}`, `{"hooks":{"build":["x ${"*".repeat(url.length)}"]}}`],
    [
      '{"stages":{"production":{"proxy":{"command":"a --token \\"b c\\""}}}}',
      '{"stages":{"production":{"proxy":{"command":"a --token \\"***\\""}}}}',
    ],
    // In members that tool.json does not have, where another problem points.
    [`{"env":{"API_KEY":"abc","A":"${url}"}}`, `{"env":{"API_KEY":"***","A":"${"*".repeat(url.length)}"}}`],
    ['{"stages":{"x":{"environment":{"A":"abc"}}}}', '{"stages":{"x":{"environment":{"A":"***"}}}}'],
    ['{"name":"app","headers":[],"hooks":5}', '{"name":"app","headers":[],"hooks":5}'],
    ["[1", "[1"],
    ["", ""],
  ];
  for (const [text, expected] of rows) t.equal(maskSecrets(text), expected, text);
  t.end();
});

t.test("no problem quotes the value of a variable", (t) => {
  const rows = [
    '{"name":"a","environment":{"DB_KEY":"hunter2!"},"environment":{"B1":"1"}}',
    '{"name":"a","enviroment":{"DB_KEY":"hunter2!"}}',
    '{"name":"a","function":{"environment":{"DB_KEY":"hunter2!"}}}',
    '{"name":"a","stages":{"beta":{"env":{"DB_KEY":"hunter2!"}}}}',
    "{'name':'a','environment':{'DB_KEY':'hunter2!'}}",
    '{"name":"a","environment":{"DB_KEY":{"value":"hunter2!"}}}',
    '{"name":"a","environment":{"DB_KEY":["hunter2!"]}}',
    '{"name":"a","environment":{"DB_KEY":7272727272}}',
    '{"name":"a","environment":{"DB_KEY":"hunter2!}}',
    '{"name":"a","environment":{"DB_KEY":hunter2!}}',
    '{"name":"a","environment":["DB_KEY=hunter2!"]}',
    '{"name":"a","environment":"DB_KEY=hunter2!"}',
    '{"name":"a","environment":[{"name":"DB_KEY","value":"hunter2!"}]}',
    '{"name":"a","environment":{"A_B":"x}, "DB_KEY":"hunter2!"}}',
    '{"name":"a","environment":{"DB_KEY" "hunter2!"}}',
    '{"name":"a","environment":{"A_B":"hunter2!" "C_D":"hunter2!"}}',
    '{"name":"a","environment":{"DB_KEY":"hunter2!\\q"}}',
    '{"name":"a","actions":[{"name":"x","type":"chat","url":"http://host/hunter2!"}]}',
    "name: a\nenvironment:\n  DB_KEY: hunter2!\n",
    // Where a header repeats it.
    '{"name":"a","environment":{"DB_KEY":"hunter2!"},"headers":[{"for":"/*","headers":[{"key":"X-A","value":"hunter2!"}]}]}',
    '{"name":"a","environment":{"DB_KEY":"hunter2!"},"headers":[{"for":"/*","headers":{"X-A":"b hunter2!","x-a":"c"}}]}',
    '{"name":"a","environment":{"DB_KEY":"hunter2!"},"headers":{"/*":["X-A=hunter2!"]}}',
    // A secret by the name of its header.
    '{"name":"a","headers":[{"for":"/*","headers":[{"key":"X-Api-Key","value":"hunter2!"}]}]}',
  ];
  for (const text of rows) {
    const { problems } = checkConfig(text);
    t.ok(problems.length > 0, text);
    const options = { source: maskSecrets(text), file: "tool.json", columns: 300 };
    const output = maskProblems(text, problems)
      .flatMap((problem) => [renderProblem(problem, options), ...fixesOf(problem).map(({ title }) => title)])
      .concat(fixAll(text).notes)
      .join("\n");
    t.notMatch(output, /hunter2|72727/, text);
  }
  const [wrong] = maskProblems(
    '{"name":"A","environment":{"B":"1"}}',
    checkConfig('{"name":"A","environment":{"B":"1"}}').problems,
  );
  t.match(wrong!.message, /"A"/, "what is no value is quoted as before");
  for (const value of ["1", "true", "7272727272"]) {
    const text = `{"name":"a","environment":{"DB_KEY":${value}}}`;
    const [problem] = maskProblems(text, checkConfig(text).problems);
    t.equal(problem!.hint, "write it in quotes", `${value} is not to be replaced by asterisks`);
    t.equal(problem!.fix!.title, "Write it in quotes");
  }
  t.end();
});

t.test("rules in lists are offered as rules if nothing of them is lost", (t) => {
  const link = { key: "Link", value: "</a>" };
  const open = 'write { "/a": { ... } }';
  const rows: [section: string, rule: object | string, hint: string][] = [
    ["redirects", { from: "/a", to: "/b" }, 'write { "/a": { "location": "/b" } }'],
    [
      "redirects",
      { from: "/a", to: "/b", permanent: true, status: 308 },
      'write { "/a": { "location": "/b", "status": 308 } }',
    ],
    ["redirects", { from: "/a", to: "/b", permanent: true, status: 302 }, open],
    ["redirects", { from: "/a", to: "/b", permanent: "true" }, open],
    ["redirects", { from: "/a", to: "/b", status: "301" }, open],
    ["redirects", { from: "/a", source: "/c", to: "/b" }, open],
    ["redirects", { from: "/a", to: "/b", url: "/c" }, open],
    ["redirects", { from: "/a", to: "/b", statusCode: 301, status: 302 }, open],
    ["redirects", '{"from":"/a","to":"/b","from":"/c"}', open],
    ["redirects", { from: "__proto__", to: "/b" }, 'write { "__proto__": { "location": "/b" } }'],
    ["redirects", '{"from":"/a","to":"/b","__proto__":{}}', open],
    ["redirects", { from: "/a", to: "/b", constructor: 1 }, open],
    ["headers", { for: "/a", headers: [link] }, 'write { "/a": { "Link": "</a>" } }'],
    ["headers", { for: "/a", headers: [link, { key: "Link", value: "</b>" }] }, open],
    ["headers", { for: "/a", headers: [link, { key: "link", value: "</b>" }] }, open],
    ["headers", { for: "/a", headers: [{ ...link, has: [1] }] }, open],
    ["headers", { for: "/a", headers: [{ ...link, name: "X-A" }] }, open],
    ["headers", { for: "/a", headers: [null] }, open],
  ];
  for (const [section, rule, hint] of rows) {
    const text = `{"name":"a","${section}":[${typeof rule === "string" ? rule : JSON.stringify(rule)}]}`;
    const problem = checkConfig(text).problems.find(({ code }) => code === "config/type");
    t.equal(problem?.hint, hint, text);
    if (hint === open) t.same(fixesOf(problem!), [], text);
  }
  const [problem] = checkConfig('{"name":"a","headers":{"/*":["__proto__=x"]}}').problems;
  t.equal(problem?.hint, 'write { "__proto__": "x" }', "a name of an object's prototype");
  t.end();
});

t.test("names and values of variables, as the command line has them", (t) => {
  const rows: [name: string, code: string | undefined, message?: string, suggestion?: string][] = [
    ["API_KEY", undefined],
    ["a1", undefined],
    ["TOOLS", undefined],
    ["PORTS", undefined],
    ["AWS_REGION_2", undefined],
    ["PORT", "config/provided-variable", 'the tool sets "PORT" itself'],
    ["TOOL_STAGE", "config/provided-variable", 'the tool sets "TOOL_STAGE" itself'],
    [
      "TOOL_X",
      "config/provided-variable",
      'names that begin with TOOL_ are for the tool, and "TOOL_X" is one of them',
      "APP_X",
    ],
    [
      "TOOL_",
      "config/provided-variable",
      'names that begin with TOOL_ are for the tool, and "TOOL_" is one of them',
      "APP_VALUE",
    ],
    ["AWS_REGION", "config/reserved-variable", 'the function platform sets "AWS_REGION" itself', "APP_AWS_REGION"],
    ["AWS-REGION", "config/variable-name", '"AWS-REGION" is not a valid variable name', "APP_AWS_REGION"],
    ["A=1", "config/variable-name", '"A=1" is not a valid variable name', "APP_A"],
    ["X", "config/variable-name", '"X" is a name that the function platform refuses', "APP_X"],
    ["", "config/variable-name", '"" is not a valid variable name', "APP_VALUE"],
  ];
  for (const [name, code, message, suggestion] of rows) {
    const problem = variableNameProblem(name);
    t.same([problem?.code, problem?.message, problem?.suggestion], [code, message, suggestion], name);
    const [variableProblem] = checkConfig(JSON.stringify({ name: "app", environment: { [name]: "1" } })).problems;
    t.same(
      [variableProblem?.code, variableProblem?.message, variableProblem?.hint],
      [problem?.code, problem?.message, problem?.hint],
      `${name} in tool.json`,
    );
  }
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^_?(TOOL|AWS|PORT)[-_ =]?[A-Z_]{0,8}$/)), (name) => {
      const near = variableNameProblem(name)?.suggestion;
      return near === undefined || variableNameProblem(near) === undefined;
    }),
  );
  t.equal(variableValueProblem("API_KEY", ""), undefined);
  t.same(variableValueProblem("API_KEY", "hunter2!\0"), {
    code: "config/variable-value",
    message: 'the value of "API_KEY" contains a NUL character',
    hint: "remove it",
    suggestion: "hunter2!",
  });
  t.end();
});

t.test("the size of all variables together", (t) => {
  // Ours: {"TOOL_COMMIT":"<20>","TOOL_RESPONSE_MODE":"stream","AWS_LAMBDA_EXEC_WRAPPER":"<29>","TOOL_STAGE":"development"}
  const ours = 153;
  const rows: [name: string, environment: Record<string, unknown>, stages: string[], bytes: number][] = [
    ["one variable, at the limit", { BIG: "x".repeat(4096 - ours - 9) }, [], 4096],
    ["one variable, over it", { BIG: "x".repeat(4096 - ours - 8) }, [], 4097],
    ["three bytes each", { BIG: "€".repeat(1400) }, [], 4200 + ours + 9],
    ["what JSON escapes", { BIG: "\n".repeat(2000) }, [], 4000 + ours + 9],
    ["many", Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`A${100 + i}`, "1"])), [], 400 * 11 + ours],
    ["a longer stage", { BIG: "x".repeat(4096 - ours - 9) }, ["a-stage-of-22-letters-"], 4096 + 11],
    ["a slip beside it", { BIG: "x".repeat(4096 - ours - 8), N: null }, [], 4097],
  ];
  for (const [name, environment, stages, bytes] of rows) {
    const text = JSON.stringify({
      name: "app",
      environment,
      stages: Object.fromEntries(stages.map((stage) => [stage, {}])),
    });
    const sizeProblems = checkConfig(text).problems.filter(({ code }) => code === "config/variables-size");
    if (bytes <= 4096) {
      t.same(sizeProblems, [], name);
      continue;
    }
    t.equal(sizeProblems.length, 1, name);
    const count = String(bytes).replace(/(\d)(\d{3})$/, "$1,$2");
    t.equal(
      sizeProblems[0]?.message,
      `the variables take ${count} bytes with their names and the tool's own, and a function has 4,096 for them`,
    );
    t.match(
      sizeProblems[0]?.hint,
      /^move the largest to tool env, or into a file of the project: (BIG \(\d,\d{3} bytes\)|A\d+ \(1 bytes\), )/,
      name,
    );
    t.equal(text.slice(sizeProblems[0]!.span.start, sizeProblems[0]!.span.end), '"environment"');
  }
  t.end();
});

t.test("problems", (t) => {
  for (const row of vectors.check) {
    const source = row.text.join("\n");
    const { config, problems } = checkConfig(source, optionsOf(row.files));
    const rendered = problems.map((problem) => renderProblem(problem, { source, file: "tool.json" }));
    record(row, { problems: rendered.map((lines) => lines.split("\n")) });
    t.same(
      rendered,
      row.problems.map((lines) => lines.join("\n")),
      row.name,
    );
    t.equal(config === undefined, problems.some(isError), `${row.name}: a configuration unless there is an error`);
    t.same(sound(source, row.files), [], `${row.name}: spans and fixes are sound`);
  }
  t.end();
});

/** Returns the faults in the answer to a text: spans outside of it, an order that is none, fixes that do not fix. */
function sound(source: string, files?: Files): string[] {
  const { problems } = checkConfig(source, optionsOf(files));
  const wrong: string[] = [];
  for (const [i, { span, message }] of problems.entries()) {
    if (!(0 <= span.start && span.start <= span.end && span.end <= source.length)) wrong.push(`span of ${message}`);
    if (i > 0 && problems[i - 1]!.span.start > span.start) wrong.push(`order of ${message}`);
    if (/[\n\r]/.test(message)) wrong.push(`line break in ${message}`);
  }
  for (const problem of problems) {
    if (problem.fix === undefined) continue;
    const fixed = applyEdits(source, problem.fix.edits);
    // The directory that this fix names is the user's to make, and the next warning says so.
    const isAnnounced = (code: string) => problem.code === "config/static-root" && code === "config/missing-directory";
    const after = checkConfig(fixed, optionsOf(files)).problems.filter(({ code }) => !isAnnounced(code));
    // Messages of others may quote the text that was fixed; what they are about stays.
    const codes = problems.map(({ code }) => code);
    codes.splice(codes.indexOf(problem.code), 1);
    if (after.length >= problems.length) wrong.push(`${name(problem)} is not fixed by ${problem.fix.title}`);
    for (const other of after) {
      const at = codes.indexOf(other.code);
      if (at < 0) wrong.push(`${problem.fix.title} adds ${name(other)}`);
      else codes.splice(at, 1);
    }
  }
  return wrong;
}

function name({ code, message }: Problem): string {
  return `${code}: ${message}`;
}

/** A part of a file beside its name, and the same after the first fix of its first problem. */
const FIRST_FIXES: readonly (readonly [part: string, after: string, files?: Files])[] = [
  // A needed setting under another name keeps its value.
  [
    '"actions": [{ "name": "a", "type": "sms", "phones": ["+12125550123"] }]',
    '"actions": [{ "name": "a", "type": "sms", "numbers": ["+12125550123"] }]',
  ],
  [
    '"actions": [{ "name": "a", "kind": "email", "emails": ["a@b.example"] }]',
    '"actions": [{ "name": "a", "type": "email", "emails": ["a@b.example"] }]',
  ],
  [
    '"dns": { "b.example": [{ "name": "b.example", "record": "A", "value": ["192.0.2.1"] }] }',
    '"dns": { "b.example": [{ "name": "b.example", "type": "A", "value": ["192.0.2.1"] }] }',
  ],
  [
    '"logs": { "notifications": { "a": { "type": "sms", "phones": ["+12125550123"] } } }',
    '"logs": { "notifications": { "a": { "type": "sms", "sms_numbers": ["+12125550123"] } } }',
  ],
  [
    '"logs": { "notifications": { "a": { "type": "webhook", "url": "$HOOK" } } }',
    '"logs": { "notifications": { "a": { "type": "webhook", "webhook_url": "$HOOK" } } }',
  ],
  [
    '"logs": { "notifications": { "a": { "type": "pagerduty", "routing": "$PAGERDUTY_KEY" } } }',
    '"logs": { "notifications": { "a": { "type": "pagerduty", "pagerduty_service_key": "$PAGERDUTY_KEY" } } }',
  ],
  [
    '"redirects": { "/a": { "goto": "/b", "status": 301 } }',
    '"redirects": { "/a": { "location": "/b", "status": 301 } }',
  ],
  // Near names of folders and files, where they are.
  ['"static": { "dir": "pubic" }', '"static": { "dir": "public" }', { "public/index.html": "" }],
  [
    '"type": "static", "static": { "dir": "web/dits" }',
    '"type": "static", "static": { "dir": "web/dist" }',
    { "web/dist/index.html": "" },
  ],
  ['"static": { "dir": "web/page.html" }', '"static": { "dir": "web" }', { "web/page.html": "" }],
  [
    '"inject": { "head": [{ "type": "inline script", "file": "snipets/trakc.js" }] }',
    '"inject": { "head": [{ "type": "inline script", "file": "snippets/track.js" }] }',
    { "snippets/track.js": "x()" },
  ],
  // Regions that differ in the number.
  ['"regions": ["us-west-9"]', '"regions": ["us-west-1"]'],
  ['"regions": ["ap-southeast-12"]', '"regions": ["ap-southeast-1"]'],
  // Stages by what they are called elsewhere.
  ['"logs": { "queries": { "q": "stage = prod" } }', '"logs": { "queries": { "q": "stage = production" } }'],
  [
    '"logs": { "queries": { "q": "error and stage = stg" } }',
    '"logs": { "queries": { "q": "error and stage = staging" } }',
  ],
  // An origin without its scheme: this machine and addresses have no certificate, whatever begins like them has.
  ...[
    ["localhost:3000", "http"],
    ["app.localhost", "http"],
    ["10.0.0.1:8080", "http"],
    ["127.0.0.1.example.com", "https"],
    ["localhost.example.com", "https"],
    ["1password.com", "https"],
  ].map(
    ([origin, scheme]) =>
      [`"cors": { "allowed_origins": ["${origin}"] }`, `"cors": { "allowed_origins": ["${scheme}://${origin}"] }`] as [
        string,
        string,
      ],
  ),
  // Fields of the tool's own entries.
  ['"logs": { "queries": { "q": "statsu >= 500" } }', '"logs": { "queries": { "q": "status >= 500" } }'],
  ['"logs": { "queries": { "q": "not (levl = error)" } }', '"logs": { "queries": { "q": "not (level = error)" } }'],
  [
    '"logs": { "queries": { "q": "error and methhod in (GET, PUT)" } }',
    '"logs": { "queries": { "q": "error and method in (GET, PUT)" } }',
  ],
  // Other slips.
  ['"logs": { "queries": { "q": "level = eror" } }', '"logs": { "queries": { "q": "level = error" } }'],
  ['"logs": { "queries": { "q": "error adn production" } }', '"logs": { "queries": { "q": "error and production" } }'],
  [
    '"logs": { "queries": { "q": "oders > 5" } }',
    '"logs": { "queries": { "q": "orders > 5" } }',
    { ".tool/development.ndjson": '{"level":"info","message":"","fields":{"orders":1}}' },
  ],
  // Stages of queries.
  ['"logs": { "queries": { "q": "error | limit x" } }', '"logs": { "queries": { "q": "error | limit 10" } }'],
  ['"logs": { "queries": { "q": "error | limit -5" } }', '"logs": { "queries": { "q": "error | limit 5" } }'],
  [
    '"logs": { "queries": { "q": "error | sort dsc" } }',
    '"logs": { "queries": { "q": "error | sort timestamp desc" } }',
  ],
  [
    '"logs": { "queries": { "q": "error | sort path, asc" } }',
    '"logs": { "queries": { "q": "error | sort path asc" } }',
  ],
  [
    '"logs": { "queries": { "q": "error | sort duration dsc" } }',
    '"logs": { "queries": { "q": "error | sort duration desc" } }',
  ],
  [
    '"logs": { "queries": { "q": "error | sort size acs" } }',
    '"logs": { "queries": { "q": "error | sort size asc" } }',
  ],
  [
    '"logs": { "queries": { "q": "error | stats avg duration" } }',
    '"logs": { "queries": { "q": "error | stats avg(duration)" } }',
  ],
  [
    '"logs": { "queries": { "q": "error | stats max(size by path" } }',
    '"logs": { "queries": { "q": "error | stats max(size) by path" } }',
  ],
  [
    '"logs": { "queries": { "q": "error | wher duration > 1s" } }',
    '"logs": { "queries": { "q": "error | where duration > 1s" } }',
  ],
  ['"logs": { "queries": { "q": "error | top x path" } }', '"logs": { "queries": { "q": "error | top 10 path" } }'],
  // Secrets.
  ['"headers": { "/*": { "X-Api-Key": "AKIAIOSFODNN7EXAMPLE", "A": "b" } }', '"headers": { "/*": { "A": "b" } }'],
  ['"headers": { "/*": { "A": "b", "Authorization": "Bearer abc.def" } }', '"headers": { "/*": { "A": "b" } }'],
  [
    '"proxy": { "command": "DB_PASSWORD=hunter22 node ." }',
    '"proxy": { "command": "DB_PASSWORD=$DB_PASSWORD node ." }',
  ],
  [
    `"hooks": { "build": "x --token 'sk_live_9aXb27cQ41mZt8LpR05w'" }`,
    '"hooks": { "build": "x --token \\"$TOKEN\\"" }',
  ],
  ['"environment": { "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG", "A": "b" }', '"environment": { "A": "b" }'],
  ['"environment": { "AWS_SESSION_TOKEN": "FwoGZXIvYXdzEBYaD" }', '"environment": {}'],
  // A setting hides another, or does too much.
  ['"type": "static", "proxy": { "command": "node ." }', '"type": "server", "proxy": { "command": "node ." }'],
  ['"function": { "warm": false, "warm_count": 5 }', '"function": { "warm": true, "warm_count": 5 }'],
  [
    '"stages": { "beta": { "function": { "warm": false, "warm_count": 3 } } }',
    '"stages": { "beta": { "function": { "warm": true, "warm_count": 3 } } }',
  ],
  [
    '"stages": { "production": { "domain": "a.example.com" } }, "redirects": { "/x": { "location": "https://A.example.com/y?z", "status": 301 } }',
    '"stages": { "production": { "domain": "a.example.com" } }, "redirects": { "/x": { "location": "/y?z", "status": 301 } }',
  ],
  [
    '"stages": { "production": { "domain": "a.example.com" } }, "redirects": { "/*": { "location": "https://a.example.com/:splat", "status": 302 } }',
    '"stages": { "production": { "domain": "a.example.com" } }, "redirects": {}',
  ],
  [
    '"function": { "policy": [{ "Effect": "Allow", "Action": ["*"], "Resource": "*" }] }',
    '"function": { "policy": [{ "Effect": "Allow", "Action": ["s3:GetObject"], "Resource": "*" }] }',
  ],
  // Any text could be a name, but not any key means one.
  [
    '"actions": [{ "type": "email", "emails": ["a@example.com"], "id": "ops" }]',
    '"actions": [{ "type": "email", "emails": ["a@example.com"], "name": "ops" }]',
  ],
  // Loops.
  [
    '"redirects": { "/a": { "location": "/b", "status": 301 }, "/b": { "location": "/a", "status": 301 } }',
    '"redirects": { "/a": { "location": "/b", "status": 301 } }',
  ],
  ['"redirects": { "/a": { "location": "/a", "status": 302 } }', '"redirects": {}'],
  // Identifiers.
  [
    '"function": { "vpc": { "subnets": ["subnet-1"], "security_groups": ["sg-0a1b2c3d"] } }',
    '"function": { "vpc": { "subnets": ["subnet-0123456789abcdef0"], "security_groups": ["sg-0a1b2c3d"] } }',
  ],
  [
    '"function": { "vpc": { "subnets": [" SUBNET_0a1b2c3d"], "security_groups": ["sg-0a1b2c3d"] } }',
    '"function": { "vpc": { "subnets": ["subnet-0a1b2c3d"], "security_groups": ["sg-0a1b2c3d"] } }',
  ],
  [
    '"function": { "vpc": { "subnets": ["subnet-0a1b2c3d"], "security_groups": ["0a1b2c3d"] } }',
    '"function": { "vpc": { "subnets": ["subnet-0a1b2c3d"], "security_groups": ["sg-0a1b2c3d"] } }',
  ],
  [
    '"function": { "vpc": { "subnets": ["subnet-0a1b2c3d", "subnet-0a1b2c3d"], "security_groups": ["sg-0a1b2c3d"] } }',
    '"function": { "vpc": { "subnets": ["subnet-0a1b2c3d"], "security_groups": ["sg-0a1b2c3d"] } }',
  ],
  ['"function": { "role": "deployer" }', '"function": { "role": "arn:aws:iam::123456789012:role/deployer" }'],
  [
    '"function": { "role": "aws:iam::999999999999:role/app" }',
    '"function": { "role": "arn:aws:iam::999999999999:role/app" }',
  ],
  [
    '"regions": ["eu-west-1"], "function": { "layers": ["fonts"] }',
    '"regions": ["eu-west-1"], "function": { "layers": ["arn:aws:lambda:eu-west-1:123456789012:layer:fonts:1"] }',
  ],
  [
    '"regions": ["eu-west-1"], "function": { "layers": ["arn:aws:lambda:us-west-2:123456789012:layer:fonts:3"] }',
    '"regions": ["eu-west-1"], "function": { "layers": ["arn:aws:lambda:eu-west-1:123456789012:layer:fonts:3"] }',
  ],
  [
    '"function": { "policy": [{ "Effect": "Allow", "Action": "s3:GetObject", "Resource": "images" }] }',
    '"function": { "policy": [{ "Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::images/*" }] }',
  ],
];

t.test("what is offered first is what was meant", (t) => {
  for (const [part, after, files] of FIRST_FIXES) {
    const source = `{ "name": "app", ${part} }`;
    const [fix] = checkConfig(source, optionsOf(files)).problems.flatMap(fixesOf);
    t.equal(fix && applyEdits(source, fix.edits), `{ "name": "app", ${after} }`, part);
    t.same(sound(source, files), [], `${part}: fixes are sound`);
  }
  t.end();
});

t.test("no other setting is taken for one that is missing", (t) => {
  const rows = [
    // Any word could be the name of an app.
    '{ "runtime": "nodejs" }',
    '{ "name": "app", "actions": [{ "name": "a", "type": "sms", "note": "call me" }] }',
    '{ "name": "app", "alerts": [{ "metric": "http.5xx", "statistic": "sum", "threshold": 1, "note": "night" }] }',
    '{ "name": "app", "logs": { "notifications": { "a": { "type": "pagerduty", "note": "call me" } } } }',
    '{ "name": "app", "logs": { "notifications": { "a": { "type": "sms", "note": "call me" } } } }',
    '{ "name": "app", "redirects": { "/a": { "note": "moved", "status": 301 } } }',
  ];
  for (const text of rows) {
    const { problems } = checkConfig(text);
    t.ok(
      problems.some(({ code }) => code === "config/missing-key"),
      `${text}: is missing`,
    );
    const titles = problems.flatMap(fixesOf).map(({ title }) => title);
    t.same(
      titles.filter((title) => title.startsWith("Change to")),
      [],
      text,
    );
  }
  t.end();
});

t.test("an empty file, or one of blanks, can be begun by its fix", (t) => {
  for (const text of ["", " \n\t\n", "\ufeff"]) {
    const [fix] = checkConfig(text).problems.flatMap(fixesOf);
    t.equal(fix && applyEdits(text, fix.edits), '{ "name": "app" }\n', JSON.stringify(text));
    t.equal(fix?.isSuggestion, true, "the name is the user's");
  }
  t.end();
});

t.test("fields of apps are no slips", (t) => {
  for (const name of [
    "state",
    "paths",
    "levels",
    "statuses",
    "messages",
    "pat",
    "user.staus",
    "sizes",
    "host",
    "version2",
    "times",
    "querying",
    "Status",
  ]) {
    t.same(checkConfig(JSON.stringify({ name: "app", logs: { queries: { q: `${name} = 5` } } })).problems, [], name);
  }
  t.end();
});

t.test("a direction that is the name of a column, or after one, is no mistake", (t) => {
  for (const query of [
    "error | sort path desc",
    "error | sort description",
    "error | count by asc | sort asc",
    "error | sort desc_order",
  ]) {
    t.same(checkConfig(JSON.stringify({ name: "app", logs: { queries: { q: query } } })).problems, [], query);
  }
  t.end();
});

t.test("defaults", (t) => {
  for (const row of vectors.defaults) {
    const { config } = checkConfig(row.text.join("\n"));
    const { env = {}, profileRegion, command } = row;
    const resolved = withDefaults(config!, { env, profileRegion, command });
    record(row, { resolved });
    // As text, so that the order of the keys counts.
    t.equal(JSON.stringify(resolved, null, 2), JSON.stringify(row.resolved, null, 2), row.name);
  }
  t.end();
});

t.test("what config prints is what validate takes", (t) => {
  const texts = [
    ...vectors.check.map(({ text }) => text.join("\n")),
    ...vectors.defaults.map(({ text }) => text.join("\n")),
    ...vectors.stages.map(({ text }) => text.join("\n")),
    ...(hasCorpus
      ? readdirSync(corpus).map((file) => migrateConfig(readFileSync(join(corpus, file), "utf8")).text)
      : []),
    ...Array.from({ length: 30 }, (_, seed) => richConfig(randomOf(seed))),
  ];
  let count = 0;
  for (const text of texts) {
    const { config } = checkConfig(text);
    if (config === undefined) continue;
    for (const options of [
      { env: {} },
      { env: { CLOUD_REGION: "eu-central-1", CLOUD_PROFILE: "work" }, command: "node app.js" },
    ]) {
      const resolved = withDefaults(config, options);
      const printed = JSON.stringify(resolved, null, 2);
      const again = checkConfig(printed);
      t.same(again.problems.filter(isError).map(name), [], `${text.slice(0, 300)} printed as ${printed.slice(0, 60)}`);
      if (again.config === undefined) continue;
      // Nothing is warned of that was not, and the same files are served.
      const directory = optionsOf(
        resolved.type === "static" ? { "index.html": "" } : { "app.js": "", "index.html": "" },
      );
      const before = checkConfig(text, directory).problems.map(({ code }) => code);
      // The specification's defaults for CORS are a pair that is warned of if it is written.
      const expectedCodes = [...before, "config/credentials-for-any-origin"];
      const warnings = checkConfig(printed, directory).problems.filter(({ code }) => !expectedCodes.includes(code));
      t.same(warnings.map(name), [], `${text.slice(0, 300)}: new warnings`);
      t.equal(servesStatic(withDefaults(again.config, { env: {} })), servesStatic(resolved), text.slice(0, 300));
      // Also where neither the environment nor marker files say it again.
      t.same(
        JSON.parse(JSON.stringify(withDefaults(again.config, { env: {} }))),
        JSON.parse(printed),
        text.slice(0, 300),
      );
      count++;
    }
  }
  t.ok(count > 200, `${count} configurations`);
  t.end();
});

t.test("the command that the files stand for, and its file", (t) => {
  const row = (files: Files, text = '{ "name": "app" }') =>
    checkConfig(text, optionsOf(files)).problems.map((one) => `${name(one)}: ${one.hint}`);
  const node = (more: object) => JSON.stringify({ name: "app", ...more });
  t.same(row({ "package.json": node({}), "main.js": "" }), [
    'config/missing-program: "package.json" stands for "node app.js", and there is no "app.js": say what starts the server: "proxy": { "command": "node main.js" }',
  ]);
  t.same(row({ "requirements.txt": "flask", "run.py": "" }), [
    'config/missing-program: "requirements.txt" stands for "python app.py", and there is no "app.py": say what starts the server: "proxy": { "command": "python run.py" }',
  ]);
  t.same(row({ "package.json": node({}), "index.mjs": "" }, '{ "name": "app", "proxy": {} }'), [
    'config/missing-program: "package.json" stands for "node app.js", and there is no "app.js": say what starts the server: "command": "node index.mjs" in "proxy"',
  ]);
  for (const [files, text] of [
    [{ "package.json": "{}", "app.js": "" }],
    [{ "package.json": "{}", "server.js": "" }],
    [{ "package.json": node({ main: "index.js" }), "index.js": "" }],
    [{ "package.json": node({ main: "src/go.mjs" }), "src/go.mjs": "" }],
    [{ "package.json": node({ scripts: { start: "node index.js" } }) }],
    [{ "package.json": node({ scripts: { build: "tsc" } }) }],
    [{ "requirements.txt": "", "app.py": "" }],
    [{ "requirements.txt": "flask", "main.py": "" }],
    [{ "main.go": "" }],
    [{ "pom.xml": "" }],
    [{ "package.json": "{}", "index.js": "" }, '{ "name": "app", "proxy": { "command": "node index.js" } }'],
    [{ "package.json": "{}" }, '{ "name": "app", "hooks": { "build": "make app.js" } }'],
    [{ "package.json": "{}", "index.html": "", ".toolignore": "package.json" }, '{ "name": "app", "type": "static" }'],
  ] as [Files, string?][]) {
    t.same(row(files, text), [], JSON.stringify([files, text]));
  }
  t.end();
});

t.test("the files of a server app's static directory", (t) => {
  const text = '{ "name": "app", "static": { "dir": "public" } }';
  const large = "x".repeat(MAX_FILE_BYTES + 1);
  const row = (files: Files) =>
    checkConfig(text, optionsOf({ "app.js": "", ...files })).problems.map((one) => `${one.severity} ${name(one)}`);
  t.same(row({ "public/a.bin": large }), [
    'warning config/file-size: "public/a.bin" has 6291457 bytes, a served file at most 6291456 (6 MB)',
  ]);
  t.same(row({ "public/a.bin": large.slice(1), "other/a.bin": large }), [], "the very limit, and another folder");
  t.end();
});

t.test("a static site's files", (t) => {
  const text = '{ "name": "app", "type": "static", "static": { "dir": "public" } }';
  const row = (files: Files) => checkConfig(text, optionsOf(files)).problems.map(name);
  const large = "x".repeat(MAX_FILE_BYTES + 1);
  t.equal(MAX_SERVED_BYTES, MAX_FILE_BYTES, "one limit");
  t.same(row({ "public/a.bin": "x".repeat(MAX_FILE_BYTES) }), [], "the very limit");
  t.same(row({ "public/a.bin": large }), [
    'config/file-size: "public/a.bin" has 6291457 bytes, a served file at most 6291456 (6 MB)',
  ]);
  t.same(row({ "public/a/b.bin": large, "public/c.bin": `${large}x`, "public/d.txt": "" }), [
    'config/file-size: "public/c.bin" has 6291458 bytes, a served file at most 6291456 (6 MB), and 1 more like it',
  ]);
  t.same(row({ "public/a.bin": large, "public/b.txt": "", ".toolignore": "*.bin" }), [], "one that is left out");
  t.same(row({ "public/.a.bin": large, "public/b.txt": "" }), [], "a dotfile");
  t.same(row({ "source/a.bin": large, "public/b.txt": "" }), [], "one beside the folder");
  const server = '{ "name": "app", "static": { "dir": "public" }, "proxy": { "command": "./server" } }';
  const severities = checkConfig(server, optionsOf({ "public/a.bin": large })).problems.map(({ severity }) => severity);
  t.same(severities, ["warning"], "a server may be asked for other things only");
  t.end();
});

t.test("whether static files are served", (t) => {
  const rows: [string, boolean][] = [
    [`{ "name": "app" }`, false],
    [`{ "name": "app", "static": {} }`, true],
    [`{ "name": "app", "type": "static" }`, true],
  ];
  for (const [text, expected] of rows) {
    const resolved = withDefaults(checkConfig(text).config!, { env: {} });
    t.equal(servesStatic(resolved), expected, text);
    t.equal(servesStatic(forStage(resolved, "staging")), expected, `${text} for a stage`);
  }
  t.end();
});

t.test("stages", (t) => {
  for (const row of vectors.stages) {
    const { config } = checkConfig(row.text.join("\n"));
    const before = JSON.stringify(config);
    const { stages: _stages, ...rest } = forStage(config!, row.stage);
    record(row, { config: rest });
    t.same(rest, row.config, row.name);
    t.equal(JSON.stringify(config), before, `${row.name}: nothing is changed in place`);
  }
  t.end();
});

t.test("stages of a resolved configuration", (t) => {
  const text = `{ "name": "app", "hooks": { "build": "a", "clean": "b" }, "stages": { "production": { "hooks": { "build": "c" }, "function": { "memory": 1024 } } } }`;
  const resolved = forStage(withDefaults(checkConfig(text).config!, { env: {} }), "production");
  t.same(resolved.hooks, { build: ["c"], clean: ["b"] });
  t.equal(resolved.function.memory, 1024);
  t.equal(resolved.function.timeout, 30, "what is derived stays");
  t.end();
});

t.test("inference", (t) => {
  for (const row of vectors.inference) {
    const config = { name: "app", ...row.config } as Config;
    const missing = row.missing ?? [];
    const inference = inferRuntime(directoryOf(row.files), config, {
      development: row.development ?? false,
      hasCommand: (command) => !missing.includes(command),
    });
    record(row, { inference });
    t.same(JSON.parse(JSON.stringify(inference)), row.inference, row.name);
  }
  t.end();
});

t.test("migration", (t) => {
  for (const row of vectors.migration) {
    const before = row.before.join("\n");
    const { text, notes } = migrateConfig(before);
    record(row, { after: text.split("\n"), notes });
    t.same({ text: text.split("\n"), notes }, { text: row.after, notes: row.notes }, row.name);
    t.same(migrateConfig(text), { text, notes: [] }, `${row.name}: once is enough`);
    const old = checkConfig(text).problems.filter(({ code }) => code.startsWith("config/deprecated-"));
    t.same(old, [], `${row.name}: nothing of the older dialect is left`);
  }
  t.end();
});

if (!hasCorpus && process.env.TOOL_TEST_REQUIRE === "all") t.fail(`no corpus at ${corpus}`);
t.test("real files in the older dialect", { skip: hasCorpus ? false : `no corpus at ${corpus}` }, (t) => {
  const files = readdirSync(corpus).filter((file) => file.endsWith(".json"));
  t.ok(files.length >= 44, `${files.length} files`);
  for (const file of files) {
    const source = readFileSync(join(corpus, file), "utf8");
    const others = checkConfig(source).problems.filter(({ code }) => !code.startsWith("config/deprecated-"));
    t.same(others.map(name), [], `${file} has only the dialect's problems`);
    const { text, notes } = migrateConfig(source);
    t.same(checkConfig(text).problems.map(name), [], `${file} migrated has none`);
    t.equal(text === source, notes.length === 0, `${file} is changed where a note says so`);
    t.equal(text.split("\n").length <= source.split("\n").length, true, `${file} keeps its lines`);
    t.same(sound(source), [], `${file}: spans and fixes are sound`);
  }
  t.end();
});

const valid = vectors.check.filter(({ problems }) => problems.length === 0).map(({ text }) => text.join("\n"));
const all = vectors.check.map(({ text }) => text.join("\n")).filter((text) => text.length < 4000);

t.test("never throws, and what it says is sound, on any text", slow(), (t) => {
  const pieces = fc.constantFrom(
    ..."{}[]:,\"'\\/*\n\t 0-.eé😀".split(/(?:)/u),
    ...['"name": "app"', '"redirects"', '"lambda"', '"/a/:x"', '"location"', '"\\u0041"', "null", "true", "//"],
  );
  const texts = fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(texts, (text) => {
      const wrong = sound(text);
      if (wrong.length > 0) throw new Error(wrong.join("; "));
    }),
    { seed: 1, numRuns: runsOf(400) },
  );
  t.end();
});

t.test("never throws, and what it says is sound, on damaged files", slow(), (t) => {
  const cut = fc.record({
    source: fc.constantFrom(...all),
    at: fc.nat(),
    length: fc.nat(6),
    put: fc.constantFrom("", '"', "{", "}", "]", ",", ":", "x", "5", "\\", "null", "*", "é"),
  });
  fc.assert(
    fc.property(cut, ({ source, at, length, put }) => {
      const from = at % (source.length + 1);
      const text = source.slice(0, from) + put + source.slice(from + length);
      const { problems } = checkConfig(text);
      for (const { span } of problems) {
        if (span.start < 0 || span.end < span.start || span.end > text.length) throw new Error(`span outside: ${text}`);
      }
      for (const problem of problems) {
        // The fixes of the languages inside strings are their own tests' affair.
        if (problem.fix === undefined || !problem.code.startsWith("config/")) continue;
        const fixed = checkConfig(applyEdits(text, problem.fix.edits), { triesFixes: false }).problems;
        const left = fixed.filter(({ code }) => code === problem.code).length;
        const had = problems.filter(({ code }) => code === problem.code).length;
        if (left >= had) throw new Error(`${problem.fix.title} does not fix ${name(problem)} in ${text}`);
      }
      migrateConfig(text);
    }),
    { seed: 2, numRuns: runsOf(500) },
  );
  t.end();
});

t.test("migration leaves nothing of the older dialect and adds no problem", (t) => {
  const member = (names: string[], value: fc.Arbitrary<string>) =>
    fc.tuple(fc.constantFrom(...names), value).map(([key, text]) => `"${key}": ${text}`);
  const object = (members: fc.Arbitrary<string>) =>
    fc
      .tuple(fc.array(members, { maxLength: 4 }), fc.constantFrom(" ", "\n  ", ""))
      .map(([parts, blank]) => `{${parts.map((part) => blank + part).join(",")}${blank}}`);
  const scalar = fc.constantFrom("128", "true", '"x"', "null");
  const settings = fc.oneof(object(member(["memory", "warm", "runtime", "timeout"], scalar)), scalar);
  const toggles = object(member(["enable", "disable", "dir"], fc.constantFrom("true", "false", '"true"')));
  const stage = object(member(["lambda", "function"], settings));
  const section = fc.oneof(
    member(["lambda", "function"], settings),
    member(["logs", "error_pages"], toggles),
    member(["stages"], object(member(["production", "beta"], stage))),
  );
  fc.assert(
    fc.property(object(section), (text) => {
      const count = (source: string) => {
        const codes = checkConfig(source, { triesFixes: false }).problems.map(({ code }) => code);
        return { old: codes.filter((code) => code.startsWith("config/deprecated-")).length, all: codes.length };
      };
      const migrated = migrateConfig(text);
      const before = count(text);
      const after = count(migrated.text);
      // Members that cannot be migrated (an "enable" that is no boolean, a "lambda" that is no object) stay, and are told.
      if (after.old > 0 && migrateConfig(migrated.text).text !== migrated.text) throw new Error(`not at once: ${text}`);
      if (after.all > before.all) throw new Error(`${before.all} problems became ${after.all}: ${text}`);
      if (before.old > 0 && migrated.notes.length === 0 && migrated.text !== text) throw new Error(`unsaid: ${text}`);
    }),
    { seed: 3, numRuns: 2000 },
  );
  t.end();
});

t.test("one wrong value in a valid file is one problem at that value", (t) => {
  for (const text of valid) {
    const value: Config = JSON.parse(text.replace(/^\ufeff/, ""));
    for (const section of Object.keys(value)) {
      if (section === "actions" || section === "name" || section === "$schema") continue;
      const broken = JSON.stringify({ ...value, [section]: 7 });
      const errors = checkConfig(broken, { triesFixes: false }).problems.filter(isError);
      t.same(
        errors.map(({ span }) => broken.slice(span.start, span.end)),
        ["7"],
        broken.slice(0, 100),
      );
    }
  }
  t.end();
});

const HOSTILE_SIZE = 480_000;
/** Eight times the text takes eight times as long or a little more; by the square of its length it would be 64. */
const MOST_TIMES = 24;

t.test("hostile texts are answered at once", (t) => {
  const rows: [title: string, text: (size: number) => string][] = [
    ["brackets", (size) => "[".repeat(size)],
    ["objects", (size) => '{"a":'.repeat(size / 2)],
    ["words", (size) => "a ".repeat(size)],
    ["comments", (size) => "/**/ ".repeat(size / 5)],
    ["quotes", (size) => '"'.repeat(size)],
    ["duplicate keys", (size) => `{"name":"app",${'"x":1,'.repeat(size / 5)}"y":1}`],
    [
      "a megabyte of variables",
      (size) =>
        JSON.stringify({
          name: "app",
          environment: Object.fromEntries(Array.from({ length: size / 12 }, (_, i) => [`A${i}`, "value"])),
        }),
    ],
  ];
  for (const [title, text] of rows) {
    const [whole, part] = [text(HOSTILE_SIZE), text(HOSTILE_SIZE / 8)];
    const times = timesAsLong(
      () => checkConfig(whole),
      () => checkConfig(part),
      MOST_TIMES,
    );
    t.ok(times < MOST_TIMES, `${title}: eight times the text takes ${times.toFixed(1)} times as long`);
  }
  t.end();
});

t.test("every property of the schema is documented", (t) => {
  interface Part {
    $ref?: string;
    type?: unknown;
    description?: string;
    markdownDescription?: string;
    examples?: unknown[];
    properties?: Record<string, Part>;
    additionalProperties?: boolean | Part;
    items?: Part;
    definitions?: Record<string, Part>;
  }
  const walk = (part: Part, path: string) => {
    for (const [key, inner] of Object.entries(part.properties ?? {})) {
      const at = `${path}.${key}`;
      if (inner.$ref === undefined) {
        t.ok(inner.description && inner.markdownDescription && inner.examples?.length, at);
      }
      walk(inner, at);
    }
    if (part.type === "object" && part.properties !== undefined) {
      const open = part.additionalProperties === true;
      t.equal(open, path === "error_pages.variables", `${path} takes no other keys`);
    }
    if (typeof part.additionalProperties === "object") walk(part.additionalProperties, `${path}.*`);
    if (part.items !== undefined) walk(part.items, `${path}[]`);
  };
  const schema = toolSchema as Part;
  walk(schema, "");
  for (const [key, part] of Object.entries(schema.definitions!)) walk(part, key);
  t.end();
});

t.test("the examples of the schema are valid", (t) => {
  const properties = (toolSchema as { properties: Record<string, { examples?: unknown[] }> }).properties;
  for (const [key, { examples = [] }] of Object.entries(properties)) {
    for (const example of examples) {
      const config: Record<string, unknown> = { name: "app", [key]: example };
      if (key === "alerts") config.actions = [{ name: "ops", type: "email", emails: ["ops@example.com"] }];
      t.same(checkConfig(JSON.stringify(config)).problems.map(name), [], `${key}: ${JSON.stringify(example)}`);
    }
  }
  t.end();
});

interface Described {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly additionalProperties?: boolean | Described;
  readonly items?: Described;
  readonly "x-language"?: string;
}

const definitions = (toolSchema as { definitions: Readonly<Record<string, Described>> }).definitions;

/** The options of a part of the schema that `value` has, as `redirect.status`; all of them without a value. */
function optionsIn(part: Described, name: string, value?: unknown): string[] {
  if (part.$ref !== undefined) {
    const of = part.$ref.split("/").at(-1)!;
    // Without a value, each definition is gone through by itself.
    return value === undefined ? [] : optionsIn(definitions[of]!, of, value);
  }
  const { properties = {}, additionalProperties: others, items } = part;
  if (Array.isArray(value)) return value.flatMap((one) => optionsIn(items!, `${name}[]`, one));
  const isWritten = typeof value === "object" && value !== null;
  const options = Object.entries(properties).flatMap(([key, inner]) => {
    if (isWritten && !Object.hasOwn(value, key)) return [];
    const at = `${name}.${key}`;
    return [at, ...optionsIn(inner, at, isWritten ? (value as Record<string, unknown>)[key] : undefined)];
  });
  if (items !== undefined && value === undefined) options.push(...optionsIn(items, `${name}[]`));
  if (typeof others !== "object") return options;
  const rest = isWritten ? Object.entries(value).filter(([key]) => !Object.hasOwn(properties, key)) : [];
  const inners = isWritten ? rest.map(([, inner]) => inner) : [undefined];
  return [...options, ...inners.flatMap((inner) => optionsIn(others, `${name}.*`, inner))];
}

/** Options that no random configuration has yet: mutants and edits are made without them. */
const NOT_DRAWN: readonly string[] = [
  ".$schema",
  ".tags",
  "action.gifs",
  "alert.description",
  "alert.disable",
  "alert.namespace",
  "cors.debug",
  "error_pages.disable",
  "function.layers",
  "function.role",
  "hooks.postbuild",
  "hooks.postdeploy",
  "hooks.prebuild",
  "log_alert.description",
  "log_alert.for",
  "log_alert.interval",
  "log_alert.limit",
  "log_alert.muted",
  "log_alert.notify",
  "log_alert.operator",
  "log_alert.query",
  "log_alert.recover",
  "log_alert.repeat",
  "log_alert.severity",
  "log_alert.tests",
  "log_alert.threshold",
  "log_alert_test.file",
  "log_alert_test.triggers",
  "log_notification.email_addresses",
  "log_notification.pagerduty_service_key",
  "log_notification.slack_channel",
  "log_notification.slack_webhook_url",
  "log_notification.sms_numbers",
  "log_notification.type",
  "log_notification.webhook_url",
  "logs.alerts",
  "logs.disable",
  "logs.include",
  "logs.notifications",
  "policy_statement.Condition",
  "policy_statement.NotAction",
  "policy_statement.NotResource",
  "proxy.shutdown_timeout",
  "stage.path",
];

t.test("random configurations have every option", (t) => {
  const all = new Set([
    ...optionsIn(toolSchema as Described, ""),
    ...Object.entries(definitions).flatMap(([name, part]) => optionsIn(part, name)),
  ]);
  const drawn = new Set(
    Array.from({ length: 60 }, (_, seed) => JSON.parse(richConfig(randomOf(seed)))).flatMap((value) =>
      optionsIn(toolSchema as Described, "", value),
    ),
  );
  t.same([...all].filter((option) => !drawn.has(option)).sort(), NOT_DRAWN, "write it in test/support/rich-config.ts");
  t.end();
});

t.test("tool.json has the names of secrets of notifications, not the secrets", (t) => {
  for (const { needed, holds } of Object.values<NotificationMembers>(MEMBERS)) {
    if (holds === "recipients") continue;
    t.equal(definitions.log_notification?.properties?.[needed]?.["x-language"], "secret", needed);
  }
  t.end();
});
