// Whose token the command uses: the file, TOOL_CONFIG, and the origins that a token is sent to.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import t, { type Test } from "tap";
import { CredentialsFile } from "../../../cli/team/credentials-file.ts";
import { readOrigin } from "../../../cli/team/origin.ts";
import {
  type Credential,
  NO_TEAMS,
  printTeamConfig,
  readTeamConfig,
  type TeamConfig,
  withCredential,
  withCurrent,
  withoutCredential,
} from "../../../cli/team/team-config.ts";
import { readToolConfig } from "../../../cli/team/tool-config.ts";
import { type Clock, systemClock } from "../../../grammar/units/clock.ts";
import { listening, root, startTool, tool } from "../../support/cli.ts";
import { TestClock } from "../../support/test-clock.ts";
import { until } from "../../support/until.ts";

const ACME = { team: "acme", email: "ann@example.com", url: "https://logs.example.com", token: "lgs_secretone" };
const SHOP = { ...ACME, team: "shop", token: "lgs_secrettwo" };
const json = (value: unknown) => JSON.stringify(value);
const configOf = (...credentials: Credential[]) => credentials.reduce(withCredential, NO_TEAMS);

t.test("origins that a token may go to", (t) => {
  const rows: [address: string, expected: string | RegExp, hint?: string][] = [
    ["https://logs.example.com", "https://logs.example.com"],
    ["https://LOGS.example.com:443/", "https://logs.example.com"],
    ["https://logs.example.com:8443", "https://logs.example.com:8443"],
    ["http://localhost:5000", "http://localhost:5000"],
    ["http://tool.localhost:5000", "http://tool.localhost:5000"],
    ["http://127.0.0.1:5000", "http://127.0.0.1:5000"],
    ["http://127.1:5000", "http://127.0.0.1:5000"],
    ["http://[::1]:5000", "http://[::1]:5000"],
    ["http://logs.example.com", /^plain HTTP would show the token/],
    ["http://logs.example.com:5711", /^plain HTTP would show the token/, "write https://logs.example.com:5711"],
    ["http://localhost.example.com", /^plain HTTP/],
    ["http://notlocalhost", /^plain HTTP/],
    ["http://127.0.0.1.example.com", /^plain HTTP/],
    ["http://128.0.0.1", /^plain HTTP/],
    ["http://[::2]", /^plain HTTP/],
    ["http://10.0.0.1", /^plain HTTP/],
    ["https://logs.example.com/acme", /^the address has more than https:\/\/logs\.example\.com$/],
    ["https://ann:secret@logs.example.com", /^the address has more than https:\/\/logs\.example\.com$/],
    ["https://logs.example.com/?team=acme", /^the address has more/],
    ["ftp://logs.example.com", /^"ftp:\/\/logs.example.com" is not an address of a log service$/],
    ["logs.example.com", /is not an address/],
    ["localhost:5000", /is not an address/],
    ["", /is not an address/],
  ];
  for (const [address, expected, hint = /^write http/] of rows) {
    const read = readOrigin(address);
    if (typeof expected === "string") t.same(read, { ok: true, value: expected }, address);
    else t.match(read, { ok: false, problems: [{ message: expected, hint }] }, address);
  }
  t.end();
});

t.test("what a file may hold", (t) => {
  const entry = (change: object) => json({ teams: { acme: { ...ACME, ...change } } });
  const rows: [text: string, message: string | undefined][] = [
    ["{}", undefined],
    [json({ team: "acme", teams: { acme: ACME } }), undefined],
    [json({ team: null, teams: {} }), undefined],
    [json({ team: "gone", teams: { acme: ACME } }), undefined],
    ["", "is not valid JSON: see line 1"],
    ['{\n"team": "acme",\n"teams": lgs_secretone }', "is not valid JSON: see line 3"],
    ["[]", "is not a JSON object"],
    ["null", "is not a JSON object"],
    [json({ team: 1 }), 'has a "team" that is not a string'],
    [json({ teams: [] }), 'has "teams" that are not an object'],
    [json({ teams: { acme: "lgs_secretone" } }), 'has no object for the team "acme"'],
    [entry({ team: "Acme Inc" }), 'has no valid "team" for the team "acme"'],
    [entry({ email: 1 }), 'has no "email" for the team "acme"'],
    [entry({ url: "http://logs.example.com" }), 'has no valid "url" for the team "acme"'],
    [entry({ token: "" }), 'has no valid "token" for the team "acme"'],
    [entry({ token: "lgs_secretone\r\nX-Team: shop" }), 'has no valid "token" for the team "acme"'],
    [entry({ token: "l\u00fcs_secret" }), 'has no valid "token" for the team "acme"'],
  ];
  for (const [text, message] of rows) {
    const read = readTeamConfig(text);
    t.equal(read.ok ? undefined : read.problems[0].message, message, text);
  }
  t.end();
});

t.test("adding, choosing and removing teams", (t) => {
  const keys = (config: TeamConfig) => [...config.credentials.map(({ key }) => key), `current ${config.current?.key}`];
  const elsewhere = { ...ACME, url: "http://127.0.0.1:5000" };
  const alsoThere = { ...ACME, url: "https://127.0.0.1:5000" };
  const three = configOf(ACME, elsewhere, alsoThere);
  t.same(keys(configOf(ACME, SHOP)), ["acme", "shop", "current shop"], "the newest is the current one");
  t.same(
    keys(three),
    ["acme", "acme@127.0.0.1:5000", "acme@https://127.0.0.1:5000", "current acme@https://127.0.0.1:5000"],
    "the same id at other services",
  );
  const again = withCredential(three, { ...elsewhere, token: "lgs_new" });
  t.equal(again.credentials.length, 3, "signed in again");
  t.match(again.current, { key: "acme@127.0.0.1:5000", token: "lgs_new" });
  t.same(keys(withCurrent(configOf(ACME, SHOP), "acme")), ["acme", "shop", "current acme"]);
  t.same(keys(withoutCredential(configOf(ACME, SHOP), "shop")), ["acme", "current acme"], "the only one that is left");
  t.same(keys(withoutCredential(configOf(ACME, SHOP), "acme")), ["shop", "current shop"]);
  t.same(keys(withoutCredential(three, three.current!.key)), ["acme", "acme@127.0.0.1:5000", "current undefined"]);
  t.same(keys(withoutCredential(configOf(ACME), "acme")), ["current undefined"]);

  const text = json({ later: [1], team: "acme", teams: { acme: { ...ACME, note: "mine" }, shop: SHOP } });
  const read = readTeamConfig(text);
  if (!read.ok) throw new Error(read.problems[0].message);
  const changed = withCredential(read.value, { ...ACME, token: "lgs_new" });
  t.match(JSON.parse(printTeamConfig(changed)), { later: [1], teams: { acme: { note: "mine", token: "lgs_new" } } });
  t.match(JSON.parse(printTeamConfig(withoutCredential(read.value, "shop"))), { later: [1], teams: { acme: ACME } });
  t.end();
});

t.test("TOOL_CONFIG", (t) => {
  const text = printTeamConfig(configOf(ACME));
  const base64 = Buffer.from(text).toString("base64");
  const rows: [title: string, value: string][] = [
    ["JSON", text],
    ["base64", base64],
    ["base64url", Buffer.from(text).toString("base64url")],
    ["base64 in lines", `${base64.replace(/.{76}/g, "$&\r\n")}\n`],
  ];
  for (const [title, value] of rows) t.match(readToolConfig(value).current, ACME, title);
  const bad: [value: string, message: string][] = [
    ["lgs_secretone!", "TOOL_CONFIG is neither JSON nor base64 of it"],
    ["lgs_secretone", "TOOL_CONFIG is neither JSON nor base64 of it"],
    ["//79", "TOOL_CONFIG is neither JSON nor base64 of it"],
    ['{"teams": lgs_secretone', "TOOL_CONFIG is not valid: it is not valid JSON: see line 1"],
    [base64.slice(0, 40), "TOOL_CONFIG is not valid: it is not valid JSON: see line 3"],
    [Buffer.from("[]").toString("base64"), "TOOL_CONFIG is not valid: it is not a JSON object"],
  ];
  for (const [value, message] of bad) {
    t.throws(() => readToolConfig(value), { message, hint: "set it to what tool team ci prints, or unset it" }, value);
  }
  t.end();
});

interface Home {
  readonly env: { readonly XDG_CONFIG_HOME: string };
  readonly path: string;
  readonly file: CredentialsFile;
  readonly said: string[];
}

/** A folder of configuration with a file in it, if a text is given. */
function homeOf(t: Test, text?: string, clock: Clock = systemClock): Home {
  const folder = mkdtempSync(join(tmpdir(), "tool-team-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const env = { XDG_CONFIG_HOME: join(folder, "config") };
  const path = join(env.XDG_CONFIG_HOME, "tool/config.json");
  if (text !== undefined) {
    mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
  }
  const said: string[] = [];
  return { env, path, said, file: new CredentialsFile({ env, clock, say: (line) => said.push(line) }) };
}

const modeOf = (path: string) => statSync(path).mode & 0o777;
const teamsIn = (path: string) => Object.keys(JSON.parse(readFileSync(path, "utf8")).teams);

t.test("the file", async (t) => {
  t.test("made for its owner alone", async (t) => {
    const { file, path, said } = homeOf(t);
    t.equal(file.read(), NO_TEAMS);
    t.notOk(existsSync(path), "reading makes nothing");
    await file.change(() => configOf(ACME));
    t.same([modeOf(path), modeOf(join(path, ".."))], [0o600, 0o700]);
    t.same(readdirSync(join(path, "..")), ["config.json"], "nothing else is left");
    t.match(file.read().current, ACME);
    t.same(said, []);
  });

  t.test("mended if others can read it", async (t) => {
    const { file, path, said } = homeOf(t, printTeamConfig(configOf(ACME)));
    chmodSync(path, 0o644);
    t.match(file.read().current, ACME);
    t.equal(modeOf(path), 0o600);
    t.same(said, [`${path} could be read by others; now only you can`]);
    chmodSync(join(path, ".."), 0o755);
    await file.change((now) => withCredential(now, SHOP));
    t.equal(modeOf(join(path, "..")), 0o700);
  });

  t.test("damaged: named, and never written", async (t) => {
    const { file, path } = homeOf(t, '{"teams": {"acme": ');
    const message = `${path} is not valid JSON: see line 1, and is left as it is`;
    const hint = `mend it, or move it away and sign in again:\nmv ${path} ${path}.damaged\ntool team login --email you@example.com --url https://logs.example.com`;
    t.throws(() => file.read(), { message, hint });
    await t.rejects(
      file.change(() => configOf(ACME)),
      { message },
    );
    await t.rejects(file.checkChangeable(), { message });
    t.equal(readFileSync(path, "utf8"), '{"teams": {"acme": ');
    t.same(readdirSync(join(path, "..")), ["config.json"]);
  });

  t.test("what is no file of ours", async (t) => {
    const text = printTeamConfig(configOf(ACME));
    const large = homeOf(t, " ".repeat(1024 * 1024 + 1));
    t.throws(() => large.file.read(), { message: `${large.path} is larger than 1 MB, and is left as it is` });

    const folder = homeOf(t);
    mkdirSync(folder.path, { recursive: true });
    t.throws(() => folder.file.read(), { message: `${folder.path} is not a file` });

    const pipe = homeOf(t);
    mkdirSync(join(pipe.path, ".."), { recursive: true });
    spawnSync("mkfifo", [pipe.path]);
    t.throws(() => pipe.file.read(), { message: `${pipe.path} is not a file` }, "does not wait for a writer");

    const inTheWay = homeOf(t);
    mkdirSync(inTheWay.env.XDG_CONFIG_HOME, { recursive: true });
    writeFileSync(join(inTheWay.env.XDG_CONFIG_HOME, "tool"), "");
    t.throws(() => inTheWay.file.read(), {
      message: `cannot read ${inTheWay.path}: a part of its path is not a folder`,
      hint: /^set XDG_CONFIG_HOME to a folder of your own, or TOOL_CONFIG/,
    });

    const others = homeOf(t, text);
    if (process.getuid!() === 0) {
      chownSync(others.path, 1, 1);
      t.throws(() => others.file.read(), { message: `${others.path} belongs to another user` });
    }
  });

  t.test("a symbolic link stays one", async (t) => {
    const { file, path } = homeOf(t);
    const kept = join(t.testdir({ dotfiles: {} }), "dotfiles/tool.json");
    mkdirSync(join(path, ".."), { recursive: true });
    symlinkSync(kept, path);
    const message = `${path} is a symbolic link to a file that is not there`;
    t.throws(() => file.read(), { message });
    await t.rejects(
      file.change(() => configOf(ACME)),
      { message },
    );
    t.notOk(existsSync(kept));

    writeFileSync(kept, printTeamConfig(configOf(ACME)), { mode: 0o644 });
    await file.change((now) => withCredential(now, SHOP));
    t.ok(lstatSync(path).isSymbolicLink());
    t.same([teamsIn(kept), modeOf(kept)], [["acme", "shop"], 0o600]);
    t.same(readdirSync(join(kept, "..")), ["tool.json"]);
  });

  t.test("a folder that cannot be written", async (t) => {
    const { env, path } = homeOf(t, printTeamConfig(configOf(ACME)));
    const folder = join(path, "..");
    // Root may write everywhere.
    const nobody = process.getuid!() === 0 ? 65_534 : undefined;
    if (nobody !== undefined) for (const one of [path, folder]) chownSync(one, nobody, nobody);
    chmodSync(folder, 0o500);
    for (const up of nobody === undefined ? [] : [join(folder, ".."), join(folder, "../..")]) chmodSync(up, 0o755);
    const script = `
      const { CredentialsFile } = await import(process.argv[1]);
      const { systemClock: clock } = await import(process.argv[2]);
      // Only now: the folder of the project may be closed to others.
      if (${nobody} !== undefined) {
        process.setgid(${nobody});
        process.setuid(${nobody});
      }
      const file = new CredentialsFile({ env: process.env, clock, say: console.log });
      console.log(file.read().current.team);
      await file.checkChangeable().catch(({ message }) => console.log(message));`;
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script, ...MODULES], {
      encoding: "utf8",
      env: { ...env },
    });
    t.same([stdout, stderr], [`acme\ncannot write ${path}: permission denied\n`, ""]);
  });
});

/** The compiled class and the clock, for processes that use them. */
const MODULES = ["cli/team/credentials-file", "grammar/units/clock"].map(
  (path) => pathToFileURL(join(root, `dist/${path}.js`)).href,
);

/** A process that adds teams named `<name>-0`, `<name>-1` and so on. */
function adder({ env }: Home, name: string, count: number) {
  const script = `
    const { CredentialsFile } = await import(process.argv[1]);
    const { systemClock: clock } = await import(process.argv[2]);
    const { withCredential } = await import(process.argv[1].replace("credentials-file", "team-config"));
    const file = new CredentialsFile({ env: process.env, clock, say: console.log });
    for (let i = 0; i < ${count}; i++) {
      const one = { team: "${name}-" + i, email: "ann@example.com", url: "https://logs.example.com", token: "lgs_" + i };
      await file.change((now) => withCredential(now, one));
      process.stdout.write(".");
    }`;
  const words = ["--input-type=module", "-e", script, ...MODULES];
  return spawn(process.execPath, words, { env: { ...env }, stdio: ["ignore", "pipe", "inherit"] });
}

const endOf = (child: ChildProcess) => new Promise<number | null>((done) => child.once("close", done));

t.test("two writers at once lose nothing", async (t) => {
  const home = homeOf(t);
  const codes = await Promise.all(["a", "b", "c"].map((name) => endOf(adder(home, name, 20))));
  t.same(codes, [0, 0, 0]);
  t.equal(teamsIn(home.path).length, 60);
  t.same(readdirSync(join(home.path, "..")), ["config.json"]);
});

/** Turns the clock until the work is done. */
async function within(clock: TestClock, work: Promise<unknown>): Promise<void> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  await until("the work", async () => {
    if (!isDone) await clock.advance(10);
    return isDone;
  });
  await done;
}

t.test("killed while it writes, again and again", async (t) => {
  const clock = new TestClock(Date.now());
  const home = homeOf(t, undefined, clock);
  let most = 0;
  for (let round = 0; round < 8; round++) {
    const child = adder(home, `r${round}`, 100_000);
    await once(child.stdout!, "data");
    // Anywhere within a change, which takes many turns of our event loop.
    for (let turns = Math.random() * 2_000; turns > 0; turns--) await turn();
    child.kill("SIGKILL");
    await endOf(child);
    const { length } = teamsIn(home.path);
    t.ok(length > most, `${length} teams after round ${round}`);
    most = length;
  }
  await within(
    clock,
    home.file.change((now) => withCredential(now, SHOP)),
  );
  t.ok(clock.monotonicMs() < 5_000, "a lock of a process that is gone is not waited for");
  t.equal(teamsIn(home.path).length, most + 1);
  t.same(readdirSync(join(home.path, "..")), ["config.json"]);
});

t.test("locks that are left", async (t) => {
  const rows: [title: string, content: string, ageMs: number][] = [
    ["of a process that is gone", `${2 ** 22 + 1} 0123`, 0],
    ["empty", "", 3_000],
    ["of a process with our id, on another machine", `${process.pid} 0123`, 31_000],
  ];
  for (const [title, content, ageMs] of rows) {
    const home = homeOf(t, printTeamConfig(configOf(ACME)));
    const lock = `${home.path}.lock`;
    writeFileSync(lock, content);
    utimesSync(lock, new Date(), new Date(Date.now() - ageMs));
    await home.file.change((now) => withCredential(now, SHOP));
    t.same(readdirSync(join(lock, "..")), ["config.json"], title);
  }
  const clock = new TestClock(Date.now());
  const home = homeOf(t, printTeamConfig(configOf(ACME)), clock);
  const lock = `${home.path}.lock`;
  writeFileSync(lock, `${process.pid} 0123`);
  const changed = home.file.change((now) => withCredential(now, SHOP));
  await clock.advance(200);
  t.same(teamsIn(home.path), ["acme"], "waits for one that is held");
  rmSync(lock);
  spawnSync("mkfifo", [lock]);
  utimesSync(lock, new Date(), new Date(Date.now() - 60_000));
  await within(
    clock,
    home.file.change((config) => config),
  );
  t.same(readdirSync(join(lock, "..")), ["config.json"], "a pipe is no lock, and is not waited for");
  await within(clock, changed);
  t.same(teamsIn(home.path), ["acme", "shop"]);
});

interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** A server that only remembers what it is asked, and refuses all of it. */
async function openListener(t: Test): Promise<{ readonly url: string; readonly requests: ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    requests.push({ path: request.url!, headers: request.headers });
    response.writeHead(401, { "content-type": "application/json" });
    response.end('{"type":"unauthorized","message":"this token is not known"}');
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.teardown(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

t.test("which token tool logs sends where", async (t) => {
  const { url, requests } = await openListener(t);
  const other = url.replace("127.0.0.1", "localhost");
  const here = { ...ACME, url };
  const alsoHere = { ...SHOP, url };
  const base64 = (config: TeamConfig) => Buffer.from(printTeamConfig(config)).toString("base64");
  const rows: [
    title: string,
    setup: { config?: TeamConfig | string; env?: Record<string, string>; url?: string },
    token: string | undefined,
    stderr: RegExp,
  ][] = [
    [
      "of who is signed in there",
      { config: configOf(here) },
      here.token,
      /tool team login --email ann@example.com --team acme --url http/,
    ],
    [
      "TOOL_LOGS_TOKEN first",
      { config: configOf(here), env: { TOOL_LOGS_TOKEN: "lgs_env" } },
      "lgs_env",
      /set TOOL_LOGS_TOKEN to/,
    ],
    [
      "TOOL_LOGS_TOKEN that is for this origin",
      { config: configOf(here), env: { TOOL_LOGS_TOKEN: "lgs_env", TOOL_LOGS_URL: `${url}/ingest/app` } },
      "lgs_env",
      /set TOOL_LOGS_TOKEN to/,
    ],
    [
      "TOOL_LOGS_TOKEN that is for another origin",
      { config: configOf(here), env: { TOOL_LOGS_TOKEN: "lgs_env", TOOL_LOGS_URL: other } },
      here.token,
      /tool team login --email ann@example.com --team acme --url http/,
    ],
    [
      "TOOL_LOGS_TOKEN that is for another origin, and nobody is signed in",
      { env: { TOOL_LOGS_TOKEN: "lgs_env", TOOL_LOGS_URL: "https://logs.example.com" } },
      undefined,
      /^error: the log service needs a token\n {2}sign in: .*\n {2}or set TOOL_LOGS_URL=http:\/\/127\.0\.0\.1:\d+ if TOOL_LOGS_TOKEN is for it \(TOOL_LOGS_URL is https:\/\/logs\.example\.com now\)\n$/,
    ],
    [
      "TOOL_CONFIG before the file",
      { config: configOf(here), env: { TOOL_CONFIG: base64(configOf(alsoHere)) } },
      alsoHere.token,
      /set TOOL_CONFIG to what tool team ci prints/,
    ],
    [
      "TOOL_CONFIG, the file is not even read",
      { config: "{", env: { TOOL_CONFIG: base64(configOf(here)) } },
      here.token,
      /set TOOL_CONFIG/,
    ],
    [
      "an empty TOOL_CONFIG is none",
      { config: configOf(here), env: { TOOL_CONFIG: " " } },
      here.token,
      /tool team login/,
    ],
    ["the current team of several", { config: configOf(here, alsoHere) }, alsoHere.token, /--team shop/],
    ["the only one of this origin", { config: configOf(here, ACME) }, here.token, /--team acme/],
    [
      "several, none current",
      { config: configOf(here, alsoHere, ACME) },
      undefined,
      /^error: you are in several teams at http.*, and none of them is the current one\n {2}choose one of acme, shop: tool team switch acme\n$/,
    ],
    [
      "another origin of the same machine",
      { config: configOf(here), url: other },
      undefined,
      /^error: there is no token for http:\/\/localhost:\d+: you are signed in at http:\/\/127.*\n {2}if that is the same service, write http:\/\/127\.0\.0\.1:\d+: .*\n {2}sign in: tool team login --email <address> --url http:\/\/localhost:\d+\n {2}or set TOOL_LOGS_TOKEN/,
    ],
    [
      "TOOL_ACCOUNT_URL sends no token anywhere",
      { config: configOf(ACME), env: { TOOL_ACCOUNT_URL: url } },
      undefined,
      /^error: there is no token for http:.*\n {2}sign in: /,
    ],
    [
      "a TOOL_CONFIG without a team",
      { env: { TOOL_CONFIG: '{"a":1}' } },
      undefined,
      /^error: the log service needs a token\n {2}set TOOL_CONFIG to what tool team ci prints, or unset it\n {2}or set TOOL_LOGS_TOKEN/,
    ],
    [
      "nobody is signed in",
      {},
      undefined,
      /^error: the log service needs a token\n {2}sign in: tool team login --email <address> --url http:\/\/127.*\n {2}or set TOOL_LOGS_TOKEN; tool service token add --data DIR --scope events:read makes one\n$/,
    ],
    [
      "a damaged file",
      { config: '{"team": lgs_secret}' },
      undefined,
      /^error: .*config\.json is not valid JSON: see line 1, and is left as it is\n {2}mend it, or move it away/,
    ],
    [
      "a damaged TOOL_CONFIG",
      { env: { TOOL_CONFIG: "lgs_secret!" } },
      undefined,
      /^error: TOOL_CONFIG is neither JSON nor base64 of it\n {2}set it to what tool team ci prints/,
    ],
  ];
  for (const [title, { config, env = {}, url: to = url }, token, stderr] of rows) {
    const home = homeOf(t, typeof config === "object" ? printTeamConfig(config) : config);
    requests.length = 0;
    const ran = await tool(["logs", "--service", to, "--project", "app", "--verbose"], {
      env: { ...home.env, ...env },
    });
    t.not(ran.code, 0, title);
    t.match(ran.stderr, stderr, title);
    t.same(
      requests.map(({ headers }) => headers.authorization),
      token === undefined ? [] : [`Bearer ${token}`],
      title,
    );
    for (const { headers } of requests) t.match(headers["user-agent"], /^tool\/\S+ \(\w+\)$/);
    t.notMatch(ran.stdout + ran.stderr, "lgs_", title);
  }
});

t.test("TOOL_CONFIG without a team", async (t) => {
  const { env } = homeOf(t);
  const ran = await tool(["team"], { env: { ...env, TOOL_CONFIG: '{"a":1}' } });
  t.match(ran, {
    code: 0,
    stdout: "TOOL_CONFIG holds no team\n",
    stderr: "  set TOOL_CONFIG to what tool team ci prints, or unset it\n",
  });
});

t.test("connections that fail over TLS", async (t) => {
  const fixture = (name: string) => readFileSync(join(root, "test/fixtures", name));
  const tls = createSecureServer(
    { cert: fixture("localhost.cert.pem"), key: fixture("localhost.key.pem") },
    (_, response) => response.end("{}"),
  );
  await new Promise<void>((done) => tls.listen(0, "127.0.0.1", done));
  t.teardown(() => tls.close());
  const selfSigned = `https://127.0.0.1:${(tls.address() as AddressInfo).port}`;
  const { url } = await openListener(t);
  const noTls = url.replace("http:", "https:");
  const trust = "if you trust its certificate, set NODE_EXTRA_CA_CERTS to a file with that, or with its issuer's (PEM)";
  const rows: [url: string, reason: string, hint: string][] = [
    [noTls, "this port speaks HTTP without TLS", `try ${url}`],
    [selfSigned, "self-signed certificate", trust],
  ];
  const env = { TOOL_LOGS_TOKEN: "lgs_env" };
  const cwd = t.testdir({ "tool.json": json({ name: "app" }), "index.html": "" });
  for (const [address, reason, hint] of rows) {
    const login = await tool(["team", "login", "--email", "ann@example.com", "--url", address], { env: homeOf(t).env });
    t.match(login, { code: 1, stderr: `error: ${address} does not answer: ${reason}\n  ${hint}\n` }, address);
    const logs = await tool(["logs", "--service", address, "--project", "app"], { env });
    t.ok(logs.stderr.includes(`${reason}\n  ${hint}\n`), logs.stderr);
    const { running } = await startTool(cwd, ["--logs-url", address], env);
    // It would keep this process from its end if the wait is in vain.
    t.teardown(() => running.kill("SIGKILL"));
    const said = () => running.stderr() + running.stdout();
    await until("where the log goes", () => said().includes(`Its log goes to the project app of ${address}\n`));
    await fetch(await listening(running)).then((response) => response.text());
    await until("the reason", () => said().includes(`${reason} (${hint})`));
    running.kill("SIGTERM");
    await running.ended;
  }
});

t.test("a project's .env file chooses neither a service nor a token", async (t) => {
  const { url, requests } = await openListener(t);
  const { env } = homeOf(t, printTeamConfig(configOf({ ...ACME, url })));
  const cwd = t.testdir({
    ".env": `TOOL_ACCOUNT_URL=${url}\nTOOL_LOGS_TOKEN=lgs_theirs\nTOOL_CONFIG=${json({ teams: {} })}\n`,
    "tool.json": json({ name: "app" }),
  });
  const login = await tool(["team", "login", "--email", "ann@example.com"], { cwd });
  t.match(login, { code: 2, stderr: /^error: the log service to sign in to is not known\n/ });
  t.same(requests, []);
  await tool(["logs", "--service", url], { cwd, env });
  t.same(
    requests.map(({ headers }) => headers.authorization),
    [`Bearer ${ACME.token}`],
  );
});

t.test("neither the app nor a hook gets the tokens", async (t) => {
  const cwd = t.testdir({
    "tool.json": json({ name: "app", proxy: { command: "node app.cjs" }, hooks: { build: "env > hook.txt" } }),
    "app.cjs": `require("fs").writeFileSync("app.txt", JSON.stringify(process.env));
      require("http").createServer((request, response) => response.end()).listen(process.env.PORT);`,
  });
  const env = { TOOL_CONFIG: printTeamConfig(configOf(ACME)), TOOL_LOGS_TOKEN: "lgs_env", OTHER: "kept" };
  t.equal((await tool(["run", "build"], { cwd, env })).code, 0);
  const { running } = await startTool(cwd, [], env);
  await until("the app", () => existsSync(join(cwd, "app.txt")) && readFileSync(join(cwd, "app.txt")).length > 0);
  running.kill("SIGTERM");
  await running.ended;
  for (const file of ["hook.txt", "app.txt"]) {
    const text = readFileSync(join(cwd, file), "utf8");
    t.match(text, "kept", file);
    t.notMatch(text, /TOOL_CONFIG|TOOL_LOGS_TOKEN|lgs_/, file);
  }
});
