// Every example of `tool help`, typed into a shell as it is printed there. Absolute paths and ports are moved out of the way
// of this machine, and what runs until it is stopped is stopped; the cloud is the stand-in.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { describeTable } from "../../cli/table.ts";
import { anyPort } from "../../runtime/port.ts";
import { openAws } from "../support/aws/index.ts";
import { cliPath, tool } from "../support/cli.ts";
import { appSource } from "../support/deployed-app.ts";
import { requires } from "../support/require.ts";

const skip = requires("bash") || requires("git") || requires("openssl") || requires("curl");

/** Examples that do not simply succeed where nobody answers questions, and what they end with. */
const OTHERWISE: readonly (readonly [example: RegExp, code: number, said: RegExp])[] = [
  [/^tool stack delete$/, 2, /--yes/],
  [/^tool domains buy$/, 2, /terminal|--|answer/],
  [/^tool service token rm tok_4h7/, 1, /no such token/],
  [/--records postgres:/, 1, /the database logs at localhost:5432/],
  [/^tool team login .*--url/, 1, /does not answer/],
  [/^tool team login .*--team/, 2, /--url/],
  [/^tool upgrade/, 1, /runs from its sources/],
  [/gh secret set/, 0, /nobody is signed in/],
  [/^tool stack rotate-logs-token/, 1, /nobody is signed in/],
  [/^tool stack (?:plan|apply)$/, 1, /the log service needs a token/],
  [/^tool alerts export/, 1, /does not answer/],
  [/^tool team (?:switch|logout|add|members|ci|subscribe|unsubscribe|card)\b/, 1, /nobody is signed in/],
];
/** Examples that run until they are stopped, and what they say first. */
const ENDLESS: readonly (readonly [example: RegExp, said: RegExp])[] = [
  [/^tool start\b/, /is at http/],
  [/^tool service start\b/, /log service is at/],
  [/^tool logs\b.*\s-f\b/, /(?:)/],
  [/^tool lsp\b/, /(?:)/],
];

interface Outcome {
  readonly code: number | null;
  readonly text: string;
}

t.test("each example of the help", { skip }, async (t) => {
  // The command finds the folder of its project by its real path.
  const world = realpathSync(mkdtempSync(join(tmpdir(), "tool-examples-")));
  t.teardown(() => rmSync(world, { recursive: true, force: true, maxRetries: 5 }));
  const aws = await openAws({ clock: { speed: 1000 } });
  t.teardown(() => aws.close());
  const app = join(world, "app");
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(join(world, path, ".."), { recursive: true });
    writeFileSync(join(world, path), text, { mode });
  };
  const config = {
    name: "app",
    hooks: { build: "true" },
    logs: {
      service: "https://logs.example.com",
      queries: { slow: "duration > 1s" },
      alerts: {
        errors: {
          ...{ query: "status >= 500", operator: ">", threshold: 0, interval: "5m", notify: "ops" },
          tests: [{ file: "spike.ndjson", triggers: 1 }],
        },
      },
      notifications: { ops: { type: "email", email_addresses: ["ops@example.com"] } },
    },
    stages: { production: {} },
  };
  write("app/tool.json", JSON.stringify(config));
  write("app/app.js", appSource("one"));
  write("app/.env.production", "SENTRY_DSN='https://key@sentry.example/1'\n");
  write("app/key.pem", "-----BEGIN KEY-----\nMIIC\n-----END KEY-----\n");
  write("app/apps/shop/tool.json", '{"name": "shop"}');
  write(
    "app/logs/old.ndjson",
    '{"timestamp":"2026-01-01T00:00:00Z","level":"info","message":"large","fields":{"size":2000000}}\n',
  );
  write(
    "app/spike.ndjson",
    '{"timestamp":"2026-01-01T00:00:00Z","level":"error","message":"response","fields":{"status":500}}\n',
  );
  mkdirSync(join(app, "ops"));
  write("bin/tool", `#!/bin/sh\nexec "${process.execPath}" "${cliPath}" "$@"\n`, 0o755);
  write("bin/xdg-open", "#!/bin/sh\n", 0o755);
  write("bin/gh", "#!/bin/sh\ncat\n", 0o755);
  // The address of an API is a name of the cloud, which the stand-in answers for.
  write(
    "bin/curl",
    `#!/bin/sh\nexec /usr/bin/curl -sS --connect-to ::127.0.0.1:${new URL(aws.endpoint).port} "$(echo "$1" | sed s/^https/http/)"\n`,
    0o755,
  );
  const env = {
    ...process.env,
    ...aws.env,
    HOME: join(world, "home"),
    PATH: `${join(world, "bin")}:${process.env.PATH}`,
    XDG_CACHE_HOME: join(world, "cache"),
    XDG_CONFIG_HOME: join(world, "config"),
    GIT_CEILING_DIRECTORIES: world,
    GIT_CONFIG_COUNT: "2",
    ...{
      GIT_CONFIG_KEY_0: "user.name",
      GIT_CONFIG_VALUE_0: "test",
      GIT_CONFIG_KEY_1: "user.email",
      GIT_CONFIG_VALUE_1: "t@example.com",
    },
    NO_COLOR: "1",
    DISPLAY: ":0",
  };
  for (const folder of ["home", "var/lib", "backup"]) mkdirSync(join(world, folder), { recursive: true });
  const run = (line: string, said: RegExp | undefined) =>
    new Promise<Outcome>((done) => {
      const child = spawn("bash", ["-c", line], { cwd: app, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
      let text = "";
      let isSaid = said === undefined;
      const stop = (signal: "SIGINT" | "SIGKILL") => {
        // It may have ended by itself.
        if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, signal);
      };
      const timer = setTimeout(() => stop("SIGKILL"), 60_000);
      const look = () => {
        if (isSaid || !said!.test(text)) return;
        isSaid = true;
        // A moment in which it may fail.
        setTimeout(() => stop("SIGINT"), 1500);
      };
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (more: string) => {
          text += more;
          look();
        });
      }
      if (said?.source === "(?:)") look();
      child.once("close", (code) => {
        clearTimeout(timer);
        done({ code, text });
      });
    });

  // The cloud is in this process: nothing may wait for a command in it.
  const shell = async (line: string) => {
    const { code, text } = await run(`set -e; ${line}`, undefined);
    if (code !== 0) throw new Error(`${line}: ${text}`);
  };
  await shell("openssl req -x509 -newkey rsa:2048 -nodes -keyout k -out c -days 1 -subj /CN=localhost 2>/dev/null");
  // The state that the examples need before them: two deployments of each stage, the first one of a tag.
  await shell(
    "printf '%s\\n' k c logs d >.gitignore; git init -q; git add .; git commit -qm one; git tag v1.4.0; tool deploy production >/dev/null; tool deploy >/dev/null",
  );
  write("app/app.js", appSource("two"));
  await shell("git commit -qam two; tool deploy production >/dev/null; tool deploy >/dev/null");
  await shell("tool service init --data d >/dev/null");

  const service = await anyPort();
  const moved = (example: string) =>
    example
      .replaceAll(/(?<=[\s])\/(var|backup)\//g, `${world}/$1/`)
      .replace("0.0.0.0:443", "127.0.0.1:0")
      .replace("127.0.0.1:8080", "127.0.0.1:0")
      .replace(/^tool start(?!.*--address)/, "tool start --address 127.0.0.1:0")
      .replace(/^tool service start(?!.*--address)/, "tool service start --address 127.0.0.1:0")
      .replaceAll("localhost:5000", `localhost:${service}`);

  const seen = new Set<string>();
  const commands = describeTable().map(({ name }) => name.replace("__default__", ""));
  for (const command of ["", ...commands]) {
    const { stdout } = await tool(["help", ...command.split(" ").filter((word) => word !== "")]);
    const [, listed = ""] = stdout.split("\nExamples\n");
    for (const line of listed.split("\n").map((text) => text.trim())) {
      if (line === "" || seen.has(line)) continue;
      seen.add(line);
      const example = line.replace(/\s+#.*$/, "");
      // The folder that it makes, or fills, is the one that the examples after it are about.
      if (/service (?:restore|init)/.test(example)) rmSync(join(app, "logs"), { recursive: true, force: true });
      // The one that makes it comes later, in a folder that must not be there yet.
      const backup = join(world, "backup/2026-01-31");
      if (example.startsWith("tool service check --backup"))
        await shell(`tool service backup --data d ${backup} >/dev/null`);
      if (example.startsWith("tool service backup")) rmSync(backup, { recursive: true });
      const [, code = 0, text = undefined] = OTHERWISE.find(([one]) => one.test(example)) ?? [];
      const [, said] = ENDLESS.find(([one]) => one.test(example)) ?? [];
      const needsService = example.includes("localhost:5000");
      const beside = needsService ? await startBeside() : undefined;
      const outcome = await run(moved(example), said);
      await beside?.();
      const isEnded = said === undefined ? outcome.code === code : [0, 1, 130, null].includes(outcome.code);
      t.ok(isEnded, `${example}: exit ${outcome.code}: ${outcome.text.slice(-600)}`);
      if (text !== undefined) t.match(outcome.text, text, example);
      else t.notMatch(outcome.text, /^error: /m, example);
    }
  }
  // Examples of the sandbox have started it.
  await shell("tool sandbox stop");
  t.ok(seen.size > 60, `${seen.size} examples`);
  t.match(readFileSync(join(app, "policy.json"), "utf8"), /"Statement"/);

  async function startBeside(): Promise<() => Promise<void>> {
    rmSync(join(world, "service"), { recursive: true, force: true });
    const { stdout } = spawnSync("bash", ["-c", `tool service init --data ${world}/service --format json`], {
      env,
      encoding: "utf8",
    });
    Object.assign(env, { TOOL_LOGS_TOKEN: JSON.parse(stdout).token });
    const child = spawn(
      join(world, "bin/tool"),
      ["service", "start", "--data", join(world, "service"), "--address", `127.0.0.1:${service}`],
      { env, stdio: ["ignore", "pipe", "ignore"] },
    );
    await new Promise((done) => child.stdout.once("data", done));
    const { url, headers } = {
      url: `http://localhost:${service}`,
      headers: { authorization: `Bearer ${JSON.parse(stdout).token}`, "content-type": "application/json" },
    };
    await fetch(`${url}/add_project`, {
      method: "POST",
      headers,
      body: JSON.stringify({ project: { id: "app", name: "app" } }),
    });
    const ended = new Promise<void>((done) => child.once("close", () => done()));
    return async () => {
      child.kill("SIGTERM");
      await ended;
    };
  }
});
