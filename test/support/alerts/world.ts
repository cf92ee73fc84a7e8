// Alerts over real records, with events in the oracle or the real store and a clock that the test sets.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { EventArrivals } from "../../../logservice/alerts/arrivals.ts";
import { Evaluator, type EvaluatorOptions } from "../../../logservice/alerts/evaluator.ts";
import { addAlert, getAlert, removeAlert, updateAlert } from "../../../logservice/alerts/stored-alerts.ts";
import { openEventsStore } from "../../../logservice/events/open.ts";
import type { EventsStore } from "../../../logservice/events/store.ts";
import { FIRST_TEAM } from "../../../logservice/records/accounts-migration.ts";
import type { AlertMessage } from "../../../logservice/records/alert-message.ts";
import { addNotification } from "../../../logservice/records/notifications.ts";
import type { Records } from "../../../logservice/records/open.ts";
import { addProject } from "../../../logservice/records/projects.ts";
import { addTeam } from "../../../logservice/records/teams.ts";
import { transact } from "../../../logservice/records/transact.ts";
import type { Alert, AlertInput, NotificationInput } from "../../../schema/rpc.generated.ts";
import { clockAt } from "../clock-at.ts";
import { openOracle } from "../events/oracle.ts";
import { openTestRecords } from "../records.ts";

export const MINUTE_MS = 60_000;
/** The latest that a slot is evaluated after its end: events that come late, and the jitter of its alert. */
export const LATEST_MS = 45_000;
export const BEGIN_MS = Date.parse("2026-03-01T12:00:00Z");

export interface World {
  readonly directory: string;
  readonly records: Records;
  readonly events: EventsStore;
  readonly clock: { nowMs: number };
  /** The key of the events of the first project, and its id. */
  readonly events_key: string;
  readonly project_id: string;
  readonly notification_id: string;
  readonly failures: string[];
  evaluator(options?: Partial<EvaluatorOptions>): Evaluator;
  /** Makes a team, and gives its id. */
  team(name: string): Promise<string>;
  /** Makes a project with a notification in a team. */
  project(team_id: string, name: string): Promise<AlertPlace>;
  /** Adds an alert, to the first project unless it names another one. */
  add(alert?: Partial<AlertInput>, team_id?: string): Promise<string>;
  change(id: string, change: Partial<AlertInput>): Promise<void>;
  remove(id: string): Promise<void>;
  alert(id: string): Promise<Alert>;
  notification(name: string): Promise<string>;
  /** Adds events at a time in milliseconds: so many of this level and these fields. */
  log(atMs: number, count: number, fields?: Readonly<Record<string, unknown>>, level?: string): Promise<void>;
  /** Adds events as log does, and tells alerts of their arrival: by the way of a lateness in seconds, unless it is theirs. */
  arrive(atMs: number, count: number, options?: ArriveOptions): Promise<void>;
  /** Sets the clock to the moment when each minute up to a time is evaluated, and evaluates. */
  runUntil(evaluator: Evaluator, timeMs: number): Promise<void>;
  /** Returns the messages that are to be told, in their order. */
  deliveries(): Promise<ToldRow[]>;
  /** The same as lines: kind, group, end of the slot, value. */
  deliveryLines(): Promise<string[]>;
}

export interface ArriveOptions {
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly lateness?: number;
  readonly events_key?: string;
  /** Their ids are those of entries of a deployed app. */
  readonly isOfRuntime?: boolean;
  /** Who takes the arrival, such as the service after a restart. */
  readonly arrivals?: EventArrivals;
}

/** The project of an alert, and whom it notifies. */
export interface AlertPlace {
  readonly project_id: string;
  readonly notification_id: string;
  readonly events_key: string;
}

export interface ToldRow {
  readonly id: string;
  readonly alert_id: string;
  readonly notification_id: string;
  readonly kind: string;
  readonly message: AlertMessage;
}

export async function openWorld(
  t: Test,
  {
    engine = "oracle",
    around = (events) => events,
  }: { readonly engine?: "oracle" | "duckdb"; readonly around?: (events: EventsStore) => EventsStore } = {},
): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), "tool-alerts-"));
  const clock = { nowMs: BEGIN_MS };
  const records = await openTestRecords(directory);
  const nowMs = () => clock.nowMs;
  const store =
    engine === "duckdb" ? await openEventsStore({ directory: join(directory, "events"), nowMs }) : openOracle(nowMs);
  const events = around(store);
  const evaluators: Evaluator[] = [];
  t.teardown(async () => {
    for (const one of evaluators) await one.close();
    await store.close();
    await records.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  const now = () => new Date(clock.nowMs).toISOString();
  const { id: project_id, events_key } = await addProject(records.db, FIRST_TEAM, { name: "shop" }, now());
  const project = { team_id: FIRST_TEAM, id: project_id };
  const notification = (name: string) =>
    addNotification(records, FIRST_TEAM, { project_id, type: "email", name, email_addresses: ["a@b.c"] }, now());
  const notification_id = await notification("ops");
  const failures: string[] = [];
  const failed = (message: string, error: unknown) => failures.push(`${message}: ${(error as Error).stack}`);
  const arrivals = new EventArrivals({ records, clock: clockAt(nowMs), failed });
  let entries = 0;
  const inTransaction = <T>(run: (db: Records["db"]) => Promise<T>) => transact(records.db, run);
  const deliveries = async (): Promise<ToldRow[]> => {
    const rows = await records.db.selectFrom("deliveries").selectAll().orderBy("sequence").execute();
    return rows.map((row) => ({ ...row, message: JSON.parse(row.message) as AlertMessage }));
  };
  return {
    ...{
      directory,
      records,
      events,
      clock,
      events_key,
      project_id,
      notification_id,
      failures,
      notification,
      deliveries,
    },
    evaluator(options = {}) {
      const one = new Evaluator({ records, events, clock: clockAt(nowMs), deliveriesAdded() {}, failed, ...options });
      evaluators.push(one);
      return one;
    },
    add: (alert = {}, team_id = FIRST_TEAM) =>
      inTransaction(
        async (db) => (await addAlert(db, team_id, { ...alertIn(project_id, notification_id), ...alert }, now())).id,
      ),
    team: (name) => inTransaction((db) => addTeam(db, { name }, now())),
    async project(team_id, name) {
      const { id, events_key } = await addProject(records.db, team_id, { name }, now());
      const target: NotificationInput = { project_id: id, type: "email", name: "ops", email_addresses: ["a@b.c"] };
      return { project_id: id, events_key, notification_id: await addNotification(records, team_id, target, now()) };
    },
    async change(id, change) {
      const before = await getAlert(records.db, project, id);
      await inTransaction((db) => updateAlert(db, before, { ...before, ...change } as AlertInput, now()));
    },
    remove: (id) => inTransaction((db) => removeAlert(db, id, now())),
    alert: (id) => getAlert(records.db, project, id),
    async log(atMs, count, fields = {}, level = "error") {
      const batch = Array.from({ length: count }, (_, i) => ({
        ...{ timestamp: new Date(atMs + i).toISOString(), level, message: `m${i}`, fields },
      }));
      if (batch.length > 0) await store.append(events_key, batch);
    },
    async arrive(atMs, count, options = {}) {
      const {
        fields = {},
        lateness,
        isOfRuntime = false,
        events_key: key = events_key,
        arrivals: by = arrivals,
      } = options;
      const batch = Array.from({ length: count }, (_, i) => ({
        ...{ timestamp: new Date(atMs + i).toISOString(), level: "error", message: `m${i}`, fields },
        ...(isOfRuntime && { id: `0123456789abcdef-${++entries}` }),
      }));
      await store.append(key, batch);
      await by.note(key, batch, lateness);
    },
    async runUntil(evaluator, timeMs) {
      const first = Math.floor((clock.nowMs - LATEST_MS) / MINUTE_MS) + 1;
      for (let at = first * MINUTE_MS + LATEST_MS; at <= timeMs + LATEST_MS; at += MINUTE_MS) {
        clock.nowMs = at;
        await evaluator.pass();
      }
    },
    async deliveryLines() {
      return (await deliveries()).map(({ kind, message: { group, window, value, reason } }) => {
        const values = group.map((one) => `${one.name}=${JSON.stringify(one.value)}`);
        const words = [kind, ...values, window.stop.slice(11, 16), String(value), reason];
        return words.filter((word) => word !== "").join(" ");
      });
    },
  };
}

/** An alert of more than two errors in a minute. */
export const alertIn = (project_id: string, notification_id: string): AlertInput => ({
  ...{ project_id, notification_id, name: "too many errors", query: "error", severity: "error" },
  ...{ operator: ">", threshold: 2, interval: 1 },
});
