// The service in this process: real records in a folder, real HTTP on loopback, events in the oracle or the real store.

import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { type Clock, systemClock } from "../../grammar/units/clock.ts";
import { addToken } from "../../logservice/access/tokens.ts";
import { openEventsStore } from "../../logservice/events/open.ts";
import type { EventsStore } from "../../logservice/events/store.ts";
import type { Limits } from "../../logservice/limits.ts";
import { PAGERDUTY_URL } from "../../logservice/notify/settings.ts";
import { readSmsSettings } from "../../logservice/notify/sms-settings.ts";
import { FIRST_TEAM } from "../../logservice/records/accounts-migration.ts";
import type { Records } from "../../logservice/records/open.ts";
import { ensureUser } from "../../logservice/records/people.ts";
import type { Role } from "../../logservice/records/tables.ts";
import { addTeam, setRole, teamNamed } from "../../logservice/records/teams.ts";
import { transact } from "../../logservice/records/transact.ts";
import { type RunningService, type StartOptions, startService } from "../../logservice/start.ts";
import type { Scope } from "../../schema/rpc.generated.ts";
import { rpcSchema } from "../../schema/rpc-schema.generated.ts";
import { audited } from "./audited.ts";
import { clockAt } from "./clock-at.ts";
import { openOracle } from "./events/oracle.ts";
import { openTestRecords } from "./records.ts";

/** Expected, so that it is not among what was logged. */
const NO_MAIL = new Error("no mail server");

/** Notifications of all kinds may be added, unless told otherwise; what is sent reaches nobody. */
const TOLD: NonNullable<StartOptions["notify"]> = {
  mailer: { host: "mail.invalid", send: () => Promise.reject(NO_MAIL), close() {} },
  sms: readSmsSettings('{"url": "http://127.0.0.1:9/", "from": "test", "json": {"to": "{to}", "text": "{text}"}}'),
  pagerdutyUrl: PAGERDUTY_URL,
  allowsPrivate: false,
};

export const SCOPES = rpcSchema.definitions.Scope!.enum as readonly Scope[];

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire, looked at by every test in its own way.
  readonly json: any;
}

export interface TestService {
  readonly running: RunningService;
  readonly records: Records;
  readonly events: EventsStore;
  readonly directory: string;
  /** May do everything. */
  readonly owner: string;
  /** The lines that the service wrote into its log. */
  readonly logged: string[];
  /** Ends the service and keeps its directory, so that another one can be started over it. */
  stop(): Promise<void>;
  token(scopes: readonly Scope[]): Promise<string>;
  /** A token of the command line of a person in a team, both added if missing. */
  person(email: string, role: Role, team?: string): Promise<string>;
  call(operation: string, body?: unknown, token?: string): Promise<Answer>;
  send(options: SendOptions): Promise<Answer>;
}

export interface SendOptions {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export async function startTestService(
  t: Test,
  options: {
    readonly limits?: Partial<Limits>;
    /** The time of day, over the timers of the machine. */
    readonly nowMs?: () => number;
    /** All of its time instead. A TestClock fires nothing until the test turns it. */
    readonly clock?: Clock;
    /** A data directory that is there already; a new one unless told otherwise. */
    readonly directory?: string;
    /** Where events are stored; the oracle unless told otherwise. */
    readonly engine?: "oracle" | "duckdb";
    /** Wraps the store to change what it does. */
    readonly around?: (events: EventsStore) => EventsStore;
    /** Whether alerts are evaluated and delivered, and how. */
    readonly isAlerting?: boolean;
    readonly notify?: NonNullable<StartOptions["notify"]>;
    /** Who may come in, how, and where. */
    readonly account?: Partial<
      Pick<
        StartOptions,
        "publicUrl" | "signUp" | "mailer" | "oidc" | "trusted" | "host" | "port" | "tls" | "hstsSeconds" | "billing"
      >
    >;
  } = {},
): Promise<TestService> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), "tool-service-"));
  const { clock = clockAt(options.nowMs ?? systemClock.nowMs), limits = {}, around = (events) => events } = options;
  const { nowMs } = clock;
  const records = await openTestRecords(directory);
  const isReal = options.engine === "duckdb";
  const events = around(
    isReal ? await openEventsStore({ directory: join(directory, "events"), nowMs }) : openOracle(nowMs),
  );
  const logged: string[] = [];
  const running = await startService({
    records: audited(records),
    events,
    version: "test",
    host: "127.0.0.1",
    port: 0,
    limits,
    clock,
    // Clocks of tests are set as they like.
    isAlerting: options.isAlerting ?? false,
    notify: options.notify ?? { ...TOLD, ...(options.account?.mailer && { mailer: options.account.mailer }) },
    ...options.account,
    log: {
      error(message, error) {
        if (error !== NO_MAIL) logged.push(`${message}: ${(error as Error).stack}`);
      },
      warn: (message) => void logged.push(message),
    },
  });
  let closing: Promise<void> | undefined;
  const stop = () => {
    closing ??= running.close();
    return closing;
  };
  t.teardown(async () => {
    await stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  const token = async (scopes: readonly Scope[]) =>
    (await addToken(records.db, { team: FIRST_TEAM, scopes }, new Date(nowMs()).toISOString())).secret;
  const person = (email: string, role: Role, team = FIRST_TEAM) =>
    transact(records.db, async (db) => {
      const now = new Date(nowMs()).toISOString();
      if ((await teamNamed(db, team)) === undefined) await addTeam(db, { id: team, name: team }, now);
      const user = await ensureUser(db, { email, emailKey: email.toLowerCase() }, now);
      await setRole(db, { team_id: team, user_id: user.id, role: role }, now);
      return (await addToken(db, { team, kind: "command", by: user.id, scopes: [] }, now)).secret;
    });
  const owner = await token(SCOPES);
  const send = (request: SendOptions) => sendTo(running.port, request);
  return {
    running,
    records,
    events,
    directory,
    owner,
    logged,
    stop,
    token,
    person,
    send,
    call: (operation, body = {}, bearer = owner) =>
      send({
        path: `/${operation}`,
        headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
  };
}

/** One request as it is, POST unless told otherwise. */
export function sendTo(port: number, { method = "POST", path, headers = {}, body }: SendOptions): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = text !== "" && response.headers["content-type"] === "application/json";
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text,
          json: isJson ? JSON.parse(text) : undefined,
        });
      });
    });
    request.once("error", reject);
    request.end(body);
  });
}
