// An account service of a release as its command sees it, and a machine that is signed in there.
import { createPrivateKey } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Format } from "../../cli/argv.ts";
import { type Context, createContext } from "../../cli/context.ts";
import type { ReleaseAccount } from "../../cli/edition.ts";
import type { Clock } from "../../grammar/units/clock.ts";
import type { Operations } from "../../schema/rpc.generated.ts";
import { makeStatement, rawStatementKey } from "../../schema/statement.ts";
import { TestClock } from "./test-clock.ts";

interface Test {
  teardown(handler: () => void): void;
}

/** The key of RFC 8037, appendix A.1. */
export const STATEMENT_KEY = createPrivateKey({
  key: {
    kty: "OKP",
    crv: "Ed25519",
    d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
    x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  },
  format: "jwk",
});

type Subscription = Operations["get_subscription"]["output"];
type Answer = { readonly status: number; readonly body: unknown };

export interface StandIn {
  readonly account: ReleaseAccount;
  /** The operations that were called, in their order. */
  readonly calls: string[];
  /** The answer to each operation from now on; to one that it lacks the service says 404. */
  answers: Record<string, (() => unknown) | undefined>;
  /** The answer about the team `acme`, signed as it is asked. */
  subscription(of: Partial<Subscription>): Subscription;
  stop(): void;
}

/** An answer with a status that is no success. */
export const failing = (status: number, body: unknown = {}): Answer => ({ status, body });

const isFailing = (value: unknown): value is Answer =>
  typeof value === "object" && value !== null && typeof (value as Answer).status === "number" && "body" in value;

export async function startStandIn(t: Test, clock: Clock = new TestClock()): Promise<StandIn> {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      const operation = request.url!.slice(1);
      calls.push(operation);
      const answer = standIn.answers[operation];
      const said = answer === undefined ? failing(404, { type: "not_found", message: "no such operation" }) : answer();
      response.writeHead(isFailing(said) ? said.status : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(isFailing(said) ? said.body : said));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  t.teardown(stop);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const standIn: StandIn = {
    account: { url, key: rawStatementKey(STATEMENT_KEY) },
    calls,
    answers: {},
    subscription(of) {
      const about = { team_id: "acme", provider: "stripe", status: "active", edition: "pro", ...of } as Subscription;
      const claims = { team: about.team_id, service: url, edition: about.edition, reason: about.status };
      return { statement: makeStatement(claims, STATEMENT_KEY, clock.nowMs()), ...about };
    },
    stop,
  };
  standIn.answers.get_subscription = () => standIn.subscription({});
  return standIn;
}

export interface SignedIn {
  /** XDG_CONFIG_HOME. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly statements: string;
}

/** A machine on which somebody is signed in to `acme`, at this service. */
export function signedInAt(t: Test, url: string, team = "acme"): SignedIn {
  const folder = mkdtempSync(join(tmpdir(), "tool-pro-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(folder, "tool"), { mode: 0o700 });
  const entry = { team, email: "ann@example.com", url, token: "lgs_secret" };
  writeFileSync(join(folder, "tool/config.json"), JSON.stringify({ team, teams: { [team]: entry } }), { mode: 0o600 });
  return { folder, env: { XDG_CONFIG_HOME: folder }, statements: join(folder, "tool/statements.json") };
}

export interface TestRun {
  readonly context: Context;
  stdout(): string;
  stderr(): string;
  interrupt(): void;
}

/** The surroundings of a command in this process, with a clock that a test turns. */
export function testRun(options: {
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly format?: Format;
  readonly cwd?: string;
  /** The answers that are typed on a terminal, one a question; without them there is no terminal. */
  readonly answers?: readonly string[];
}): TestRun {
  const { env, clock, format, cwd = "/", answers } = options;
  const written = { stdout: "", stderr: "" };
  const isTerminal = answers !== undefined;
  const stream = (name: "stdout" | "stderr") => ({
    isTerminal,
    color: false,
    columns: 80,
    rows: 24,
    write: async (text: string) => {
      written[name] += text;
    },
  });
  const left = [...(answers ?? [])];
  let listener: ((signal: "SIGINT") => void) | undefined;
  const io = {
    env,
    cwd,
    platform: "linux",
    clock,
    nowMs: clock.nowMs,
    stdin: { isTTY: isTerminal },
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    ask: async (question: string) => {
      written.stderr += question;
      return left.shift();
    },
    onSignal: (on: (signal: "SIGINT") => void) => {
      listener = on;
      return () => {
        listener = undefined;
      };
    },
  };
  return {
    context: createContext(io as never, { command: undefined, chdir: ".", verbose: false, format }),
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    interrupt: () => listener?.("SIGINT"),
  };
}
