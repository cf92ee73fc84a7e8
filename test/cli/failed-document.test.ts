// A command that fails leaves one document for programs on stdout, too.
import { Ajv } from "ajv";
import t from "tap";
import errorSchema from "../../cli/output/schemas/error.schema.json" with { type: "json" };
import { describeTable } from "../../cli/table.ts";
import { tool } from "../support/cli.ts";

const isError = new Ajv().compile(errorSchema);

/** Entries, a protocol, or a hook's output: valid wherever they end. */
const STREAMS = ["logs", "lsp", "run", "start", "service start"];

t.test("every command", async (t) => {
  const cwd = t.testdir({ "tool.json": '{ "name": "app" }' });
  const names = describeTable().map(({ name }) => name);
  t.ok(names.length > 40, "the table is read");
  for (const name of names) {
    const { code, stdout, stderr } = await tool([...name.split(" "), "--bogus", "--format", "json"], { cwd });
    t.equal(code, 2, name);
    t.match(stderr, /^error: /, name);
    if (STREAMS.includes(name)) {
      t.equal(stdout, "", name);
      continue;
    }
    const document = JSON.parse(stdout);
    t.ok(isError(document), `${name}: by its schema`, { errors: isError.errors });
    t.match(document, { error: { code: "misuse", hint: /./ } }, name);
    t.ok(
      stderr.startsWith(`error: ${document.error.message}\n  ${document.error.hint}`),
      `${name}: as people are told`,
    );
  }
});

t.test("a folder with the name of a stream, or before one", async (t) => {
  const cwd = t.testdir({ logs: { "tool.json": "{" }, other: {} });
  const url = await tool(["-C", "logs", "url", "--format", "json"], { cwd });
  t.equal(url.code, 1);
  t.ok(isError(JSON.parse(url.stdout)), url.stdout);
  for (const words of [
    ["-C", "other", "logs", "--bogus"],
    ["--chdir=other", "-v", "logs", "a", "b"],
    ["-Cother", "service", "start", "--bogus"],
  ]) {
    const { code, stdout } = await tool([...words, "--format", "json"], { cwd });
    t.same({ code, stdout }, { code: 2, stdout: "" }, words.join(" "));
  }
});

const rows: readonly (readonly [argv: string, files: Record<string, string>, code: number, error: object])[] = [
  [
    "deploys",
    { "tool.json": '{\n  "nam": "app" }' },
    1,
    { code: "failed", message: 'tool.json:2:3: unknown key "nam"', hint: /name/ },
  ],
  ["url", {}, 2, { code: "misuse", message: /^there is no tool\.json in / }],
  ["deploy", { "tool.json": '{ "name": "app" }' }, 1, { code: "failed", message: "there are no cloud credentials" }],
  ["service check --data nowhere", {}, 1, { code: "failed", message: /nowhere/ }],
  ["dploy", {}, 2, { code: "misuse", hint: /deploy/ }],
  ["logs --count --file absent.ndjson", {}, 2, { code: "misuse", message: /absent\.ndjson/ }],
  [
    "build --size",
    { "tool.json": '{ "name": "app", "hooks": { "build": "echo half; exit 3" } }', "app.js": "" },
    1,
    { code: "failed", message: /build/ },
  ],
];

t.test("what it names", async (t) => {
  for (const [argv, files, code, error] of rows) {
    const outcome = await tool([...argv.split(" "), "--format", "json"], { cwd: t.testdir(files) });
    t.equal(outcome.code, code, `${argv}: ${outcome.stderr}`);
    t.match(JSON.parse(outcome.stdout), { error }, argv);
    t.match(outcome.stderr, /error/, `${argv}: people are told as before`);
  }
  const people = await tool(["deploys"], { cwd: t.testdir({ "tool.json": '{ "nam": "app" }' }) });
  t.equal(people.stdout, "", "without a format there is no document");
});

t.test("the reports of validate", async (t) => {
  const cwd = t.testdir({ empty: {} });
  for (const file of ["nope.json", "empty"]) {
    const report = async (format: string) => {
      const { code, stdout } = await tool(["validate", file, "--format", format], { cwd });
      t.equal(code, 2, `${file} ${format}`);
      return stdout;
    };
    const { runs } = JSON.parse(await report("sarif"));
    t.match(runs[0].invocations, [{ executionSuccessful: false, exitCode: 2 }], file);
    t.match(JSON.parse(await report("gitlab")), [{ check_name: "misuse/error", severity: "blocker" }], file);
    t.match(JSON.parse(await report("json")), { error: { code: "misuse" } }, file);
    t.match(await report("github"), /^::error title=misuse\/error::[^\n]+\n$/, file);
  }
});
