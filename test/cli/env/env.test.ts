// `tool env`: what the words, files and stdin say, how values are kept, and what the commands print. Against the stand-in
// of the cloud; what a deployed app gets is in slow/env-deployed.ts.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { SSM } from "@aws-sdk/client-ssm";
import fc from "fast-check";
import t, { type Test } from "tap";
import { packVariables, readSnapshotName, unpackSnapshot } from "../../../cli/aws/variables/pack.ts";
import { decodeHead, decodeParts, encodeValue, MAX_PARAMETER_BYTES } from "../../../cli/aws/variables/stored-value.ts";
import { readAssignments } from "../../../cli/env/assignments.ts";
import { readEnvFile } from "../../../cli/env/env-file.ts";
import { shellAssignment } from "../../../cli/env/shell-assignment.ts";
import { displayWidth } from "../../../cli/output/display-width.ts";
import { variablesTable } from "../../../cli/output/variables-table.ts";
import { variablesSize } from "../../../schema/index.ts";
import { THROTTLING } from "../../support/aws/failures.ts";
import { type Aws, startAws } from "../../support/aws/index.ts";
import { shell, spawnTool, startTool } from "../../support/cli.ts";
import { appFolder, askEndpoint, openApp } from "../../support/deployed-app.ts";
import { commandOf, processesWith } from "../../support/processes.ts";
import { holds } from "../../support/property.ts";
import { requires } from "../../support/require.ts";
import { slow } from "../../support/slow.ts";
import { openTerminal, typeInto } from "../../support/terminal.ts";
import { until, within } from "../../support/until.ts";
import { unzip } from "../../support/unzip.ts";

const COUNT = Number(process.env.FUZZ_COUNT ?? 300);

t.test("the words of env add", (t) => {
  const good: [words: string[], expected: unknown][] = [
    [["KEY", "value"], { KEY: "value" }],
    [["KEY=value"], { KEY: "value" }],
    [["KEY="], { KEY: "" }],
    [["KEY", ""], { KEY: "" }],
    [["KEY=a=b"], { KEY: "a=b" }],
    [["URL", "https://x/?a=b"], { URL: "https://x/?a=b" }],
    [["A1", "1", "B1=2", "C1", "3"], { A1: "1", B1: "2", C1: "3" }],
    [["KEY", "-"], { KEY: { from: "stdin" } }],
    [["KEY=-"], { KEY: "-" }],
    [["KEY"], { KEY: { from: "asked" } }],
    [["KEY", "--"], { KEY: "--" }],
  ];
  for (const [words, expected] of good) {
    const read = readAssignments(words);
    t.ok(read.ok, words.join(" "));
    if (read.ok) t.same(Object.fromEntries(read.value.map(({ name, value }) => [name, value])), expected);
  }
  const bad: [words: string[], message: RegExp, hint?: RegExp][] = [
    [["KEY", "=", "value"], /^there is a space before or after =$/],
    [["KEY", "=value"], /^there is a space before or after =$/],
    [["=value"], /^there is no name before =$/],
    [["A1=1", "=value"], /^word 2: there is no name before =$/],
    [["A1=1", "B1", "=value"], /^there is a space before or after =$/],
    [["KEY", "correct", "horse", "battery"], /^word 3 is not the name of a variable$/],
    [["KEY", "correct", "horse"], /^word 3 is not the name of a variable$/],
    [["A1", "1", "B1"], /^the last word has no value$/],
    [["my secret value"], /^the name is not valid$/, /^a name is a letter, then at least one more/],
    [["A1=1", "my secret value=x"], /^the name of variable 2, after A1, is not valid: none was set$/],
    [["my-secret=1", "B1", "2"], /^the name of variable 1, before B1, is not valid: none was set$/],
    [["A1=1", "B1=2", "2C=3", "D1=4"], /^the name of variable 3, after B1, is not valid: none was set$/],
    [["_secret=1", "_B=2"], /^the name of variable 1 is not valid: none was set$/],
    [["pa$$word", "x"], /^the name is not valid$/],
    [["A1=1", "A1=2"], /^A1 is given twice$/],
    [["A1", "-", "B1", "-"], /^only one value can come from stdin$/],
    [["PORT", "80"], /^the tool sets "PORT" itself$/],
    [["TOOL_X", "80"], /^names that begin with TOOL_ are for the tool/],
    [["AWS_REGION", "x"], /^the function platform sets "AWS_REGION" itself$/],
    [["PATH=/usr/local/bin"], /^with "PATH" the function platform finds its own programs$/],
    [["A_B", "1", "LD_PRELOAD", "/x.so"], /^with "LD_PRELOAD" the function platform finds its own libraries$/],
    [["W", "x"], /^the name is not valid$/, /^a name has at least two characters: /],
    [["A=1"], /^the name is not valid$/, /^a name has at least two characters: /],
    [["_X", "x"], /^the name is not valid$/],
    [["sk-live-51Habc"], /^the name is not valid$/],
  ];
  for (const [words, message, hint = /^/] of bad) {
    const read = readAssignments(words);
    t.match(read, { ok: false, problems: [{ message, hint }] }, words.join(" "));
    t.notMatch(JSON.stringify(read), /secret|horse|value 2|pa\$\$|51Habc/, "quotes nothing that may be a value");
  }
  t.end();
});

t.test("files of variables", (t) => {
  const good: [text: string, expected: Record<string, string>][] = [
    ["A1=b", { A1: "b" }],
    ["A1=b\nC1=d\n", { A1: "b", C1: "d" }],
    ["\ufeffA1=b\r\nC1=d\r\n", { A1: "b", C1: "d" }],
    ["# a comment\n\n  export A1 = b  \n", { A1: "b" }],
    ["A1=b # a comment", { A1: "b" }],
    ["A1=", { A1: "" }],
    ["A1=#c", { A1: "" }],
    ["A1=''", { A1: "" }],
    ["A1='it is # \"so\" \\n $B'", { A1: 'it is # "so" \\n $B' }],
    ['A1="line\\nline\\r" # c', { A1: "line\nline\r" }],
    ['A1="a \\"quoted\\" word"', { A1: 'a "quoted" word' }],
    ["A1='two\nlines'\nB1=c", { A1: "two\nlines", B1: "c" }],
    ['A1="-----BEGIN KEY-----\nMIIC\n-----END KEY-----\n"', { A1: "-----BEGIN KEY-----\nMIIC\n-----END KEY-----\n" }],
    ['A1=`it\'s "so"`', { A1: 'it\'s "so"' }],
    ["A1=a b  c", { A1: "a b  c" }],
    ["A1=$B $C", { A1: "$B $C" }],
    ["A1=a\\nb", { A1: "a\\nb" }],
    ['A1={"a": "b"}', { A1: '{"a": "b"}' }],
    ['{"A1": "b\\nc", "PORT": "80"}', { A1: "b\nc" }],
    ["PORT=80\nA1=b", { A1: "b" }],
    ["A1=https://x/?a=b&c=d", { A1: "https://x/?a=b&c=d" }],
  ];
  for (const [text, expected] of good) {
    const read = readEnvFile(text);
    t.ok(read.ok, JSON.stringify(text));
    if (read.ok) t.same(Object.fromEntries(read.values), expected, JSON.stringify(text));
  }
  const bad: [text: string, code: string, at: number][] = [
    ["A1=b\nnonsense\n", "env-file/no-assignment", 5],
    ["A1: b", "env-file/no-assignment", 0],
    ["=b", "env-file/no-assignment", 0],
    ["A1 B1=c", "env-file/no-assignment", 0],
    ["A1='b\nC1=d\n", "env-file/unclosed-quote", 3],
    ["A1='b'c", "env-file/after-quote", 6],
    ["A1=b#c", "env-file/hash", 4],
    ['A1="b\\\\c"', "env-file/backslashes", 5],
    ["A1=one\nA1=two", "env-file/duplicate", 7],
    ["A=b", "env-file/name", 0],
    ["B1=c\nTOOL_X=b", "env-file/name", 5],
    ['{"A1": 1}', "env-file/json", 0],
    ['{"A1": "x"', "env-file/json", 0],
  ];
  for (const [text, code, start] of bad) {
    t.match(readEnvFile(text), { ok: false, problems: [{ code, span: { start } }] }, JSON.stringify(text));
  }
  const name = fc.stringMatching(/^[A-E][0-9]{1,2}$/);
  const line = fc.tuple(name, fc.string({ unit: "binary", maxLength: 20 })).map(([name, value]) => `${name}=${value}`);
  const text = fc.array(fc.oneof(line, fc.string({ maxLength: 12 })), { maxLength: 5 }).map((all) => all.join("\n"));
  // Where a file is accepted, other programs read the same; Node's reader cuts at \" in double quotes.
  holds(
    t,
    fc.property(text, (text) => {
      const read = readEnvFile(text);
      if (!read.ok || /"[^"]*\\[r"]/.test(text)) return true;
      const own = Object.fromEntries(read.values);
      const others = parseEnv(text.replace(/^\ufeff/, ""));
      return Object.keys(own).every((name) => own[name] === others[name]);
    }),
    { seed: 18, numRuns: COUNT },
  );
  t.end();
});

const anyValue = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }).filter((text) => !/\0|\p{Surrogate}/u.test(text)),
  fc.constantFrom("", " ", "{{x}}", "tool:v1:text:", "tool:v1:parts:ab:2", "\n", "a\n", "😀", "é".repeat(3000)),
  fc.integer({ min: 4090, max: 20_000 }).map((length) => "x".repeat(length)),
);

t.test("any value comes back from the store as it was, in parameters that the store takes", (t) => {
  const property = fc.property(anyValue, (value) => {
    const { head, parts } = encodeValue(value, "0a1b2c");
    const all = [head, ...parts];
    if (all.some((one) => one === "" || Buffer.byteLength(one) > MAX_PARAMETER_BYTES || /\{\{/.test(one))) return false;
    const decoded = decodeHead(head);
    if (decoded?.kind === "value") return decoded.value === value && parts.length === 0;
    return decoded?.count === parts.length && decoded.id === "0a1b2c" && decodeParts(parts) === value;
  });
  holds(t, property, { seed: 18, numRuns: COUNT });
  t.same(encodeValue("plain $value", "1").head, "plain $value", "an ordinary one as it is");
  t.equal(decodeHead("tool:v1:gzip:x"), undefined, "a later version's");
  t.end();
});

t.test("what does not fit the function's configuration is in a snapshot", (t) => {
  const fixed = { TOOL_STAGE: "staging", FROM_FILE: "x" };
  t.same(packVariables("staging", fixed, { A1: "1", FROM_FILE: "y" }), {
    environment: { ...fixed, A1: "1", FROM_FILE: "y" },
    snapshot: undefined,
  });
  const stored = { SMALL: "1", BIG: "b".repeat(5000), MIDDLE: "m".repeat(3000) };
  const { environment, snapshot } = packVariables("staging", fixed, stored);
  t.same(
    Object.keys(environment).sort(),
    ["FROM_FILE", "MIDDLE", "SMALL", "TOOL_STAGE"],
    "the largest one is not there",
  );
  t.same(snapshot?.names, ["BIG"]);
  t.same(unpackSnapshot(snapshot!.hash, snapshot!.parts), { BIG: stored.BIG });
  t.equal(unpackSnapshot("0".repeat(32), snapshot!.parts), undefined, "another hash");
  t.equal(unpackSnapshot(snapshot!.hash, snapshot!.parts.slice(1)), undefined, "a part is missing");
  t.same(packVariables("staging", fixed, stored), { environment, snapshot }, "the same again");
  const order = packVariables("staging", fixed, { MIDDLE: stored.MIDDLE, BIG: stored.BIG, SMALL: "1" });
  t.equal(order.snapshot?.hash, snapshot?.hash, "in any order");
  t.same(readSnapshotName({ TOOL_VARIABLES: `${snapshot!.hash}/1` }), { hash: snapshot!.hash, count: 1 });
  t.equal(readSnapshotName({}), undefined);

  const random = Array.from({ length: 40_000 }, (_, i) =>
    String.fromCharCode(33 + (((i * 7919) ^ (i >> 3)) % 90)),
  ).join("");
  t.throws(
    () => packVariables("staging", fixed, { NOISE: random, MORE: [...random].reverse().join("") }),
    {
      code: "function/variables-size",
      message: /^the variables of staging that do not fit .* take [\d,]+ bytes when packed, and the limit is 65,536$/,
      hint: /^move the largest into files of the project, .*: NOISE \(40,000 bytes\), MORE/,
    },
    "past the bound",
  );
  t.throws(() => packVariables("staging", { ...fixed, LARGE: "x".repeat(5000) }, { A1: "1" }), {
    code: "function/variables-size",
    message:
      /^the variables of staging in tool.json take 5,\d+ bytes with their names, and a function has 4,096 for them$/,
    hint: /LARGE \(5,000 bytes\)/,
  });
  const sizes = fc.dictionary(
    fc.stringMatching(/^[A-Z]{2,4}$/),
    fc.nat(2000).map((length) => "v".repeat(length)),
    {
      maxKeys: 12,
    },
  );
  const property = fc.property(sizes, (stored) => {
    const { environment, snapshot } = packVariables("staging", fixed, stored);
    const spilled = snapshot === undefined ? {} : unpackSnapshot(snapshot.hash, snapshot.parts)!;
    const pointer = snapshot === undefined ? {} : { TOOL_VARIABLES: `${snapshot.hash}/${snapshot.parts.length}` };
    t.ok(variablesSize({ ...environment, ...pointer }) <= 4096);
    return (
      JSON.stringify(Object.entries({ ...environment, ...spilled }).sort()) ===
      JSON.stringify(Object.entries({ ...fixed, ...stored }).sort())
    );
  });
  holds(t, property, { seed: 18, numRuns: 50 });
  t.end();
});

const HARD_VALUES = [
  "plain",
  "",
  " blanks ",
  "it's \"quoted\" \\ and \\\\ \\' $HOME `id` $(id) %PATH% !! ~ * # ; & | <>",
  "line 1\nline 2\n\n",
  "\n",
  "tab\tand \u0007 bell",
  "😀 é 漢字 \u202e",
  "--flag",
  "a=b=c",
  "\\",
  "'",
  "''\\''",
  "x".repeat(20_000),
];

for (const program of ["sh", "bash", "zsh", "fish"]) {
  t.test(`export, as ${program} reads it`, { skip: requires(program) }, (t) => {
    const folder = t.testdir();
    const lines = HARD_VALUES.map((value, i) => shellAssignment(`VALUE_${i}`, value));
    const print = `${process.execPath} -e 'console.log(JSON.stringify(process.env))'`;
    writeFileSync(join(folder, "export.sh"), `${lines.join("\n")}\n${print}\n`);
    const { stdout, stderr } = spawnSync(program, [join(folder, "export.sh")], {
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: folder },
    });
    t.equal(stderr, "");
    const env = JSON.parse(stdout || "{}");
    for (const [i, value] of HARD_VALUES.entries())
      t.equal(env[`VALUE_${i}`], value, JSON.stringify(value.slice(0, 40)));
    t.end();
  });
}

const parametersOf = (aws: Aws) => [...aws.state.service("ssm", aws.region).parameters.keys()];

t.test("the list fits a terminal, and is whole elsewhere", (t) => {
  const by = "AWSReservedSSO_Admin/ann@example.com";
  const rows: readonly [name: string, value: string | undefined, description: string | undefined][] = [
    ["DATABASE_URL", "postgres://user@db.internal.example.com:5432/app", "Where orders are kept, 漢字"],
    ["STRIPE_SECRET_KEY", undefined, undefined],
    ["A".repeat(64), "", undefined],
    ["BLANKS", " x\n", undefined],
  ];
  const variables = rows.map(([name, value, description]) => ({
    ...{ stage: "all", name, value, description, isEncrypted: value === undefined },
    ...{ changedAt: "2026-11-23T10:00:00Z", changedBy: by },
  }));
  const at = (columns: number, isTerminal = true) =>
    variablesTable(variables, { color: false, isTerminal, columns }).split("\n");
  for (let columns = 30; columns <= 240; columns += 5) {
    const lines = at(columns);
    t.ok(Math.max(...lines.map(displayWidth)) <= columns, `${columns} columns`);
    t.match(lines[0], /^NAME +STAGE +VALUE/);
    t.ok(/DESCRIPTION/.test(lines[0]!) || !/ BY/.test(lines[0]!), `${columns}: who is left out first`);
  }
  t.match(at(80)[0], /^NAME +STAGE +VALUE +CHANGED +DESCRIPTION$/);
  t.match(at(80)[3], / all +"" /, "an empty value");
  t.match(at(80)[4], / all +" x\u240a" /, "blanks at the ends");
  const whole = at(80, false).join("\n");
  for (const text of rows.flat()) t.ok(whole.includes((text ?? "").trim()));
  t.end();
});

/** A value that nobody may see. */
const SECRET = "s3cr3t-v4lue";

t.test("add, get, ls, rm and export", async (t) => {
  const { aws, app } = await openApp(t, { stages: { beta: {} } });
  const ssm = new SSM(aws.client);
  const run = async (argv: readonly string[], stdout: string | RegExp, stderr: string | RegExp = "") => {
    const outcome = await app.tool(["env", ...argv]);
    t.match(outcome, { code: 0 }, argv.join(" "));
    if (typeof stdout === "string") t.equal(outcome.stdout, stdout);
    else t.match(outcome.stdout, stdout);
    if (typeof stderr === "string") t.equal(outcome.stderr, stderr);
    else t.match(outcome.stderr, stderr);
    return outcome;
  };
  await run(["ls"], "", "there are no variables\n  tool env add NAME VALUE sets one for all stages\n");
  await run(["export"], "", "there are no variables for staging\n");
  await run(["add", "API_KEY", SECRET], "added for all stages: API_KEY\n");
  await run(["set", "LEVEL=info", "REGION", "eu", "-c"], "added for all stages: LEVEL, REGION\n");
  await run(["add", "LEVEL", "debug", "-s", "staging", "-c", "-d", "How much to log"], "added for staging: LEVEL\n");
  await run(["add", "EMPTY=", "-s", "beta"], "added for beta: EMPTY\n");
  const warned = /^warning: "NODE_OPTIONS" applies to the runtime of the function too, which may not start with it\n/;
  await run(["add", "NODE_OPTIONS=--no-warnings", "-s", "beta"], "added for beta: NODE_OPTIONS\n", warned);
  await run(["rm", "NODE_OPTIONS", "-s", "beta"], /NODE_OPTIONS\n/, /.*/);

  const parameter = await ssm.getParameter({ Name: "/tool/app/all/API_KEY", WithDecryption: true });
  t.match(parameter.Parameter, { Type: "SecureString", Value: SECRET }, "where stack policy allows it, encrypted");
  t.match((await ssm.getParameter({ Name: "/tool/app/staging/LEVEL" })).Parameter, { Type: "String", Value: "debug" });

  const list = await run(["ls"], /^NAME +STAGE +VALUE +CHANGED +BY +DESCRIPTION\nAPI_KEY +all +\(encrypted\) +20\d\d-/);
  await run([], list.stdout);
  await run(["-s", "production", "--format", "json"], /"API_KEY"/);
  t.match(list.stdout, /\nLEVEL +all +info /);
  t.match(list.stdout, /\nLEVEL +staging +debug .*How much to log\n/);
  t.match(list.stdout, /\nEMPTY +beta +\(encrypted\)/);
  t.notMatch(list.stdout, SECRET);
  const ofStaging = await app.tool(["env", "ls", "-s", "staging", "--format", "json"]);
  const document = JSON.parse(ofStaging.stdout);
  t.match(document, {
    variables: [
      { stage: "all", name: "API_KEY", encrypted: true, value: null, description: null, changedAt: /^20/ },
      { stage: "all", name: "REGION", encrypted: false, value: "eu" },
      { stage: "staging", name: "LEVEL", encrypted: false, value: "debug", description: "How much to log" },
    ],
    redeploy: [],
  });
  t.equal(document.variables.length, 3, "what the stage has");

  await run(["get", "API_KEY"], SECRET);
  await run(["get", "LEVEL"], "debug");
  await run(["get", "LEVEL", "-s", "production"], "info");
  await run(["get", "LEVEL", "-s", "all"], "info");
  await run(
    ["get", "LEVEL", "--format", "json"],
    '{\n  "stage": "staging",\n  "name": "LEVEL",\n  "value": "debug",\n  "from": "staging"\n}\n',
  );
  await run(["export"], `export API_KEY='${SECRET}'\nexport LEVEL='debug'\nexport REGION='eu'\n`);
  await run(["export", "-s", "beta", "--format", "json"], /"EMPTY": "",\n {2}"LEVEL": "info"/);

  await run(
    ["set", "LEVEL", "warn"],
    "changed for all stages: LEVEL\n",
    "encrypted now, as --clear is not given: LEVEL\nstaging has its own LEVEL, which is unchanged\n",
  );
  const now = await ssm.describeParameters({ ParameterFilters: [{ Key: "Name", Values: ["/tool/app/all/LEVEL"] }] });
  t.match(now.Parameters, [{ Type: "SecureString" }], "without -c it becomes a secret");
  await run(["set", "LEVEL", "error", "-s", "staging", "-c"], "changed for staging: LEVEL\n");
  t.match((await app.tool(["env", "ls"])).stdout, /staging +error .*How much to log/, "the description stays");

  // A busy machine may take longer than the time that a Tab waits for names.
  const completed = (line: string) =>
    until(`names after ${line}`, async () => (await app.tool(["completion", "bash", "--line", line])).stdout);
  const names = (await completed("tool env get ")).split("\n");
  t.same(names, ["API_KEY", "LEVEL", "REGION", "EMPTY", ""], "names to choose from");
  t.equal(await completed("tool env rm LEVEL R"), "REGION\n");
  await run(["rm", "REGION", "API_KEY"], "removed for all stages: API_KEY, REGION\n");
  await run(["rm", "LEVEL", "-s", "staging"], "removed for staging: LEVEL\n", "still set for all stages: LEVEL\n");
  t.same([...aws.state.service("ssm", aws.region).parameters.keys()].sort(), [
    "/tool/app/all/LEVEL",
    "/tool/app/beta/EMPTY",
  ]);
});

t.test("secrets of the log service are in nothing that is deployed, exported or shown", async (t) => {
  const { app } = await openApp(t, {});
  const run = (...argv: string[]) => app.tool(["env", ...argv]);
  t.match(await run("add", "PAGER_KEY", SECRET, "-s", "_service"), {
    ...{ code: 0, stdout: "added for the log service: PAGER_KEY\n", stderr: "" },
  });
  await run("add", "PAGER_KEY", "other");
  await run("add", "LEVEL=info", "-c");
  const exported = await run("export", "--format", "json");
  t.same(JSON.parse(exported.stdout), { LEVEL: "info", PAGER_KEY: "other" }, "a stage has none of them");
  const listed = JSON.parse((await run("ls", "-s", "_service", "--format", "json")).stdout);
  t.match(listed.variables, [{ stage: "_service", name: "PAGER_KEY", encrypted: true, value: null }]);
  t.equal(listed.variables.length, 1, "and they have none of what is for all stages");
  const hint = /not printed\n {2}tool env ls -s _service lists their names/;
  for (const argv of [
    ["get", "PAGER_KEY", "-s", "_service"],
    ["export", "-s", "_service"],
  ]) {
    const refused = await run(...argv);
    t.same([refused.code, refused.stdout], [2, ""], argv.join(" "));
    t.match(refused.stderr, hint, argv.join(" "));
  }
  t.match(await run("add", "PAGER_KEY", "x", "-s", "_service", "-c"), { code: 2, stderr: /run it without --clear/ });
  const changed = await run("add", "PAGER_KEY", "third");
  t.equal(changed.stderr, "", "no stage of the app has one of its own");
  t.match(await run("rm", "PAGER_KEY", "-s", "_service"), {
    stdout: "removed for the log service: PAGER_KEY\n",
    stderr: "",
  });
  t.match(await run("get", "PAGER_KEY"), { stdout: "third" });
});

/** Answers with all of its variables. */
const ENVIRONMENT_APP = `
import { createServer } from "node:http";
createServer((request, response) => response.end(JSON.stringify(process.env))).listen(process.env.PORT);`;

t.test("a deploy gives secrets of the log service to nobody: no hook, no archive, no function", slow(), async (t) => {
  const aws = await startAws(t);
  const folder = t.testdir();
  const hooks = ["prebuild", "build", "postbuild", "predeploy", "postdeploy", "clean"];
  const app = appFolder(aws, join(folder, "app"), {
    "tool.json": JSON.stringify({
      name: "app",
      // A busy machine takes long to start it.
      proxy: { listen_timeout: 25 },
      hooks: Object.fromEntries(hooks.map((hook) => [hook, `echo ${hook} >> ../seen; env >> ../seen`])),
    }),
    "app.js": ENVIRONMENT_APP,
    "package.json": '{ "type": "module" }',
  });
  await app.tool(["env", "add", `SHARED=${SECRET}`, `PAGER_KEY=${SECRET}`, "-s", "_service"]);
  await app.tool(["env", "add", "SHARED=for the app"]);
  aws.journal.clear();
  const { code, stdout, stderr } = await app.tool(["deploy"]);
  t.equal(code, 0) || t.comment(stderr);
  t.notMatch(stderr, SECRET);
  const seen = readFileSync(join(folder, "seen"), "utf8");
  for (const hook of hooks) t.match(seen, new RegExp(`^${hook}$`, "m"), `${hook} ran`);
  t.equal(seen.match(/^SHARED=for the app$/gm)?.length, hooks.length, "each hook has the app's own");
  t.notMatch(seen, /s3cr3t|PAGER_KEY/);
  const { body } = await askEndpoint(aws, stdout.trim());
  t.match(JSON.parse(body), { SHARED: "for the app" });
  t.notMatch(body, /s3cr3t|PAGER_KEY/);
  for (const { service, operation, input } of aws.journal.entries) {
    t.notMatch(JSON.stringify(input ?? null), SECRET, `${service}.${operation}`);
  }
  const archive = aws.state.service("lambda", aws.region).state.functions.get("app")!.latest.code.zip.read();
  const contents = unzip(Buffer.from(archive)).map(({ content }) => content.toString("latin1"));
  t.ok(contents.some((content) => content.includes("createServer")));
  for (const content of contents) t.notMatch(content, SECRET);
});

t.test("values from stdin, files and the terminal; parts of large ones", async (t) => {
  const { aws, app } = await openApp(t, {});
  const parameters = () => [...aws.state.service("ssm", aws.region).parameters.keys()];
  const value = (name: string) => app.tool(["env", "get", name]).then(({ stdout }) => stdout);
  const env = Object.entries({ ...app.env, NO_COLOR: "1" })
    .map(([name, text]) => `export ${name}='${text}'`)
    .join("\n");
  const sh = (script: string) => shell(`${env}\n${script}`, { cwd: app.directory });
  t.match(await sh("printf 'a\\nb\\n' | tool env add PEM -"), { code: 0, stdout: "added for all stages: PEM\n" });
  t.equal(await value("PEM"), "a\nb\n", "a text of several lines is as it was");
  for (const empty of ["< /dev/null", "<&-"]) {
    t.match(await sh(`tool env set PEM - ${empty}`), {
      code: 2,
      stderr: "error: stdin is empty, and nothing was set\n  PEM= sets an empty value\n",
    });
  }
  for (const empty of ["echo '' | tool env add PAGER_KEY -", "tool env add PAGER_KEY="]) {
    t.match(await sh(`${empty} -s _service`), {
      ...{ code: 2, stdout: "" },
      stderr:
        "error: the value of PAGER_KEY is empty, and nothing was set\n  a secret of the log service has a value; tool env rm PAGER_KEY -s _service removes it\n",
    });
  }
  t.match(await sh("echo line | tool env add LINE -"), { code: 0 });
  t.equal(await value("LINE"), "line", "the line end of a single line is left out");
  app.write({ "some.env": `# all\nexport ONE='1'\nTWO="2\\n"\nBIG='${"x".repeat(20_000)}'\n` });
  t.match(await app.tool(["env", "add", "--file", "some.env"]), { stdout: "added for all stages: ONE, TWO, BIG\n" });
  t.equal(await value("TWO"), "2\n");
  t.equal(await value("BIG"), "x".repeat(20_000));
  const first = parameters().filter((name) => name.startsWith("/tool/app/all/BIG/"));
  t.equal(first.length, 7, "base64 in 4 KB each");
  aws.controls.clock.advance(660_000);
  t.match(await sh(`head -c 5000 /dev/zero | tr '\\0' y | tool env set BIG -`), { code: 0 });
  t.equal(await value("BIG"), "y".repeat(5000));
  const second = parameters().filter((name) => name.startsWith("/tool/app/all/BIG/"));
  t.equal(second.length, 2, "those of the former value are gone");
  t.notOk(second.some((name) => first.includes(name)));
  t.match(await sh("echo THREE=3 | tool env add --file -"), { stdout: "added for all stages: THREE\n" });
  await app.tool(["env", "rm", "BIG"]);
  t.notOk(
    parameters().some((name) => name.includes("BIG")),
    "removed with its parts",
  );

  const typed = await typeInto(t, ["env", "add", "TYPED"], [["Value of TYPED (not shown): ", SECRET]], {
    cwd: app.directory,
    env: app.env,
  });
  t.equal(typed.code, 0, typed.text);
  t.notMatch(typed.text, SECRET, "what is typed is not shown");
  t.equal(await value("TYPED"), SECRET);
});

t.test("a hidden value: pasted in lines, edited, empty, given up", slow(), async (t) => {
  const { app } = await openApp(t, {});
  const value = (name: string) => app.tool(["env", "get", name]).then(({ stdout }) => stdout);
  const pasted = "\u001b[200~-----BEGIN KEY-----\r\nMIIC\r\n\u001b[201~";
  for (const [text, expected] of [
    [pasted.replaceAll("\r\n", "\r"), "-----BEGIN KEY-----\nMIIC\n"],
    ["one\rtwo\rthree", "one\ntwo\nthree\n"],
    ["wrong\u0015rig\u001b[Dhx\u007ft", "right"],
  ] as const) {
    const typed = await typeInto(t, ["env", "set", "TYPED", "-"], [["Value of TYPED (not shown): ", text]], {
      cwd: app.directory,
      env: app.env,
    });
    t.equal(typed.code, 0, typed.text);
    t.notMatch(typed.text, /KEY-----|two|right/);
    t.equal(await value("TYPED"), expected, JSON.stringify(text));
  }
  for (const [text, code, says] of [
    ["", 2, /error: nothing was typed, and nothing was set\r?\n {2}TYPED= sets an empty value/],
    ["secret\u0003", 130, /interrupted: nothing was set/],
    ["\u0004", 2, /error: nothing was typed/],
  ] as const) {
    const typed = await typeInto(t, ["env", "set", "TYPED"], [["Value of TYPED (not shown): ", text]], {
      cwd: app.directory,
      env: app.env,
    });
    t.equal(typed.code, code, typed.text);
    t.match(typed.text, says);
    t.equal(await value("TYPED"), "right");
  }
});

t.test(
  "a signal while a value is waited for ends the command, and the terminal shows again what is typed",
  { skip: requires("script") || (process.platform === "linux" ? false : "needs /proc") },
  async (t) => {
    const { app } = await openApp(t, {});
    const mark = `ENV_SIGNAL_MARK=${app.directory}`;
    const env = { ...app.env, ENV_SIGNAL_MARK: app.directory };
    const running = () => processesWith(mark).find((pid) => /^tool env\b/.test(commandOf(pid)));
    for (const signal of ["SIGTERM", "SIGHUP"] as const) {
      const terminal = openTerminal(t, ["env", "set", "TYPED"], {
        cwd: app.directory,
        env,
        afterwards: "echo ended with $?; stty -a",
      });
      await until("the question", () => terminal.text().includes("(not shown): "), terminal.text);
      process.kill(running()!, signal);
      const { text } = await within(`the end after ${signal}`, terminal.ended, terminal.text);
      t.match(text, /interrupted: nothing was set\r?\nended with 130\r?\n/, signal);
      t.match(text, /\sicanon\s[\s\S]*\secho\s/, `${signal}: lines and echo are on`);
    }
    // A pipe holds 64 KiB: the last byte is written when the command has begun to read, and it waits for another one.
    const script = [
      "mkfifo pipe; exec 3<> pipe",
      "(head -c 65537 /dev/zero >&3; : > reading) &",
      "tool env set TYPED - <&3; echo ended with $?",
    ].join("\n");
    const piped = shell(script, { cwd: app.directory, env });
    await until("that stdin is read", () => existsSync(join(app.directory, "reading")));
    process.kill(running()!, "SIGTERM");
    t.equal((await within("the end", piped)).stdout, "ended with 130\n", "stdin that never ends");
    t.notMatch((await app.tool(["env", "ls"])).stdout, "TYPED");
  },
);

t.test("what cannot be set says what to do, and sets nothing", async (t) => refusals(t, (i) => i % 3 === 0));

t.test("what cannot be set: the other rows", slow(), async (t) => refusals(t, (i) => i % 3 !== 0));

async function refusals(t: Test, isAsked: (row: number) => boolean): Promise<void> {
  const { aws, app } = await openApp(t, { stages: { beta: {} } });
  app.write({
    "bad.env": `GOOD=1\nAPI_KEY ${SECRET}\nB=x#${SECRET}\n`,
    "name.env": `PORT=${SECRET}\nTOOL_X=${SECRET}\n`,
    "none.env": "# nothing\n",
    "crlf.env": "A1=1\r\n\r\nnonsense\r\n",
    "large.txt": "x".repeat(65_537),
  });
  writeFileSync(join(app.directory, "latin1.env"), Buffer.from("A1=\xe9", "latin1"));
  const rows: [argv: readonly string[], code: number, stderr: RegExp][] = [
    [["add"], 2, /^error: tool env add needs a variable\n {2}write NAME VALUE/],
    [["add", "KEY"], 2, /^error: KEY has no value\n {2}write NAME VALUE, NAME=VALUE, or KEY - for a value from stdin/],
    [["add", "KEY", "two", SECRET], 2, /^error: word 3 is not the name of a variable\n {2}quote a value with spaces/],
    [["add", "KEY", "=", SECRET], 2, /^error: there is a space before or after =\n {2}write NAME=VALUE as one word/],
    [
      ["add", `-X${SECRET}`],
      2,
      /^error: a word of tool env add begins with - and is no flag\n {2}write a value that begins with - as NAME=VALUE/,
    ],
    [["add", "KEY", `-s${SECRET}`], 2, /^error: a word of tool env add begins with -/],
    [["add", "KEY", `-v${SECRET}`], 2, /^error: a word of tool env add begins with -/],
    [
      ["add", "KEY", "1", "--stag", "beta"],
      2,
      /^error: unknown flag --stag for tool env add\n {2}did you mean --stage\?/,
    ],
    [["add", "--file", "/dev/zero"], 2, /^error: \/dev\/zero is larger than 4 MB\n/],
    [["add", "--file", "crlf.env"], 1, /^error: crlf.env:3: this line is not NAME=VALUE\n/],
    [["add", "KEY", `--${SECRET}`], 2, /^error: a word of tool env add begins with -/],
    [["add", "PORT", SECRET], 2, /^error: the tool sets "PORT" itself\n {2}the app listens on \$PORT/],
    [["add", "TOOL_X", SECRET], 2, /^error: names that begin with TOOL_/],
    [["add", "KEY", SECRET, "-s", "stagin"], 2, /^error: there is no stage "stagin"\n {2}did you mean staging\?/],
    [["add", "KEY", SECRET, "-s", "none"], 2, /^error: there is no stage "none"\n {2}the stages are: all, development/],
    [["add", "A1=1", "B1=2", "-d", "x"], 2, /^error: --desc is for one variable/],
    [["add", "A1=1", "-d", "x".repeat(1025)], 2, /^error: the description is longer than 1024 characters/],
    [["add", "A1=1", "--file", "bad.env"], 2, /^error: --file and variables in the arguments cannot be combined/],
    [
      ["add", "--file", "bad.env"],
      1,
      /^error: bad.env:2: this line is not NAME=VALUE\n.*\nerror: bad.env:3: programs disagree/,
    ],
    [["add", "--file", "name.env"], 1, /^error: name.env:2: names that begin with TOOL_/],
    [["add", "--file", "none.env"], 2, /^error: none.env has no variables\n/],
    [["add", "--file", "gone.env"], 2, /^error: cannot read gone.env: there is no such file\n/],
    [["add", "--file", "."], 2, /^error: cannot read .: it is a folder\n/],
    [["add", "--file", "latin1.env"], 2, /^error: latin1.env is not UTF-8 text\n/],
    [["add", "KEY", "x".repeat(65_537)], 2, /^error: the value of KEY has 65,537 bytes, and 65,536 is the most\n/],
    [
      ["get", "KEY"],
      1,
      /^error: there is no variable KEY for staging, nor for all stages\n {2}tool env ls lists the variables/,
    ],
    [["get", "my key"], 2, /^error: this is not the name of a variable\n/],
    [
      ["rm", "KEY", "OTHER"],
      1,
      /^error: there are no variables KEY and OTHER for all stages, and nothing was removed\n/,
    ],
    [["rm"], 2, /^error: tool env rm needs a variable\n {2}write tool env rm <variable>/],
    [["export", "-s", "none"], 2, /^error: there is no stage "none"/],
    [["ls", "-s", "none"], 2, /^error: there is no stage "none"/],
    [["-s", "none"], 2, /^error: there is no stage "none"/],
    [["lst"], 2, /^error: tool env has no command "lst"\n/],
  ];
  for (const [argv, code, stderr] of rows.filter((_, i) => isAsked(i))) {
    const outcome = await app.tool(["env", ...argv]);
    const label = argv.join(" ").slice(0, 60);
    t.equal(outcome.code, code, label);
    t.match(outcome.stderr, stderr, label);
    t.equal(outcome.stdout, "", label);
    t.notMatch(outcome.stderr, SECRET, `${label}: no value`);
  }
  t.equal(aws.state.service("ssm", aws.region).parameters.size, 0);

  await app.tool(["env", "add", "API_KEY=1", "-s", "production"]);
  const elsewhere = await app.tool(["env", "get", "API_KEY"]);
  t.match(elsewhere.stderr, /\n {2}it is set for production: tool env get API_KEY -s production\n$/);
  t.match((await app.tool(["env", "get", "API_KAY"])).stderr, /\n {2}did you mean API_KEY\?\n$/);
  const some = await app.tool(["env", "rm", "API_KEY"]);
  t.match(some.stderr, /\n {2}it is set for production: tool env rm API_KEY -s production\n$/);
}

t.test("nothing is lost or shown when the store fails", slow(), async (t) => {
  const { aws, app } = await openApp(t, {});
  await app.tool(["env", "add", "OLD", "before"]);
  const own = { service: "ssm", times: Number.POSITIVE_INFINITY } as const;
  const quoted = (operation: string) => (operation === "PutParameter" ? `Value '${SECRET}' at 'value'` : "'name'");
  const calls: [argv: readonly string[], operation: string][] = [
    [["add", "OLD", SECRET], "PutParameter"],
    [["add", "OLD", SECRET], "DescribeParameters"],
    [["get", "OLD"], "GetParameters"],
    [["export"], "GetParametersByPath"],
    [["ls"], "DescribeParameters"],
    [["rm", "OLD"], "DeleteParameters"],
    [["rm", "OLD"], "DescribeParameters"],
  ];
  for (const [i, [argv, operation]] of calls.entries()) {
    // As the service words it for what it is sent.
    const invalid = { code: "ValidationException", message: `1 validation error: ${quoted(operation)} failed` };
    const message = "User: arn:aws:iam::1:user/ann is not authorized to perform: ssm:X";
    const error = i % 2 === 0 ? invalid : { code: "AccessDeniedException", message };
    aws.controls.failures.plan({ ...own, operation, error: { ...error, status: 400 } });
    const outcome = await app.tool(["env", ...argv, "--verbose"]);
    aws.controls.failures.clear();
    t.equal(outcome.code, 1, `${argv.join(" ")}: ${operation} ${error.code}`);
    t.match(outcome.stderr, /^error: (the cloud refused the request|arn:aws:iam::1:user\/ann may not do ssm:X)/);
    t.notMatch(outcome.stderr + outcome.stdout, /s3cr3t|before/, "no value");
  }
  t.equal((await app.tool(["env", "get", "OLD"])).stdout, "before", "still there");
  aws.controls.failures.plan({ service: "ssm", operation: "PutParameter", error: THROTTLING.any, times: 2 });
  t.match(await app.tool(["env", "add", "NEW", "1"]), { code: 0, stdout: "added for all stages: NEW\n" }, "throttled");
  aws.controls.failures.plan({ service: "ssm", operation: "PutParameter", drop: "after" });
  t.match(await app.tool(["env", "add", "LOST", "1"]), { code: 0 }, "an answer that is lost");
  t.equal((await app.tool(["env", "get", "LOST"])).stdout, "1");

  aws.controls.failures.plan({
    ...own,
    operation: "PutParameter",
    nth: 3,
    error: { code: "InternalServerError", status: 400 },
  });
  const half = await app.tool(["env", "add", "A1=1", "A2=2", "A3=3", "A4=4"]);
  aws.controls.failures.clear();
  t.match(half, { code: 1, stderr: /^set for all stages: A1, A2\nnot set, run the command again: A3, A4\nerror: / });

  // Which stages are behind is told if the platform tells it.
  aws.controls.failures.plan({
    service: "lambda",
    times: Number.POSITIVE_INFINITY,
    error: { code: "AccessDeniedException", message: "no", status: 403 },
  });
  const untold = await app.tool(["env", "set", "OLD", "after", "-s", "staging"]);
  t.match(untold, {
    code: 0,
    stdout: "added for staging: OLD\n",
    stderr: /^a stage that is deployed keeps what it has until its next deploy: tool deploy staging\n$/,
  });
});

t.test("what other programs, other versions and accidents leave in the store", slow(), async (t) => {
  const { aws, app } = await openApp(t, {});
  const ssm = new SSM(aws.client);
  const put = (path: string, Value: string) =>
    ssm.putParameter({ Name: `/tool/app/${path}`, Value, Type: "String", Overwrite: true });
  await app.tool(["env", "add", "GOOD", "1", "-c"]);
  const rows: [path: string, value: string, message: RegExp][] = [
    [
      "staging/TOOL_STAGE",
      "evil",
      /^error: there is a variable for staging that no app can have: .*\n {2}tool env rm TOOL_STAGE -s staging/,
    ],
    ["all/a-b.c", "x", /\n {2}tool env rm a-b.c -s all removes it/],
    ["all/__proto__", "x", /no app can have: .*\n {2}tool env rm __proto__ -s all/],
    [
      "all/MARK",
      "tool:v1:zzz",
      /^error: the variable MARK for all stages cannot be read: .*\n.*set it again: tool env add MARK - -s all/,
    ],
    ["all/MARK", "tool:v1:text:!!!!", /cannot be read/],
    ["all/MARK", "tool:v1:parts:abc:0", /cannot be read/],
    ["all/MARK", "tool:v1:parts:abc:2", /parts of it are missing\n {2}set it again: tool env add MARK - -s all/],
  ];
  for (const [path, value, message] of rows) {
    await put(path, value);
    for (const argv of [["env", "export"], ["deploy"]]) {
      const outcome = await app.tool(argv);
      t.match(outcome, { code: 1, stderr: message, stdout: "" }, `${argv.join(" ")}: ${path} ${value}`);
    }
    t.match(await app.tool(["env", "ls"]), { code: 0, stdout: /GOOD +all +1 / }, "the others are listed");
    const [stage = "", name = ""] = path.split("/");
    t.equal((await app.tool(["env", "rm", name, "-s", stage])).code, 0);
  }
  await put("LOOSE", "in no stage");
  await put("staging/DEEP/er/est", "x");
  t.match(await app.tool(["env", "export"]), { code: 0, stdout: "export GOOD='1'\n" });

  // From plain text to a secret, refused or cut off between two calls: the old value or the new one.
  for (const failure of [
    { nth: 3, error: { code: "AccessDeniedException", message: "no", status: 400 } },
    { nth: 4, error: { code: "AccessDeniedException", message: "no", status: 400 } },
  ]) {
    await app.tool(["env", "set", "GOOD", "old", "-c"]);
    aws.controls.failures.plan({ service: "ssm", operation: "PutParameter", ...failure });
    await app.tool(["env", "set", "GOOD", "new"]);
    aws.controls.failures.clear();
    t.match((await app.tool(["env", "get", "GOOD"])).stdout, /^(old|new)$/, `refused at ${failure.nth}`);
  }
  t.match(await app.tool(["env", "set", "GOOD", "new"]), { code: 0 });
  t.equal((await app.tool(["env", "get", "GOOD"])).stdout, "new");
  t.notOk(parametersOf(aws).some((name) => name.includes("pending")));
});

t.test("answers that have no end, and that are none", async (t) => {
  const { app } = await openApp(t, {});
  const pages = createServer((_, response) => {
    response.setHeader("content-type", "application/x-amz-json-1.1");
    response.end('{"Parameters":[],"NextToken":"again"}');
  });
  const broken = createServer((_, response) => void response.end(`{"Parameters":[{"Value":${SECRET}}]}`));
  for (const [server, stderr] of [
    [pages, /^error: the parameter store's list has no end\n/],
    [broken, /^error: the answer of .* cannot be read\n/],
  ] as const) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.teardown(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const outcome = await app.tool(["env", "export"], { TOOL_AWS_ENDPOINT: `http://127.0.0.1:${port}` });
    t.match(outcome, { code: 1, stderr });
    t.notMatch(outcome.stderr, SECRET);
  }
});

t.test("start and hooks have the variables, where credentials are named", async (t) => {
  const aws = await startAws(t);
  const app = appFolder(aws, join(t.testdir(), "app"), {
    "tool.json": JSON.stringify({
      name: "app",
      environment: { FROM: "file", LEVEL: "file" },
      hooks: { build: "echo $LEVEL $SHELL_HAS $NODE_ENV > built; env > all-of-it" },
    }),
    "app.js": ENVIRONMENT_APP,
  });
  await app.tool(["env", "add", "LEVEL=all", "ONLY=all", "SHELL_HAS=store"]);
  await app.tool(["env", "add", "LEVEL=development", "-s", "development"]);
  await app.tool(["env", "add", "LEVEL=staging", "-s", "staging"]);
  await app.tool(["env", "add", `LEVEL=${SECRET}`, `PAGER_KEY=${SECRET}`, "-s", "_service"]);
  const env = { ...app.env, SHELL_HAS: "shell" };
  const started = async (more: readonly string[], env: Readonly<Record<string, string>>) => {
    const { running, url } = await startTool(app.directory, more, env);
    t.teardown(() => running.kill("SIGKILL"));
    const seen = (await (await fetch(url)).json()) as Record<string, string>;
    t.notMatch(JSON.stringify(seen), /s3cr3t|PAGER_KEY/, "none of the log service");
    running.kill("SIGINT");
    await running.ended;
    const { FROM, LEVEL, ONLY, SHELL_HAS, NODE_ENV } = seen;
    return { seen: { FROM, LEVEL, ONLY, SHELL_HAS, NODE_ENV }, output: running.stdout() + running.stderr() };
  };
  const first = await started([], env);
  t.same(first.seen, { FROM: "file", LEVEL: "development", ONLY: "all", SHELL_HAS: "shell", NODE_ENV: "development" });
  t.match(first.output, /Variables of tool env: LEVEL, ONLY\n.*replace those of tool env: SHELL_HAS\n/);
  const without = { FROM: "file", LEVEL: "file", ONLY: undefined, SHELL_HAS: "shell", NODE_ENV: "development" };
  aws.journal.clear();
  t.same((await started(["--no-env"], env)).seen, without);
  const { CLOUD_ACCESS_KEY_ID: _, CLOUD_SECRET_ACCESS_KEY: __, ...anonymous } = env as Record<string, string>;
  t.same((await started([], anonymous)).seen, without);
  t.same(aws.journal.calls(), [], "nobody was asked");

  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  aws.controls.failures.plan({ service: "ssm", run: () => held, times: 9 });
  const late = await started([], env);
  t.same(late.seen, without);
  release();
  t.match(
    late.output,
    /warning: without the variables of tool env: no answer within 2 seconds\n {2}--no-env does not ask/,
  );
  aws.controls.failures.clear();

  for (const [argv, built] of [
    [["build"], "staging store staging\n"],
    [["build", "-s", "production"], "all store production\n"],
    [["build", "--no-env"], "file shell\n"],
    [["run", "build"], "staging store staging\n"],
  ] as const) {
    const outcome = await app.tool(argv, env);
    t.equal(outcome.code, 0, outcome.stderr);
    const written = (name: string) => readFileSync(join(app.directory, name), "utf8");
    t.equal(written("built"), built, argv.join(" "));
    t.notMatch(written("all-of-it"), /s3cr3t|PAGER_KEY/, argv.join(" "));
  }
});

t.test("the arguments are not in the list of processes", { skip: process.platform !== "linux" }, async (t) => {
  const { aws, app } = await openApp(t, {});
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  // It has begun to work, and waits.
  aws.controls.failures.plan({ service: "ssm", run: () => held });
  const running = spawnTool(["env", "add", "KEY", SECRET], { cwd: app.directory, env: app.env });
  const processes = () => spawnSync("ps", ["-ww", "-eo", "args"], { encoding: "utf8" }).stdout;
  await until("the command's first call", () => aws.journal.calls("ssm").length > 0);
  t.notMatch(processes(), SECRET);
  t.match(processes(), /^tool env$/m);
  release();
  t.match(await running.ended, { code: 0 });
});

t.test("two hundred at once", slow(), async (t) => {
  const { app } = await openApp(t, {});
  const names = Array.from({ length: 200 }, (_, i) => `NAME_${i}`);
  app.write({ "many.env": names.map((name, i) => `${name}='${"v".repeat(i * 40)}'`).join("\n") });
  t.match(await app.tool(["env", "add", "--file", "many.env"]), {
    code: 0,
    stdout: /^added for all stages: NAME_0, .* and 190 more\n$/,
    stderr: /^variables: 200 set \(/,
  });
  const exported = JSON.parse((await app.tool(["env", "export", "--format", "json"])).stdout);
  t.equal(Object.keys(exported).length, 200);
  for (const [i, name] of names.entries()) t.equal(exported[name], "v".repeat(i * 40));
});

t.test(
  "killed at each call of writing a value of several parameters: the old one or the new one",
  slow(),
  async (t) => {
    const { aws, app } = await openApp(t, {});
    const values = ["o".repeat(9000), "n".repeat(9000)] as const;
    await app.tool(["env", "add", `LARGE=${values[0]}`]);
    const seen = new Set<string>();
    for (let nth = 1; nth <= 8; nth++) {
      await app.tool(["env", "set", `LARGE=${values[0]}`]);
      const running = spawnTool(["env", "set", `LARGE=${values[1]}`], { cwd: app.directory, env: app.env });
      const kill = async () => {
        running.kill("SIGKILL");
        await running.ended;
      };
      aws.controls.failures.plan({ service: "ssm", nth, run: kill });
      await running.ended;
      aws.controls.failures.clear();
      const { stdout } = await app.tool(["env", "get", "LARGE"]);
      t.ok((values as readonly string[]).includes(stdout), `killed at call ${nth}: one of them`);
      seen.add(stdout);
    }
    t.equal(seen.size, 2, "before and after");
  },
);
