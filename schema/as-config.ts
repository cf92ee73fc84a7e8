import { formatDuration } from "../grammar/units/duration.ts";
import type { LogAlert, LogNotification } from "./config.generated.ts";
import { MEMBERS, type NotificationMembers } from "./notification-members.ts";
import type { Alert, Notification, Search } from "./rpc.generated.ts";

/** The records of a project of a log service. */
export interface LogRecords {
  readonly alerts: readonly Alert[];
  readonly notifications: readonly Notification[];
  readonly searches: readonly Search[];
}

/** The same as `logs` of a tool.json. */
export interface ExportedLogs {
  readonly queries: Readonly<Record<string, string>>;
  readonly alerts: Readonly<Record<string, LogAlert>>;
  readonly notifications: Readonly<Record<string, LogNotification>>;
}

/** A secret, which the service does not tell, and the name that is written in its place. */
export interface NeededSecret {
  readonly notification: string;
  readonly name: string;
}

/** A record that has another name in a tool.json than in the service. */
export interface RenamedRecord {
  readonly kind: "search" | "alert" | "notification";
  readonly before: string;
  readonly after: string;
}

/**
 * Records of a log service as `logs` of a tool.json: with names in the place of ids, durations as texts, and without what is the
 * default. A name that two records have gets a number. Alerts on the disk of the service are left out: they have no query.
 */
export function asConfig(records: LogRecords): {
  readonly logs: ExportedLogs;
  readonly secrets: readonly NeededSecret[];
  readonly renamed: readonly RenamedRecord[];
} {
  const secrets: NeededSecret[] = [];
  const names = named(records.notifications, ({ name }) => name);
  const notifications = records.notifications.map((record) => {
    const name = names.get(record)!;
    return [name, notificationOf(record, name, secrets)] as const;
  });
  const nameOf = new Map(records.notifications.map((record) => [record.id, names.get(record)!]));
  const alerts = records.alerts.filter(({ kind }) => kind !== "disk");
  const alertNames = named(alerts, ({ name }) => name);
  const queryNames = named(records.searches, ({ name }) => queryName(name));
  return {
    logs: {
      queries: Object.fromEntries(records.searches.map((search) => [queryNames.get(search)!, search.query])),
      alerts: Object.fromEntries(
        alerts.map((alert) => [alertNames.get(alert)!, alertOf(alert, nameOf.get(alert.notification_id) ?? "")]),
      ),
      notifications: Object.fromEntries(notifications),
    },
    secrets,
    renamed: [
      ...renamedOf("search", queryNames),
      ...renamedOf("alert", alertNames),
      ...renamedOf("notification", names),
    ],
  };
}

const renamedOf = (kind: RenamedRecord["kind"], names: ReadonlyMap<{ readonly name: string }, string>) =>
  [...names].flatMap(([{ name }, after]) => (name === after ? [] : [{ kind, before: name, after }]));

/**
 * Each record with a name that no other of them has, and that tool.json may have. Those of a tool.json keep theirs, unless
 * two apps have the same: there it is what they are known by. A name that has to be changed becomes none that another has.
 */
function named<T extends { readonly name: string; readonly managed_by?: string }>(
  records: readonly T[],
  nameOf: (record: T) => string,
): ReadonlyMap<T, string> {
  const isManaged = ({ managed_by = "" }: T) => managed_by !== "";
  const wantedOf = (record: T) => (nameOf(record).trim() === "" ? "unnamed" : nameOf(record));
  const all = [...records.filter(isManaged), ...records.filter((record) => !isManaged(record))];
  // The first one of a name keeps it.
  const keepers = new Map(
    all
      .filter((record) => wantedOf(record) === record.name)
      .map((record) => [record.name, record] as const)
      .reverse(),
  );
  const taken = new Set(keepers.keys());
  return new Map(
    all.map((record) => {
      const wanted = wantedOf(record);
      if (keepers.get(record.name) === record) return [record, wanted] as const;
      let name = wanted;
      for (let i = 2; taken.has(name); i++) {
        const more = `-${i}`;
        name = `${[...wanted].slice(0, MAX_NAME_LENGTH - more.length).join("")}${more}`;
      }
      taken.add(name);
      return [record, name] as const;
    }),
  );
}

/** Characters of a name. */
const MAX_NAME_LENGTH = 255;

/** A saved query is called as `@name` on a command line. */
function queryName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "");
  return plain === "" ? "query" : plain;
}

function alertOf(alert: Alert, notify: string): LogAlert {
  const { query, operator, threshold, interval, severity, limit, muted, repeat, description, recover } = alert;
  return {
    ...{ query, operator, threshold, interval: minutes(interval), notify },
    ...(severity !== "error" && { severity }),
    ...(alert.for !== 1 && { for: alert.for }),
    ...(recover !== 1 && { recover }),
    ...(repeat !== 0 && { repeat: minutes(repeat) }),
    ...(limit !== 10 && { limit }),
    ...(muted && { muted }),
    ...(description !== "" && { description }),
  };
}

const minutes = (count: number) => formatDuration(count * 60_000);

function notificationOf(record: Notification, name: string, secrets: NeededSecret[]): LogNotification {
  const { type } = record;
  const { needed, holds, optional }: NotificationMembers = MEMBERS[type];
  const more = optional === undefined ? undefined : record[optional as keyof Notification];
  const base = `${
    name
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, "_")
      .replace(/^[^A-Z]+|_+$/g, "") || "ALERT"
  }_${holds === "key" ? "KEY" : "WEBHOOK"}`;
  // Two names may differ only in what the name of a secret cannot have: each has a value of its own.
  let secret = base;
  for (let i = 2; secrets.some((one) => one.name === secret); i++) secret = `${base}_${i}`;
  if (holds !== "recipients") secrets.push({ notification: name, name: secret });
  const value = holds === "recipients" ? record[needed as keyof Notification] : `$${secret}`;
  return { type, [needed]: value, ...(more !== undefined && more !== "" && { [optional!]: more }) };
}
