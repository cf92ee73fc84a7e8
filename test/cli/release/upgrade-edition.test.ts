// Which edition tool upgrade installs: what the statement of the team decides, by itself and by the command of an installed
// free edition against a Git host and an account service.
import { spawn, spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import t, { type Test } from "tap";
import { editionToInstall } from "../../../cli/pro.ts";
import { sumOf } from "../../../cli/release/library.ts";
import { type Receipt, receiptText } from "../../../cli/release/receipt.ts";
import { pinnedKeyOf } from "../../../cli/release/statement.ts";
import { systemClock } from "../../../grammar/units/clock.ts";
import { type Edition, makeStatement } from "../../../schema/statement.ts";
import { cleanEnv, root } from "../../support/cli.ts";
import { failing, STATEMENT_KEY, signedInAt, startStandIn, testRun } from "../../support/release-account.ts";
import { CERTIFICATE, releaseOf, releaseOfAll, SYSTEM, startReleaseHost } from "../../support/release-host.ts";
import { requires } from "../../support/require.ts";
import { TestClock } from "../../support/test-clock.ts";

const DAY = 86_400_000;

async function machine(t: Test) {
  const clock = new TestClock();
  const service = await startStandIn(t, clock);
  const signedIn = signedInAt(t, service.account.url);
  return {
    ...{ clock, service, statements: signedIn.statements, url: service.account.url },
    /** The edition that is installed in place of one, and what is said. */
    async choose(present: Edition, env: Readonly<Record<string, string>> = {}): Promise<string> {
      const run = testRun({ env: { ...signedIn.env, ...env }, clock });
      const edition = await editionToInstall(run.context, present, service.account);
      t.equal(run.stdout(), "");
      return `${edition}\n${run.stderr()}`;
    },
  };
}

t.test("the statement of the team says which edition", async (t) => {
  const { clock, service, url, choose } = await machine(t);
  t.equal(await choose("free"), "pro\n", "subscribers get Pro");
  t.equal(await choose("pro"), "pro\n");
  t.same(service.calls, ["get_subscription"], "by the statement that is kept");
  clock.jump(DAY);
  service.answers.get_subscription = () => service.subscription({ status: "canceled", edition: "free" });
  const no = `the team acme has a subscription that is canceled at ${url}\n  tool team subscribe gets Pro for it\n`;
  t.equal(await choose("free"), `free\nthe free edition stays: ${no}`);
  t.equal(await choose("pro"), `pro\nthe Pro edition stays: ${no}`, "nobody's command is taken");
  service.answers.get_subscription = () => service.subscription({});
  t.equal(await choose("free"), "pro\n", "who has paid meanwhile gets it at once");
});

t.test("without the account service", async (t) => {
  const { clock, service, url, choose } = await machine(t);
  service.answers.get_subscription = () => failing(503, { type: "unavailable", message: "closed" });
  const closed = `stays: ${url}: closed\n  run this again in a moment\n`;
  t.equal(await choose("free"), `free\nthe free edition ${closed}`);
  t.equal(await choose("pro"), `pro\nthe Pro edition ${closed}`);
  const entry = { team: "acme", email: "ann@example.com", url, token: "lgs_ci" };
  const config = Buffer.from(JSON.stringify({ team: "acme", teams: { acme: entry } })).toString("base64");
  const unknown = `the free edition stays: ${url}: closed; nothing says whether acme has Pro\n`;
  t.equal(await choose("free", { TOOL_CONFIG: config }), `free\n${unknown}`, "not even in CI, which goes on elsewhere");
  service.answers.get_subscription = () => service.subscription({});
  t.equal(await choose("free", { TOOL_CONFIG: config }), "pro\n");
  t.equal(await choose("free"), "pro\n");
  service.stop();
  clock.jump(6 * DAY);
  t.match(await choose("free"), /^pro\nwarning: http\S+ does not answer: .*; the answer of \S+ is good until \S+\n$/);
  clock.jump(DAY);
  t.match(await choose("free"), /^free\nthe free edition stays: http\S+ does not answer: /, "a week later no more");
  clock.jump(-6 * DAY);
  t.match(await choose("free"), /^free\n/, "nor with a clock that is set back");
  t.match(
    await choose("free", { XDG_CONFIG_HOME: "/nonexistent" }),
    new RegExp(`^free\nthe free edition stays: nobody is signed in at ${url}\n  tool team login `),
  );
  t.match(await choose("pro", { TOOL_CONFIG: "?" }), /^pro\nthe Pro edition stays: TOOL_CONFIG is neither JSON nor/);
});

t.test("statements that are not believed change no edition", async (t) => {
  const { clock, service, url, statements, choose } = await machine(t);
  const claims = { team: "acme", service: url, edition: "pro", reason: "active" } as const;
  const now = clock.nowMs();
  const [header, , signature] = makeStatement({ ...claims, edition: "free" }, STATEMENT_KEY, now).split(".");
  const [, payload] = makeStatement(claims, STATEMENT_KEY, now).split(".");
  const rows: [about: string, statement: string, why: string][] = [
    ["forged", `${header}.${payload}.${signature}`, "has a signature that does not match"],
    [
      "by another key",
      makeStatement(claims, generateKeyPairSync("ed25519").privateKey, now),
      "is signed with another key",
    ],
    ["another team's", makeStatement({ ...claims, team: "shop" }, STATEMENT_KEY, now), 'is about the team "shop"'],
    [
      "another service's",
      makeStatement({ ...claims, service: "https://x.example" }, STATEMENT_KEY, now),
      'is from the service "https://x.example"',
    ],
    ["expired", makeStatement(claims, STATEMENT_KEY, now - 7 * DAY), "expired at 2026-01-15T12:00:00.000Z"],
    ["of a later time", makeStatement(claims, STATEMENT_KEY, now + 2 * DAY), "was issued at 2026-01-17T12:00:00.000Z"],
    ["nonsense", "yes", "is not a JWS in compact form"],
  ];
  for (const [about, statement, why] of rows) {
    service.answers.get_subscription = () => service.subscription({ statement });
    const said = await choose("free");
    const begin = `free\nthe free edition stays: what ${url} states about Pro is not valid: it ${why}`;
    t.equal(said.slice(0, begin.length), begin, about);
    // The same one, replayed from the file without the service.
    service.answers.get_subscription = () => failing(502);
    writeFileSync(statements, JSON.stringify({ [`acme@${new URL(url).host}`]: statement }));
    t.match(await choose("free"), /^free\nthe free edition stays: /, `${about}, from the file`);
  }
  service.answers.get_subscription = () => ({ ...service.subscription({}), statement: undefined });
  t.match(await choose("free"), /^free\nthe free edition stays: \S+ does not sign who has Pro\n/);
  service.answers.get_subscription = () => failing(401, { type: "unauthenticated", message: "no" });
  t.match(await choose("free"), /^free\nthe free edition stays: \S+ does not know this token any more/);
});

/** The command of an edition with an account in one file, which reads both from the process. */
let bundled: Promise<string> | undefined;
const bundle = (folder: string) => {
  const outfile = join(folder, "tool.cjs");
  bundled ??= build({
    stdin: { contents: 'import { main } from "./cli/main.ts"; void main();', resolveDir: root },
    ...{ outfile, bundle: true, platform: "node", format: "cjs", logLevel: "error", mainFields: ["module", "main"] },
    define: {
      "import.meta.url": "__filename",
      TOOL_VERSION: "globalThis.toolVersion",
      TOOL_EDITION: "globalThis.toolEdition",
      TOOL_ACCOUNT: "globalThis.toolAccount",
    },
    plugins: [
      {
        name: "upgrade-alone",
        setup(plugin) {
          plugin.onResolve({ filter: /^\.\/commands\// }, ({ path }) =>
            path === "./commands/upgrade.ts" ? undefined : { path, external: true },
          );
        },
      },
    ],
  }).then(() => readFileSync(outfile, "utf8"));
  return bundled;
};

const { privateKey } = generateKeyPairSync("ed25519");
const KEYS = [pinnedKeyOf(privateKey)];
const skip = requires("tar") || requires("xz");

const archive = (edition: Edition, version: string) => ({
  ...{ edition, version, key: privateKey },
  files: { "bin/tool": `#!/bin/sh\necho ${version}${edition === "pro" ? "-pro" : ""}\n`, "lib/a.js": version },
});
/** A release with both editions, each with its own version. */
const both = (version: string, own: string) =>
  releaseOfAll([archive("pro", version), { ...archive("free", own), own }]);

/** An installation of the free edition 1.0.4, of the release 1.2.3. */
async function world(t: Test) {
  const folder = t.testdir({ usr: { bin: {} }, home: {} });
  const path = (name: string) => join(folder, name);
  const host = await startReleaseHost(t);
  host.releases.set("1.3.0", both("1.3.0", "1.1.0"));
  host.releases.set("1.2.3", both("1.2.3", "1.0.4"));
  const service = await startStandIn(t, systemClock);
  const { env } = signedInAt(t, service.account.url);
  const installed = path("usr/lib/tool/free-1.0.4");
  const about = { edition: "free", origin: host.origin, platform: SYSTEM, kind: "tool" };
  const constants = { toolVersion: "1.0.4", toolEdition: "free", toolAccount: service.account };
  const files: Record<string, string> = {
    "bin/tool": `#!/bin/sh
exec '${process.execPath}' --require "$(dirname "$(readlink -f "$0")")/../lib/constants.cjs" "$(dirname "$(readlink -f "$0")")/../lib/commands/tool.cjs" "$@"
`,
    "lib/release.json": JSON.stringify({ version: "1.0.4", release: "1.2.3", keys: KEYS, ...about }),
    "lib/constants.cjs": `Object.assign(globalThis, ${JSON.stringify(constants)});`,
    "lib/commands/tool.cjs": await bundle(path("home")),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(installed, name)), { recursive: true });
    writeFileSync(join(installed, name), text, { mode: 0o755 });
  }
  symlinkSync("../lib/tool/free-1.0.4/bin/tool", path("usr/bin/tool"));
  const sums = Object.fromEntries(Object.keys(files).map((name) => [name, sumOf(join(installed, name))!]));
  const command = path("usr/bin/tool");
  const receipt: Receipt = { version: "1.0.4", ...about, command, folder: installed, links: [], files: sums };
  writeFileSync(path("usr/lib/tool/receipt.json"), receiptText(receipt));
  return {
    ...{ host, service },
    receipt: () => JSON.parse(readFileSync(path("usr/lib/tool/receipt.json"), "utf8")),
    version: () => spawnSync(command, ["version"], { encoding: "utf8" }).stdout.trim(),
    upgrade(...words: string[]): Promise<string> {
      const child = spawn(command, ["upgrade", ...words], {
        env: cleanEnv({ HOME: path("home"), NODE_EXTRA_CA_CERTS: CERTIFICATE, ...env }),
        stdio: ["ignore", "pipe", "pipe"],
      });
      let said = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => {
          said += text;
        });
      const plain = () => said.replaceAll(folder, "").replaceAll(/^(?:download|install) \(.*\n/gm, "");
      return new Promise((done) => child.once("close", (code) => done(`${code}: ${plain()}`)));
    },
  };
}

t.test("a subscriber's free edition becomes Pro, of the same release too", { skip }, async (t) => {
  const { host, receipt, version, upgrade } = await world(t);
  t.equal(version(), "1.0.4");
  t.equal(await upgrade("--check"), "1: tool 1.3.0 (Pro) can be installed: tool upgrade\n");
  host.releases.delete("1.3.0");
  const document = JSON.parse((await upgrade("--check", "--format", "json")).slice("1: ".length));
  t.match(document, { status: "available", version: "1.2.3", edition: "pro", previous: "1.0.4" });
  t.match(await upgrade("--dry-run"), /^0: would install tool 1\.2\.3 \(Pro\) in place of 1\.0\.4 \(free\): /);
  t.equal(await upgrade(), "0: tool 1.2.3 (Pro) is installed in place of 1.0.4 (free): /usr/bin/tool\n");
  t.equal(version(), "1.2.3-pro");
  const { previous, ...now } = receipt();
  t.match(now, { version: "1.2.3", edition: "pro", folder: /\/lib\/tool\/1\.2\.3$/ });
  t.match(previous, { version: "1.0.4", folder: /\/lib\/tool\/free-1\.0\.4$/ });
});

t.test("others stay with the free edition, which has its own version", { skip }, async (t) => {
  const { host, service, receipt, version, upgrade } = await world(t);
  service.answers.get_subscription = () => service.subscription({ status: "none", edition: "free" });
  const stays = `the free edition stays: the team acme has no subscription at ${service.account.url}\n  tool team subscribe gets Pro for it\n`;
  const said = await upgrade();
  t.equal(said.replace(stays, ""), "0: tool 1.1.0 is installed in place of 1.0.4: /usr/bin/tool\n");
  t.match(said, stays);
  t.equal(version(), "1.1.0");
  t.match(receipt(), { version: "1.1.0", edition: "free", folder: /\/lib\/tool\/free-1\.1\.0$/ });
  t.notOk(
    host.requests.some(({ path }) => /tool_.*\.tar/.test(path)),
    "nothing of Pro was downloaded",
  );
});

t.test("what changes nothing", { skip }, async (t) => {
  const { host, service, version, upgrade } = await world(t);
  // Pro of a release that is older than the one that the free edition is from.
  host.releases.clear();
  host.releases.set("1.1.0", both("1.1.0", "1.0.1"));
  const older = "0: tool 1.0.4 is installed already; the newest release is 1.1.0: /usr/bin/tool\n";
  t.equal(await upgrade(), older, "nobody goes back by the Git host's word");
  service.stop();
  host.releases.clear();
  host.releases.set("1.2.3", both("1.2.3", "1.0.4"));
  // The service was asked before it stopped, and its statement is good for a day.
  t.equal(await upgrade("--check"), "1: tool 1.2.3 (Pro) can be installed: tool upgrade\n");
  host.releases.clear();
  host.releases.set("1.4.0", releaseOf({ ...archive("free", "1.4.0") }));
  t.equal(await upgrade(), "1: error: the release 1.4.0 has no Pro edition\n  choose another version: -t\n");
  const strange = { ...archive("pro", "1.5.0"), files: { "bin/tool": "#!/bin/sh\necho 1.4.9\n" } };
  host.releases.clear();
  host.releases.set("1.5.0", releaseOfAll([strange, { ...archive("free", "1.2.0"), own: "1.2.0" }]));
  t.match(await upgrade(), "the new command says that it is 1.4.9, not 1.5.0");
  t.equal(version(), "1.0.4");
});
