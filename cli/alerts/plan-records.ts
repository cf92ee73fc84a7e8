// The changes that `tool stack apply` makes in a log service: from what tool.json says and what the service has, to changes.
import { formatDuration } from "../../grammar/units/duration.ts";
import type { LogRecords } from "../../schema/as-config.ts";
import type { LogAlert, LogNotification } from "../../schema/index.ts";
import { MEMBERS, type NotificationMembers } from "../../schema/notification-members.ts";
import type { Alert, AlertInput, Notification, Search } from "../../schema/rpc.generated.ts";
import { alertInput } from "./records.ts";

/** The searches, alerts and notifications of an app by its tool.json and the files that this includes, by name. */
export interface WantedRecords {
  readonly app: string;
  readonly project: string;
  readonly queries: ReadonlyMap<string, string>;
  readonly alerts: ReadonlyMap<string, LogAlert>;
  readonly notifications: ReadonlyMap<string, LogNotification>;
}

/** Whether the secret of a notification of tool.json is the one that the service has, by the hash that is kept with it there. */
export type SecretJudge = (stored: Pick<Notification, "id" | "secret_hash">, wantedName: string) => boolean;

export type RecordKind = "notification" | "search" | "alert";

/** One thing of the service that would be added, changed or removed. */
export interface ServiceChange {
  readonly action: "add" | "change" | "remove";
  readonly kind: RecordKind;
  readonly name: string;
  /** In the service; undefined if it would be added. */
  readonly id: string | undefined;
  readonly properties: readonly RecordProperty[];
}

export interface RecordProperty {
  /** As tool.json has it: `interval`. */
  readonly path: string;
  /** As JSON, in the words of tool.json; undefined if there is no value, or it is a secret. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly isSecret: boolean;
}

export interface RecordsPlan {
  /** In the order in which they are made: notifications before the alerts that name them, and what is removed last. */
  readonly changes: readonly ServiceChange[];
  /** Two apps that claim one name. Nothing is done while there are any. */
  readonly clashes: readonly string[];
  /** Things that people made by names of the file: they stay as they are. */
  readonly remarks: readonly string[];
  /** Not removed, as something that is not of the app needs them. The remarks have them, too. */
  readonly held: readonly HeldRecord[];
}

export interface HeldRecord {
  readonly kind: RecordKind;
  readonly name: string;
  /** Why, and what to do. */
  readonly reason: string;
}

type Properties = ReadonlyMap<string, { readonly value: unknown; readonly isSecret?: boolean }>;

/** A record by its name, in the words of tool.json. */
interface Named {
  readonly name: string;
  readonly properties: Properties;
}

interface Existing {
  readonly id: string;
  readonly name: string;
  readonly managed_by: string;
  /** Beside what tool.json has by this name. */
  propertiesAs(name: string): Properties;
}

/** The steps from what a project has to what an app wants there. What other apps and people have is never touched. */
export function planRecords(wanted: WantedRecords, there: LogRecords, judge: SecretJudge): RecordsPlan {
  const { app } = wanted;
  const notifications = planKind({
    app,
    kind: "notification",
    wanted: [...wanted.notifications].map(([name, one]) => ({ name, properties: notificationProperties(one) })),
    there: there.notifications.map((one) => ({
      ...one,
      propertiesAs: (name) => storedNotification(one, wanted.notifications.get(name), judge(one, name)),
    })),
    likeness: (one, name) => commonAlerts(wanted, there, one.id, name),
  });
  const searches = planKind({
    app,
    kind: "search",
    wanted: [...wanted.queries]
      .filter(([, query]) => query.trim() !== "")
      .map(([name, value]) => ({ name, properties: new Map([["query", { value }]]) })),
    there: there.searches.map((one: Search) => ({
      ...one,
      propertiesAs: () => new Map([["query", { value: one.query }]]),
    })),
  });
  // Others may have the same name: what an app notifies is its own.
  const nameOf = new Map(
    there.notifications.map(({ id, name, managed_by }) => [
      id,
      managed_by === app ? (notifications.renamed.get(id) ?? name) : `${name} (not of this tool.json)`,
    ]),
  );
  const alerts = planKind({
    app,
    kind: "alert",
    wanted: [...wanted.alerts].map(([name, one]) => ({
      name,
      properties: alertProperties(alertInput(name, one, { project: "", notificationId: "" }), one.notify),
    })),
    there: there.alerts.map((one) => ({
      ...one,
      propertiesAs: () => alertProperties(one, nameOf.get(one.notification_id)),
    })),
  });
  const plans = [notifications, searches, alerts];
  const all = plans.flatMap(({ changes }) => changes);
  const users = usersOfOthers(app, there);
  const isHeld = ({ action, id }: ServiceChange) => action === "remove" && users.has(id);
  const held = all.filter(isHeld).map(({ kind, name, id }) => {
    return {
      kind,
      name,
      reason: `${users.get(id)}, which is not of this tool.json, names it: change or remove that first`,
    };
  });
  return {
    changes: [...all.filter(({ action }) => action !== "remove"), ...removals(all.filter((one) => !isHeld(one)))],
    clashes: plans.flatMap(({ clashes }) => clashes),
    remarks: [
      ...plans.flatMap(({ remarks }) => remarks),
      ...held.map(({ kind, name, reason }) => `${kind} ${name} stays: ${reason}`),
      ...emptyQueries(wanted),
    ],
    held,
  };
}

/** The alerts that people or other apps have, by the notification that they name, which the service does not remove before them. */
function usersOfOthers(app: string, { alerts }: LogRecords): ReadonlyMap<string | undefined, string> {
  const others = alerts.filter(({ managed_by }) => managed_by !== app);
  return new Map(others.map(({ notification_id, name }) => [notification_id, `alert ${name}`]));
}

/** A search of the service has a query. */
const emptyQueries = ({ queries }: WantedRecords) =>
  [...queries].flatMap(([name, query]) =>
    query.trim() === "" ? [`search ${name} is empty and finds everything: the log service does not keep it`] : [],
  );

/** Alerts before the notifications that they name. */
const removals = (changes: readonly ServiceChange[]) => changes.filter(({ action }) => action === "remove").reverse();

interface KindPlan extends Omit<RecordsPlan, "held"> {
  /** The new names of what is renamed, by ids. */
  readonly renamed: ReadonlyMap<string, string>;
}

interface KindRequest {
  readonly app: string;
  readonly kind: RecordKind;
  readonly wanted: readonly Named[];
  readonly there: readonly Existing[];
  readonly likeness?: Likeness;
}

function planKind({ app, kind, wanted, there, likeness = () => 0 }: KindRequest): KindPlan {
  const changes: ServiceChange[] = [];
  const clashes: string[] = [];
  const remarks: string[] = [];
  const names = new Set(wanted.map(({ name }) => name));
  const owned = new Map(there.filter((one) => one.managed_by === app).map((one) => [one.name, one]));
  const renames = findRenames(
    wanted.filter(({ name }) => !owned.has(name)),
    [...owned.values()].filter(({ name }) => !names.has(name)),
    likeness,
  );
  for (const { name, properties } of wanted) {
    const same = there.filter((one) => one.name === name && one.managed_by !== app);
    for (const { managed_by } of same) {
      if (managed_by) {
        clashes.push(`${kind} ${name} is in tool.json of ${managed_by}, and cannot be in that of ${app}, too`);
      } else {
        remarks.push(
          `${kind} ${name} is there already, made by people: theirs stays as it is; remove or rename it in the log service if that of tool.json replaces it`,
        );
      }
    }
    const before = renames.get(name);
    if (before !== undefined) {
      const [from, to] = [jsonOf(before.name), jsonOf(name)];
      const renaming = { path: "name", before: from, after: to, isSecret: false };
      changes.push({ action: "change", kind, name, id: before.id, properties: [renaming] });
      continue;
    }
    const mine = owned.get(name);
    const changed = propertyChanges(mine?.propertiesAs(name) ?? new Map(), properties);
    if (mine !== undefined && changed.length === 0) continue;
    changes.push({ action: mine === undefined ? "add" : "change", kind, name, id: mine?.id, properties: changed });
  }
  const renamed = new Map([...renames].map(([name, { id }]) => [id, name]));
  for (const { name, id } of owned.values()) {
    if (!names.has(name) && !renamed.has(id)) changes.push({ action: "remove", kind, name, id, properties: [] });
  }
  return { changes, clashes, remarks, renamed };
}

/**
 * The pairs of one that would be added and one that would be removed, of the same content, by the new name: such a thing only has
 * another name. It keeps its id, so that an alert stays triggered, and its end is told to those who were told of its beginning.
 */
function findRenames(
  added: readonly Named[],
  removed: readonly Existing[],
  likeness: Likeness,
): ReadonlyMap<string, Existing> {
  const pairs = added.flatMap(({ name, properties }) =>
    removed
      .filter((one) => propertyChanges(one.propertiesAs(name), properties).length === 0)
      .map((one) => ({ name, one, points: likeness(one, name) })),
  );
  const renames = new Map<string, Existing>();
  const taken = new Set<Existing>();
  for (const { name, one } of pairs.sort((a, b) => b.points - a.points)) {
    if (renames.has(name) || taken.has(one)) continue;
    renames.set(name, one);
    taken.add(one);
  }
  return renames;
}

/** Which of several of equal content one is that has another name: the one with the most points, and of these the first. */
type Likeness = (one: Existing, name: string) => number;

/** The alerts that name a notification in the service, and by its new name in tool.json: with their own name, or the same content. */
function commonAlerts({ app, alerts }: WantedRecords, there: LogRecords, id: string, name: string): number {
  const naming = there.alerts.filter((one) => one.managed_by === app && one.notification_id === id);
  return [...alerts].filter(([alertName, alert]) => {
    if (alert.notify !== name) return false;
    const input = alertInput(alertName, alert, { project: "", notificationId: "" });
    const properties = alertProperties(input, "");
    return naming.some(
      (one) => one.name === alertName || propertyChanges(alertProperties(one, ""), properties).length === 0,
    );
  }).length;
}

/** Both sides are without what is the default. */
function propertyChanges(before: Properties, after: Properties): RecordProperty[] {
  return [...new Set([...after.keys(), ...before.keys()])].flatMap((path) => {
    const [one, other] = [before.get(path), after.get(path)];
    const [from, to] = [jsonOf(one?.value), jsonOf(other?.value)];
    if (from === to) return [];
    const isSecret = one?.isSecret === true || other?.isSecret === true;
    return [{ path, before: isSecret ? undefined : from, after: isSecret ? undefined : to, isSecret }];
  });
}

const jsonOf = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value));

type Measured = Pick<AlertInput, keyof typeof ALERT_DEFAULTS> & Pick<AlertInput, "query" | "operator">;

/** As rpc.schema.json has them. */
const ALERT_DEFAULTS = {
  ...{ severity: "error", threshold: 0, limit: 10, interval: 5, muted: false, for: 1, recover: 1, repeat: 0 },
  description: "",
} as const;

function alertProperties(alert: Measured | Alert, notify: string | undefined): Properties {
  const properties = new Map<string, { readonly value: unknown }>([
    ["query", { value: alert.query }],
    ["operator", { value: alert.operator }],
    ["notify", { value: notify }],
  ]);
  for (const [name, usual] of Object.entries(ALERT_DEFAULTS)) {
    const value = alert[name as keyof typeof ALERT_DEFAULTS] ?? usual;
    if (value === usual) continue;
    const isMinutes = name === "interval" || name === "repeat";
    properties.set(name, { value: isMinutes ? formatDuration(Number(value) * 60_000) : value });
  }
  return properties;
}

const membersOf = (type: LogNotification["type"]): NotificationMembers => MEMBERS[type];

function notificationProperties(notification: LogNotification): Properties {
  const { needed, holds, optional } = membersOf(notification.type);
  const read = (name: string) => notification[name as keyof LogNotification];
  const more = optional === undefined ? undefined : read(optional);
  return new Map([
    ["type", { value: notification.type }],
    [needed, holds === "recipients" ? { value: read(needed) } : { value: SAME, isSecret: true }],
    ...(more === undefined ? [] : [[optional!, { value: more }] as const]),
  ] as const);
}

/** Stands for a secret: what the service has is equal to it only if the secret is the one of tool.json. */
const SAME = "the secret of tool.json";

function storedNotification(record: Notification, wanted: LogNotification | undefined, isJudged: boolean): Properties {
  const { needed, holds, optional } = membersOf(record.type);
  const more = optional === undefined ? "" : record[optional];
  const isSame = wanted?.type === record.type && isJudged;
  return new Map([
    ["type", { value: record.type }],
    [needed, holds === "recipients" ? { value: record[needed] } : { value: isSame ? SAME : "", isSecret: true }],
    ...(more === "" || more === undefined ? [] : [[optional!, { value: more }] as const]),
  ] as const);
}
