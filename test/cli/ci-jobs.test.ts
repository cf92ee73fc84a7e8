// The definitions for CI of others: each step is run as its host runs it, with the real command on the path.
import { spawn, spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import t from "tap";
import { parse, parseAllDocuments } from "yaml";
import { checkableFiles } from "../../cli/project/checkable-files.ts";
import { fillInstaller } from "../../cli/release/installer.ts";
import { readReleaseOptions } from "../../cli/release/options.ts";
import { pinnedKeyOf } from "../../cli/release/statement.ts";
import { KINDS, SYSTEMS } from "../../cli/release/systems.ts";
import { cleanEnv, cliPath, root } from "../support/cli.ts";
import { CERTIFICATE, releaseOf, startReleaseHost } from "../support/release-host.ts";

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string>>;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default: string }>>;
  readonly outputs?: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

const FAULTY = '{ "name": "App" }\n';
const DOUBTFUL = '{ "name": "app", "static": { "dir": "none" } }\n';
const GOOD = '{ "name": "app" }\n';

/** A folder of programs with `tool` in it, at the front of the path. */
function toolOnPath(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "tool"), `#!/bin/sh\nexec "${process.execPath}" "${cliPath}" "$@"\n`);
  chmodSync(join(bin, "tool"), 0o755);
  return `${bin}:${process.env.PATH}`;
}

async function bash(script: string, cwd: string, env: Readonly<Record<string, string>>) {
  // As the runner of GitHub starts `shell: bash`.
  const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", script], {
    cwd,
    env: { ...cleanEnv(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((done) => child.once("close", done));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}

interface Workflow {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** By their full names: `github.repository`. */
  readonly contexts?: Readonly<Record<string, string>>;
  readonly inputs: Readonly<Record<string, string>>;
}

/** Puts the values of contexts into the templates of a definition. */
const filler = (name: string, values: ReadonlyMap<string, string>) => (template: string) =>
  template.replace(/\$\{\{ ([\w.| -]+) \}\}/g, (_, either: string) => {
    const names = either.split(" || ");
    const wrong = names.find((one) => !values.has(one));
    if (wrong !== undefined) throw new Error(`${name} reads ${wrong}, which nothing sets`);
    return names.map((one) => values.get(one)!).find((value) => value !== "") ?? "";
  });

/** Runs the steps of a composite action as GitHub's runner does, but for those that use actions of others. */
async function runAction(name: string, { cwd, env, contexts = {}, inputs }: Workflow) {
  const actionPath = join(root, ".github/actions", name);
  const action: Action = parse(readFileSync(join(actionPath, "action.yml"), "utf8"));
  const values = new Map(Object.entries(contexts));
  const fill = filler(name, values);
  for (const [input, { default: usual }] of Object.entries(action.inputs)) {
    values.set(`inputs.${input}`, inputs[input] ?? fill(usual));
  }
  const unknown = Object.keys(inputs).find((input) => !(input in action.inputs));
  if (unknown !== undefined || action.runs.using !== "composite") throw new Error(`${name}: ${unknown}`);
  const ended = { code: 0 as number | null, stdout: "", stderr: "" };
  const files = { GITHUB_OUTPUT: join(cwd, "output.txt"), GITHUB_PATH: join(cwd, "path.txt") };
  for (const step of action.runs.steps) {
    if (step.run === undefined) {
      for (const value of Object.values(step.with ?? {})) fill(value);
      continue;
    }
    if (step.shell !== "bash") throw new Error(`${name}: a step without a shell`);
    for (const file of Object.values(files)) writeFileSync(file, "");
    const own = Object.entries(step.env ?? {}).map(([variable, template]) => [variable, fill(template)]);
    const more = { ...env, ...files, GITHUB_ACTION_PATH: actionPath, GITHUB_WORKSPACE: cwd };
    const { code, stdout, stderr } = await bash(step.run, cwd, { ...more, ...Object.fromEntries(own) });
    Object.assign(ended, { code, stdout: ended.stdout + stdout, stderr: ended.stderr + stderr });
    if (code !== 0) break;
    for (const line of readFileSync(files.GITHUB_OUTPUT, "utf8").split("\n")) {
      const [, key = "", value = ""] = /^([^=]+)=(.*)$/.exec(line) ?? [];
      if (step.id !== undefined && key !== "") values.set(`steps.${step.id}.outputs.${key}`, value);
    }
  }
  const outputs = Object.entries(action.outputs ?? {}).map(([output, { value }]) => [
    output,
    ended.code === 0 ? fill(value) : "",
  ]);
  return { ...ended, outputs: Object.fromEntries(outputs), path: readFileSync(files.GITHUB_PATH, "utf8").trim() };
}

t.test("the action that validates annotates, fails by its inputs, and leaves a log for code scanning", async (t) => {
  const cwd = t.testdir({
    faulty: { "tool.json": FAULTY },
    doubtful: { "tool.json": DOUBTFUL },
    good: { "tool.json": GOOD, "-f.logq": "error\n" },
    "a b; exit 9": { "tool.json": FAULTY },
  });
  const PATH = toolOnPath(cwd);
  const run = (inputs: Readonly<Record<string, string>>, path = PATH) =>
    runAction("validate", { cwd, env: { PATH: path }, inputs });
  const rows: [inputs: Readonly<Record<string, string>>, code: number, stdout: RegExp][] = [
    [{ path: "good" }, 0, /^$/],
    [{ path: "faulty" }, 1, /^::error file=faulty\/tool\.json,line=1,.*title=config\/name::/],
    [{ path: "faulty/tool.json" }, 1, /^::error file=faulty\/tool\.json,/],
    [{ path: "doubtful" }, 1, /^::warning file=doubtful\/tool\.json,.*title=config\/missing-directory::/],
    [{ path: "doubtful", strict: "false" }, 0, /^::warning file=doubtful/],
    [{ path: "doubtful", ignore: "config/missing-directory  query/*" }, 0, /^$/],
    [{ path: "a b; exit 9" }, 1, /^::error file=a b; exit 9\/tool\.json/],
    [{ path: "good", strict: "yes" }, 2, /^::error title=strict::strict is true or false\n$/],
    [{ path: "absent" }, 2, /^::error title=misuse\/error::cannot read absent: there is no such file\n$/],
    [{}, 1, /::error file=faulty\/tool\.json/],
  ];
  for (const [inputs, code, stdout] of rows) {
    const result = await run(inputs);
    t.equal(result.code, code, JSON.stringify(inputs));
    t.match(result.stdout, stdout, JSON.stringify(inputs));
  }
  const withLog = await run({ path: "faulty", sarif: "problems.sarif" });
  t.equal(withLog.code, 1);
  t.match(withLog.stdout, /^::error file=faulty/);
  const log = JSON.parse(readFileSync(join(cwd, "problems.sarif"), "utf8"));
  t.match(log.runs[0].results, [{ ruleId: "config/name" }]);
  const unwritten = await run({ path: "good", sarif: "reports/problems.sarif" });
  t.equal(unwritten.code, 1, "not taken for problems, which the report would have");
  t.equal(
    unwritten.stdout,
    "::error title=sarif::the report cannot be written: make its folder in a step before this one\n",
  );
  const bare = join(cwd, "bare");
  mkdirSync(bare);
  const missing = await run({}, `${bare}:/usr/bin:/bin`);
  t.equal(missing.code, 1);
  t.match(missing.stdout, /^::error title=tool is not installed::add a step before this one/);
});

t.test("the action that installs takes the newest or a given release, or what a cache has kept", async (t) => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const host = await startReleaseHost(t);
  const filled = { origin: host.origin, edition: "pro", keys: [pinnedKeyOf(privateKey)] };
  const script = fillInstaller(readFileSync(join(root, "cli/release/install.sh"), "utf8"), filled);
  for (const version of ["1.3.0", "1.2.3"]) {
    const files = { "bin/tool": `#!/bin/sh\necho ${version}-pro\n` };
    const release = releaseOf({ version, key: privateKey, kind: "tool-cli", files });
    host.releases.set(version, release.set("install.sh", Buffer.from(script)));
  }
  const cwd = t.testdir({ cache: {}, tmp: {} });
  const env = {
    ...{ RUNNER_TOOL_CACHE: join(cwd, "cache"), TMPDIR: join(cwd, "tmp"), HOME: cwd },
    ...{ GITHUB_SERVER_URL: host.pages, CURL_CA_BUNDLE: CERTIFICATE },
  };
  const contexts = {
    ...{ "github.action_repository": "", "github.repository": "acme/tool", "github.token": "ghs_abc" },
    ...{ "runner.os": "Linux", "runner.arch": "X64" },
  };
  const run = (inputs: Readonly<Record<string, string>>) => runAction("setup", { cwd, env, contexts, inputs });
  const rows: [inputs: Readonly<Record<string, string>>, version: string][] = [
    [{}, "1.3.0"],
    [{ version: "v1.2.3" }, "1.2.3"],
  ];
  for (const [inputs, version] of rows) {
    const result = await run(inputs);
    t.same([result.code, result.outputs, result.stdout], [0, { version }, `${version}-pro\n`], result.stderr);
    t.equal(result.path, join(cwd, "cache/tool-cli", version, "bin"));
  }
  t.ok(
    host.requests.some(({ authorization }) => authorization === "Bearer ghs_abc"),
    "the token is used",
  );
  t.notOk(host.requests.some(({ host, authorization }) => host === "files" && authorization !== undefined));
  // The next machine has what the cache kept, as it is there or as somebody changed it.
  const folder = join(cwd, "cache/tool-cli/1.3.0");
  const [archive = ""] = readdirSync(join(folder, "archives"));
  const damaged = "#!/bin/sh\necho 1.3.0-pro; echo replaced\n";
  const nextMachine = () => {
    for (const name of ["bin", "lib"]) rmSync(join(folder, name), { recursive: true });
  };
  const machines: [name: string, prepare: () => void, isDownloaded: boolean][] = [
    ["the same machine", () => {}, false],
    ["the same machine, whose command was replaced", () => writeFileSync(join(folder, "bin/tool"), damaged), false],
    ["a cached archive", nextMachine, false],
    [
      "a cached archive that was replaced",
      () => {
        nextMachine();
        writeFileSync(join(folder, "archives", archive), damaged);
      },
      true,
    ],
    [
      "a cached archive that was cut",
      () => {
        nextMachine();
        writeFileSync(join(folder, "archives", archive), "");
      },
      true,
    ],
    ["a cached archive again", nextMachine, false],
  ];
  for (const [name, prepare, isDownloaded] of machines) {
    prepare();
    host.requests.length = 0;
    const cached = await run({ version: "1.3.0" });
    t.same([cached.code, cached.stdout], [0, "1.3.0-pro\n"], `${name}: ${cached.stderr}`);
    t.equal(
      host.requests.some(({ path }) => path.includes(".tar.")),
      isDownloaded,
      name,
    );
  }
  nextMachine();
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/tool"), damaged, { mode: 0o755 });
  const refusedCommand = await run({ version: "1.3.0" });
  t.equal(refusedCommand.code, 1);
  t.match(refusedCommand.stderr, /bin\/tool exists, and this script did not install it/);
  rmSync(folder, { recursive: true });
  const refused: [inputs: Readonly<Record<string, string>>, stdout: RegExp][] = [
    [{ version: "9.9.9" }, /^::error title=version::there is no release 9\.9\.9 of acme\/tool\n$/],
    [{ version: "1.2.3; id" }, /^::error title=version::1\.2\.3; id is no version, such as 1\.2\.3, nor latest\n$/],
    [{ version: "1\n::add-mask::x%" }, /^::error title=version::1%0A::add-mask::x%25 is no version, [^\n]*\n$/],
    [{ version: "1\r::add-mask::x" }, /^::error title=version::1%0D::add-mask::x is no version, [^\n]*\n$/],
    ...["..", ".", "-x", "v"].map((version): [Readonly<Record<string, string>>, RegExp] => [
      { version },
      /^::error title=version::[^\n]* is no version, such as 1\.2\.3, nor latest\n$/,
    ]),
    [{ kind: "all" }, /^::error title=kind::kind is tool or tool-cli\n$/],
    [{ version: "1.2.3", kind: "tool" }, /::error title=tool is not installed::what install\.sh says is above\n$/],
  ];
  for (const [inputs, stdout] of refused) {
    const result = await run(inputs);
    t.equal(result.code, 1, JSON.stringify(inputs));
    t.match(result.stdout, stdout);
  }
  host.releases.clear();
  t.match((await run({})).stdout, /^::error title=version::the newest version is not found at .*: name a version\n$/);
});

t.test("the job for GitLab fails by its inputs and leaves a report of all problems", async (t) => {
  const [header, jobs] = parseAllDocuments(readFileSync(join(root, ".gitlab/validate.yml"), "utf8"));
  const inputs = header!.toJS().spec.inputs;
  const run = async (given: Readonly<Record<string, string>>, cwd: string, PATH: string) => {
    const filled = String(jobs).replace(/\$\[\[ inputs\.([\w-]+) \]\]/g, (_, name) => {
      t.ok(name in inputs, name);
      return given[name] ?? String(inputs[name].default);
    });
    const { image, variables, script, artifacts } = parse(filled)["tool-validate"];
    t.equal(image, given.image ?? "node:24");
    t.match(artifacts, { when: "always", reports: { codequality: "gl-code-quality-report.json" } });
    const result = await bash(script.join("\n"), cwd, { ...variables, CI_PROJECT_DIR: cwd, PATH });
    return { ...result, issues: JSON.parse(readFileSync(join(cwd, "gl-code-quality-report.json"), "utf8")) };
  };
  const rows: [text: string, inputs: Readonly<Record<string, string>>, code: number, issues: object[]][] = [
    [GOOD, {}, 0, []],
    [FAULTY, { path: "tool.json" }, 1, [{ check_name: "config/name", location: { path: "tool.json" } }]],
    [DOUBTFUL, {}, 1, [{ severity: "minor" }]],
    [DOUBTFUL, { strict: "false" }, 0, [{ severity: "minor" }]],
  ];
  for (const [file, given, code, issues] of rows) {
    const folder = t.testdir({ "tool.json": file });
    const PATH = toolOnPath(folder);
    const result = await run(given, folder, PATH);
    t.equal(result.code, code, `${file} ${JSON.stringify(given)}`);
    t.match(result.issues, issues);
    t.equal(result.issues.length, issues.length);
  }
});

t.test("the hooks of pre-commit take the files that a folder's check takes, but for .toolignore", async (t) => {
  const hooks: { id: string; entry: string; files: string }[] = parse(
    readFileSync(join(root, ".pre-commit-hooks.yaml"), "utf8"),
  );
  t.same(
    hooks.map(({ id }) => id),
    ["tool-validate", "tool-validate-fix"],
  );
  const names = ["tool.json", "a/tool.json", "a/web.tool.json", "x.logq", "a/b c.logq"];
  const others = ["package.json", "atool.json", "tool.json.bak", "a/tool.jsonc", "logq", "y.logs/readme"];
  const folder = t.testdir({});
  for (const name of [...names, ...others]) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), "");
  }
  const checkable = await checkableFiles(folder);
  for (const { id, files } of hooks) {
    t.same([...names, ...others].filter((name) => new RegExp(files).test(name)).sort(), checkable, id);
  }
  // It runs the words of `entry`, and the names as further ones.
  const cwd = t.testdir({ "-x.tool.json": FAULTY, "--strict.logq": "error\n" });
  const PATH = toolOnPath(cwd);
  for (const { id, entry } of hooks) {
    const { code, stdout } = await bash(`${entry} -x.tool.json --strict.logq`, cwd, { PATH });
    t.equal(code, 1, id);
    t.match(stdout, /^-x\.tool\.json:1:11: error: /, id);
  }
});

interface Job {
  readonly steps: readonly (Step & { readonly name?: string })[];
  readonly "timeout-minutes": number;
}

const workflow = (
  name: string,
): { readonly on: object; readonly permissions: object; readonly jobs: Record<string, Job> } =>
  parse(readFileSync(join(root, ".github/workflows", name), "utf8"));

t.test("the workflow of CI runs what is here, by the oldest Node that is supported", (t) => {
  const { steps } = workflow("ci.yml").jobs.run!;
  const [node] = steps.flatMap((step) => (step.uses?.startsWith("actions/setup-node@") ? [step.with] : []));
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  t.match(engines.node, `>=${node!["node-version"]}.`);
  t.same(
    steps.flatMap(({ run }) => run ?? []),
    [".ci/run"],
  );
  t.equal(spawnSync("bash", ["-n", ".ci/run"], { cwd: root }).status, 0);
  accessSync(join(root, ".ci/run"), constants.X_OK);
  t.end();
});

/** A program that keeps its words, a line each, and does something else. */
function recordingProgram(folder: string, name: string, also = ":"): void {
  const script = `#!/bin/sh\nprintf '%s\\n' "$@" >"$RECORDS/${name}"\n${also}\n`;
  writeFileSync(join(folder, "bin", name), script, { mode: 0o755 });
}

t.test("the workflow that releases makes a release of its tag, and publishes each file of it", async (t) => {
  const { on, permissions, jobs } = workflow("release.yml");
  t.match(on, { push: { tags: ["v*"] } });
  t.match(permissions, { contents: "write", "id-token": "write", attestations: "write" });
  const { privateKey } = generateKeyPairSync("ed25519");
  const next = generateKeyPairSync("ed25519").publicKey;
  const pem = String(privateKey.export({ type: "pkcs8", format: "pem" }));
  for (const nextPem of ["", String(next.export({ type: "spki", format: "pem" }))]) {
    const cwd = t.testdir({ bin: {}, records: {}, temp: {} });
    const made = join(cwd, "temp/release/v1.2.3");
    recordingProgram(
      cwd,
      "npm",
      `cp -p "$RUNNER_TEMP"/*.pem "$RECORDS"; mkdir -p '${made}'; touch '${made}/a' '${made}/b'`,
    );
    recordingProgram(cwd, "gh");
    const env = {
      ...{
        PATH: `${join(cwd, "bin")}:${process.env.PATH}`,
        RECORDS: join(cwd, "records"),
        RUNNER_TEMP: join(cwd, "temp"),
      },
      ...{ GITHUB_REF_NAME: "v1.2.3", GITHUB_API_URL: "https://api.host.example", GITHUB_REPOSITORY: "acme/tool" },
    };
    const contexts = {
      ...{ "secrets.TOOL_RELEASE_KEY": pem.trimEnd(), "vars.TOOL_NEXT_KEY": nextPem.trimEnd() },
      ...{ "github.token": "ghs_abc", "runner.temp": env.RUNNER_TEMP },
    };
    const fill = filler("release.yml", new Map(Object.entries(contexts)));
    let attested = "";
    for (const { uses = "", run, shell, env: own = {}, with: given = {} } of jobs.release!.steps) {
      if (uses.startsWith("actions/attest-build-provenance@")) {
        t.notOk(existsSync(join(cwd, "temp/key.pem")), "the key is gone before programs of others run");
        attested = fill(given["subject-path"]!);
      }
      if (run === undefined) continue;
      t.equal(shell, "bash");
      const filled = Object.entries(own).map(([variable, template]) => [variable, fill(template)]);
      const { code, stderr } = await bash(run, cwd, { ...env, ...Object.fromEntries(filled) });
      t.same([code, stderr], [0, ""]);
    }
    const words = (program: string) =>
      readFileSync(join(cwd, "records", program), "utf8")
        .trimEnd()
        .split("\n");
    const [script, name, separator, ...argv] = words("npm");
    t.same([script, name, separator], ["run", "release", "--"]);
    // The keys as they were while it ran.
    const options = readReleaseOptions(
      argv.map((word) => word.replace(env.RUNNER_TEMP, env.RECORDS)),
      cwd,
    );
    t.match(options, { version: "1.2.3", origin: "https://api.host.example/repos/acme/tool", withXz: true });
    t.match(options, { systems: SYSTEMS, kinds: KINDS, editions: [{ edition: "pro", account: undefined }] });
    t.same(options.pins, [pinnedKeyOf(privateKey), ...(nextPem === "" ? [] : [pinnedKeyOf(next)])]);
    t.equal(statSync(join(cwd, "records/key.pem")).mode & 0o777, 0o600, "for nobody else to read");
    const files = ["a", "b"].map((file) => join(options.folder.replace(env.RECORDS, env.RUNNER_TEMP), file));
    t.same(words("gh"), ["release", "create", "v1.2.3", "--verify-tag", "--generate-notes", ...files]);
    const { stdout } = await bash(`printf '%s\n' ${attested}`, cwd, env);
    t.same(stdout.trimEnd().split("\n"), files, "what is attested");
  }
});

t.test("the jobs of the README name what there is", (t) => {
  const [, section = ""] = /^### In CI\n([\s\S]*?)^### /m.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
  const [github, gitlab, preCommit] = [...section.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => parse(text!));
  const definition = (path: string) => readFileSync(join(root, path), "utf8");
  const unknown = (given: object, inputs: object) => Object.keys(given).filter((name) => !(name in inputs));
  const own: Step[] = github.jobs.validate.steps.filter(({ uses }: Step) => uses?.startsWith("OWNER/tool/"));
  for (const { uses, with: given = {} } of own) {
    const path = uses!.replace(/^OWNER\/tool\/(.*)@.*$/, "$1/action.yml");
    t.same(unknown(given, parse(definition(path)).inputs), [], path);
  }
  t.equal(own.length, 2, "it is installed, and validates");
  const [{ remote, inputs }] = gitlab.include;
  const [header] = parseAllDocuments(definition(/\.gitlab\/.*/.exec(remote)![0]));
  t.same(unknown(inputs, header!.toJS().spec.inputs), []);
  const hooks: { id: string }[] = parse(definition(".pre-commit-hooks.yaml"));
  for (const { id } of preCommit.repos[0].hooks)
    t.ok(
      hooks.some((hook) => hook.id === id),
      id,
    );
  t.end();
});
