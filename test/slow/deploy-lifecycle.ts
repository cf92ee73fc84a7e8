// A whole life of an app by the commands that a person types: from the examples to running stages, on to a custom one,
// and to an account that holds nothing of it any more.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type Aws, startAws } from "../support/aws/index.ts";
import { root } from "../support/cli.ts";
import { type AppFolder, appFolder, askEndpoint } from "../support/deployed-app.ts";
import { remains } from "../support/remains.ts";
import { requires } from "../support/require.ts";
import { apps } from "../support/runtime.ts";

const PYTHON_APP = `
import http.server, os
class App(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello from Python\\n")
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), App).serve_forever()
`;

const GIT_ENV = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Ann",
  GIT_AUTHOR_EMAIL: "ann@example.com",
  GIT_COMMITTER_NAME: "Ann",
  GIT_COMMITTER_EMAIL: "ann@example.com",
};

async function succeeds(t: Test, app: AppFolder, argv: readonly string[]) {
  const outcome = await app.tool(argv);
  if (!t.equal(outcome.code, 0, `tool ${argv.join(" ")}`.trim())) t.comment(outcome.stderr);
  return outcome;
}

t.test("Node: every step", async (t) => {
  const aws = await startAws(t);
  const app = exampleApp(aws, t.testdir(), "node-server");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: app.directory, env: GIT_ENV, encoding: "utf8" });
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "-m", "one");
  git("tag", "v1.0.0");

  const staging = (await succeeds(t, app, [])).stdout.trim();
  t.match(await askEndpoint(aws, `${staging}api/orders`), { status: 200, body: /Ada|customer/ }, "GET /api/orders");
  t.match(await askEndpoint(aws, `${staging}order/48`), { status: 301 }, "a redirect of tool.json");
  t.match(await askEndpoint(aws, `${staging}assets/style.css`), { status: 200 }, "a static file");
  t.match(await askEndpoint(aws, `${staging}api/nothing`), { status: 404 }, "an error of the app is its own");

  const logs = (await succeeds(t, app, ["logs", "path = /api/orders"])).stdout;
  t.match(
    logs,
    /"message":"request".*"path":"\/api\/orders"[\s\S]*"message":"response".*"status":200/,
    "the request is in the log",
  );
  t.match((await succeeds(t, app, ["logs", "--count", "status = 404 staging"])).stdout, /^1\n/);

  const production = (await succeeds(t, app, ["deploy", "production"])).stdout.trim();
  t.match(await askEndpoint(aws, `${production}api/orders`), { status: 200 });

  writeFileSync(join(app.directory, "public/change.txt"), "changed\n");
  git("add", ".");
  git("commit", "--quiet", "-m", "two");
  git("tag", "v1.1.0");
  t.match((await succeeds(t, app, [])).stderr, /staging is deployed: version \d+ \(v1\.1\.0\), previously \d+/);
  const changed = () => askEndpoint(aws, `${staging}assets/change.txt`);
  t.match(await changed(), { status: 200, body: "changed\n" });

  const { stdout: list } = await succeeds(t, app, ["deploys"]);
  t.match(list, /^staging +\d+ +v1\.1\.0 +Ann +\d{4}-\d\d-\d\d \d\d:\d\d UTC +current$/m);
  t.match(list, /^staging +\d+ +v1\.0\.0 +Ann .*previous$/m);
  t.match(list, /^production +\d+ +v1\.0\.0 +Ann .*current$/m);
  await succeeds(t, app, ["rollback"]);
  t.match(await changed(), { status: 404 }, "rolled back");
  await succeeds(t, app, ["rollback"]);
  t.match(await changed(), { status: 200 }, "and forth");
  await succeeds(t, app, ["rollback", "v1.0.0"]);
  t.match(await changed(), { status: 404 }, "to a tag");

  const config = JSON.parse(readFileSync(join(app.directory, "tool.json"), "utf8"));
  app.write({ "tool.json": JSON.stringify({ ...config, stages: { beta: { domain: "beta.example.com" } } }) });
  const early = await app.tool(["beta"]);
  t.equal(early.code, 1, "tool beta before it is applied");
  t.match(early.stderr, /tool stack plan .* tool stack apply/);
  t.match((await succeeds(t, app, ["stack", "plan"])).stdout, /beta/);
  await succeeds(t, app, ["stack", "apply"]);
  const beta = (await succeeds(t, app, ["beta"])).stdout.trim();
  t.match(await askEndpoint(aws, `${beta}api/orders`), { status: 200 }, `GET ${beta}api/orders`);
  await succeeds(t, app, ["stack"]);

  const { stdout: left } = await succeeds(t, app, ["stack", "delete", "--yes", "--logs"]);
  t.same(await remains(aws), [], `nothing is left: ${left.trim()}`);
});

t.test("an archive of more than 50 MB goes through the bucket", async (t) => {
  const aws = await startAws(t);
  const app = exampleApp(aws, t.testdir(), "static-site");
  // A served file has at most 6 MB.
  for (let i = 0; i < 11; i++) writeFileSync(join(app.directory, `large-${i}.bin`), randomBytes(5 * 1024 * 1024));
  const url = (await succeeds(t, app, [])).stdout.trim();
  t.equal(aws.journal.count("s3", "PutObject"), 1);
  t.match(await askEndpoint(aws, `${url}guide/`), { status: 200 });
  const largest = Math.max(
    ...aws.journal.entries.filter(({ service }) => service === "lambda").map(({ bytes }) => bytes),
  );
  t.ok(largest < 100_000, `${largest} bytes in the largest call of the function service`);
  t.match((await succeeds(t, app, [])).stderr, /nothing was uploaded/);
  t.equal(aws.journal.count("s3", "PutObject"), 1, "once");
});

interface Language {
  readonly name: string;
  readonly needs?: string;
  readonly needsLayer?: boolean;
  /** Puts the app into a folder and answers what to ask it for. */
  readonly make: (aws: Aws, folder: string) => AppFolder;
  readonly path: string;
  readonly body: RegExp;
}

const languages: readonly Language[] = [
  {
    name: "static",
    make: (aws, folder) => exampleApp(aws, folder, "static-site"),
    path: "guide/",
    body: /<html/i,
  },
  {
    name: "Go",
    needs: "go",
    make: (aws, folder) => languageApp(aws, folder, "main.go", {}),
    path: "a?x=1",
    body: /"url":"\/a\?x=1"/,
  },
  {
    name: "Python",
    needs: "python3",
    needsLayer: true,
    make: (aws, folder) => exampleApp(aws, folder, "python-server"),
    path: "",
    body: /./,
  },
  {
    name: "Java",
    needs: "javac",
    needsLayer: true,
    make: (aws, folder) =>
      languageApp(aws, folder, "Server.java", {
        hooks: { build: "javac Server.java", clean: "rm -f *.class" },
        proxy: { command: "java -Xshare:auto Server" },
      }),
    path: "a?x=1",
    body: /"url":"\/a\?x=1"/,
  },
];

for (const { name, needs, needsLayer = false, make, path, body } of languages) {
  const skip = (needs !== undefined && requires(needs)) || (needsLayer && withoutLayer());
  t.test(name, { skip }, async (t) => {
    const aws = await startAws(t);
    const app = make(aws, t.testdir());
    const url = (await succeeds(t, app, [])).stdout.trim();
    const answer = await askEndpoint(aws, `${url}${path}`);
    if (!t.equal(answer.status, 200, `GET ${url}${path}`)) t.comment(answer.body);
    t.match(answer.body, body);
    t.match((await succeeds(t, app, [])).stderr, /nothing was uploaded/, "built again it is the same");
    await succeeds(t, app, ["stack", "delete", "--yes", "--logs"]);
    // The layer, and the bucket that it came through, serve all apps of the account.
    t.same(
      (await remains(aws)).filter((what) => !/^(layer tool-runtime|bucket tool-.*)$/.test(what)),
      [],
    );
  });
}

t.test("Python, from an installation without the runtime", async (t) => {
  const folder = t.testdir();
  mkdirSync(join(folder, "dist"));
  execFileSync("cp", ["-al", join(root, "dist/bin"), join(folder, "dist/bin")]);
  const aws = await startAws(t);
  const app = appFolder(
    aws,
    join(folder, "app"),
    { "tool.json": '{ "name": "app", "proxy": { "command": "python3 app.py" } }', "app.py": PYTHON_APP },
    { path: join(folder, "dist/bin/cli.cjs") },
  );
  // npm as the machine has it: its registry and its cache.
  const first = await app.tool([], { HOME: process.env.HOME ?? "" });
  if (/registry cannot be reached/.test(first.stderr) && process.env.TOOL_TEST_REQUIRE !== "all") {
    t.comment("skipped: needs the npm registry");
    return;
  }
  if (!t.equal(first.code, 0, "the first")) t.comment(first.stderr);
  const phase = "runtime for Python and Java";
  t.match(first.stderr, new RegExp(`^${phase}: downloading its engine \\(40 MB`, "m"));
  t.match(first.stderr, new RegExp(`^${phase}: made on this machine, 5\\d\\.\\d MB \\(`, "m"));
  t.match(await askEndpoint(aws, first.stdout.trim()), { status: 200, body: "hello from Python\n" });
  // Nothing is downloaded a second time.
  const offline = { npm_config_registry: "http://127.0.0.1:1/", PATH: process.env.PATH ?? "" };
  const second = await app.tool([], offline);
  t.equal(second.code, 0, "the second") || t.comment(second.stderr);
  t.match(second.stderr, /nothing was uploaded/);
  t.notMatch(second.stderr, phase);
});

function exampleApp(aws: Aws, folder: string, name: string): AppFolder {
  const directory = join(folder, name);
  cpSync(join(root, "examples", name), directory, { recursive: true, filter: (source) => !source.endsWith(".tool") });
  return appFolder(aws, directory, {});
}

function languageApp(aws: Aws, folder: string, source: string, config: object): AppFolder {
  const directory = join(folder, "app");
  mkdirSync(directory);
  cpSync(join(apps, "languages", source), join(directory, source));
  // The files that a project of the language has beside its source.
  const project: Record<string, string> = source.endsWith(".java")
    ? { "pom.xml": "<project/>\n" }
    : { "go.mod": "module app\n\ngo 1.19\n" };
  return appFolder(aws, directory, { ...project, "tool.json": JSON.stringify({ name: "app", ...config }) });
}

function withoutLayer(): string | false {
  if (existsSync(join(root, "dist/layer/tool-runtime.json"))) return false;
  if (process.env.TOOL_TEST_REQUIRE === "all") throw new Error("the runtime's layer is missing: npm run build:layer");
  return "needs the runtime's layer: npm run build:layer";
}
