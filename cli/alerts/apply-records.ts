// The requests by which `tool stack apply` changes a log service: one request for each change, in the order of the plan.

import type { LogRecords } from "../../schema/as-config.ts";
import type { LogNotification } from "../../schema/index.ts";
import { MEMBERS, type NotificationMembers } from "../../schema/notification-members.ts";
import type { NotificationInput } from "../../schema/rpc.generated.ts";
import { RpcFailure } from "../../schema/rpc-client.ts";
import type { AccountClient } from "../team/account-client.ts";
import { TeamError } from "../team/error.ts";
import type { ServiceChange, WantedRecords } from "./plan-records.ts";
import { alertInput } from "./records.ts";
import { hashSecret } from "./secret-hash.ts";

/** The values of the secrets that notifications name, by their names. No message may hold one. */
export type ServiceSecrets = ReadonlyMap<string, string>;

/** Called while changes are made. */
export interface ApplyProgress {
  /** Before each change. */
  readonly onBegin?: (change: ServiceChange) => void;
  /** After each change that is made. */
  readonly onDone: (change: ServiceChange) => void;
  /** After the project is made. */
  readonly onProject?: () => void;
}

interface ApplyRequest extends ApplyProgress {
  readonly client: AccountClient;
  readonly wanted: WantedRecords;
  readonly there: LogRecords;
  /** Whether the project has to be made first. */
  readonly isNewProject: boolean;
  readonly secrets: ServiceSecrets;
}

/** Makes changes one after another. Throws a TeamError for the first one that fails; those before it are made. */
export async function applyRecords(changes: readonly ServiceChange[], request: ApplyRequest): Promise<void> {
  const { client, wanted, there, isNewProject, onBegin, onDone, onProject } = request;
  if (changes.length === 0) return;
  if (isNewProject && (await addProject(client, wanted))) onProject?.();
  const ids = new Map(
    there.notifications.flatMap(({ name, id, managed_by }) => (managed_by === wanted.app ? [[name, id] as const] : [])),
  );
  let isFirst = !hasRecords(there);
  for (const change of changes) {
    onBegin?.(change);
    const id = await make(change, request, ids);
    if (id !== undefined && isFirst) {
      await requireManages(client, change, { project: wanted.project, id }).catch((error: unknown) => {
        // It is there, and whether it stays is not known.
        if (!(error instanceof OlderServiceError)) onDone(change);
        throw error;
      });
    }
    isFirst = false;
    const notificationId = id ?? change.id;
    if (change.kind === "notification" && notificationId !== undefined) ids.set(change.name, notificationId);
    onDone(change);
  }
}

const hasRecords = ({ alerts, notifications, searches }: LogRecords) =>
  alerts.length + notifications.length + searches.length > 0;

/** Returns false if somebody else has made it since it was looked for: what they add beside it is a conflict of its own. */
async function addProject(client: AccountClient, { app, project }: WantedRecords): Promise<boolean> {
  const forbidden = { message: `the log service has no project ${project}, and you may not make one`, hint: ASK };
  try {
    await client.call("add_project", { project: { id: project, name: app } }, { 403: forbidden });
    return true;
  } catch (error) {
    if (!hasStatus(error, 409)) throw error;
    return false;
  }
}

const ASK = "an admin of the team makes it there, or by their first deploy";

/**
 * Why a service would refuse notifications of a plan, by their names, as it is set up now. Secrets are sent to it, as the changes
 * themselves would. An older service, without this operation, refuses none. Throws a TeamError if it cannot be asked.
 */
export async function refusedNotifications(
  changes: readonly ServiceChange[],
  { client, wanted, secrets }: Pick<ApplyRequest, "client" | "wanted" | "secrets">,
): Promise<ReadonlyMap<string, TeamError>> {
  const refused = new Map<string, TeamError>();
  for (const change of changes) {
    const { action, kind, name, id } = change;
    if (kind !== "notification" || action === "remove") continue;
    try {
      const notification = await notificationInput(change, wanted, secrets);
      await client.call("check_notification", { notification, ...(id && { notification_id: id }) }, REMEDIES);
    } catch (thrown) {
      const error = masking(thrown, secrets);
      if (hasStatus(error, 400) || hasStatus(error, 409)) refused.set(name, error as TeamError);
      // Neither the project nor this operation need be there.
      else if (!hasStatus(error, 404)) throw error;
    }
  }
  return refused;
}

/** Makes one change. Returns the id of what was added. */
async function make(
  change: ServiceChange,
  { client, wanted, secrets }: ApplyRequest,
  notificationIds: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  const { action, kind, name, id } = change;
  const { app, project } = wanted;
  const owner = { project_id: project, managed_by: app };
  if (action === "remove") {
    // Somebody else, who applies the same file, may have been first.
    const gone = (error: unknown) => {
      if (!hasStatus(error, 404)) throw error;
    };
    if (kind === "alert") await client.call("remove_alert", { ...owner, alert_id: id! }, REMEDIES).catch(gone);
    else if (kind === "search") await client.call("remove_search", { ...owner, search_id: id! }, REMEDIES).catch(gone);
    else await client.call("remove_notification", { ...owner, notification_id: id! }, REMEDIES).catch(gone);
    return undefined;
  }
  if (kind === "search") {
    const search = { ...owner, name, query: wanted.queries.get(name)! };
    if (id === undefined) return (await client.call("add_search", { search }, REMEDIES)).id;
    await client.call("update_search", { search: { ...search, id } }, REMEDIES);
    return undefined;
  }
  if (kind === "alert") {
    const one = wanted.alerts.get(name)!;
    const input = alertInput(name, one, { project, notificationId: notificationIds.get(one.notify)! });
    if (id === undefined)
      return (await client.call("add_alert", { alert: { ...input, managed_by: app } }, REMEDIES)).id;
    const usual = { description: "", limit: 10, muted: false, for: 1, recover: 1, repeat: 0, threshold: 0 };
    await client.call("update_alert", { alert: { ...usual, ...input, managed_by: app, id } }, REMEDIES);
    return undefined;
  }
  const input = await notificationInput(change, wanted, secrets);
  const masked = <T>(answer: Promise<T>) => answer.catch((error: unknown) => Promise.reject(masking(error, secrets)));
  if (id === undefined) return (await masked(client.call("add_notification", { notification: input }, REMEDIES))).id;
  await masked(client.call("update_notification", { notification: { ...input, id } }, REMEDIES));
  return undefined;
}

async function notificationInput(
  { name, id, properties }: ServiceChange,
  { app, project, notifications }: WantedRecords,
  secrets: ServiceSecrets,
): Promise<NotificationInput> {
  const isSecretNew = id === undefined || properties.some(({ isSecret }) => isSecret);
  const members = await notificationMembers(notifications.get(name)!, secrets, isSecretNew);
  return { project_id: project, managed_by: app, name, ...members };
}

const MEND = "change it in tool.json, or its secret with tool env set";
const LOOK = "tool stack plan shows what differs";
const AGAIN = "somebody else may be applying tool.json: run tool stack apply again";
const REMEDIES = { 400: MEND, 404: AGAIN, 409: LOOK };

const hasStatus = (error: unknown, status: number) =>
  error instanceof TeamError && error.cause instanceof RpcFailure && error.cause.status === status;

/** With what other types have emptied, as the type may have changed. */
async function notificationMembers(
  notification: LogNotification,
  secrets: ServiceSecrets,
  isSecretNew: boolean,
): Promise<Omit<NotificationInput, "project_id" | "name">> {
  const { type } = notification;
  const { needed, holds }: NotificationMembers = MEMBERS[type];
  const empty = {
    ...{ email_addresses: [], sms_numbers: [], slack_channel: "", slack_webhook_url: "", webhook_url: "" },
    ...{ pagerduty_service_key: "", secret_hash: "" },
  } satisfies Record<Exclude<keyof LogNotification, "type"> | "secret_hash", string | readonly string[]>;
  const plain = { ...empty, ...notification };
  if (holds === "recipients") return plain;
  const { [needed as keyof typeof empty]: _, secret_hash: __, ...others } = plain;
  // Without it, the service keeps what it has.
  if (!isSecretNew) return others;
  const secret = secrets.get(secretNameOf(notification)!)!;
  return { ...others, [needed]: secret, secret_hash: await hashSecret(secret) };
}

/** The name of the secret of a notification: `PAGER_KEY` of `"$PAGER_KEY"`. Undefined if its type has none. */
export function secretNameOf(notification: LogNotification): string | undefined {
  const { needed, holds }: NotificationMembers = MEMBERS[notification.type];
  if (holds === "recipients") return undefined;
  return (notification[needed] as string).slice(1);
}

/** A shorter secret is part of many words: in their places, masks would say what it is. */
const LEAST_MASKED = 4;

/** The error without the secrets that the service may have quoted, whole or by the host of an address. */
function masking(error: unknown, secrets: ServiceSecrets): unknown {
  if (!(error instanceof TeamError)) return error;
  // One may begin with another.
  const longestFirst = [...secrets].sort(([, one], [, other]) => other.length - one.length);
  const mask = (text: string) =>
    longestFirst.reduce((rest, [name, value]) => {
      const host = URL.canParse(value) ? new URL(value).hostname : "";
      const parts = [value, host].filter(({ length }) => length >= LEAST_MASKED);
      return parts.reduce((some, part) => some.replaceAll(part, `$${name}`), rest);
    }, text);
  const { cause } = error;
  // The message of the cause has it, too.
  const masked =
    cause instanceof RpcFailure
      ? new RpcFailure(cause.status, cause.type, mask(cause.message))
      : cause && new Error("the service gave no answer");
  return new TeamError(mask(error.message), mask(error.hint), { cause: masked });
}

/** The record that was added is removed again. */
class OlderServiceError extends TeamError {}

/** A service of before leaves `managed_by` out, so that the next apply would add everything again: takes that back. */
async function requireManages(
  client: AccountClient,
  { kind, name }: ServiceChange,
  { project, id }: { readonly project: string; readonly id: string },
): Promise<void> {
  const input = { project_id: project };
  const records =
    kind === "notification"
      ? (await client.call("get_notifications", input)).notifications
      : kind === "search"
        ? (await client.call("get_searches", input)).searches
        : (await client.call("get_alerts", input)).alerts;
  const added = records.find((one) => one.id === id);
  if (added === undefined || added.managed_by !== undefined) return;
  if (kind === "notification") await client.call("remove_notification", { ...input, notification_id: id });
  else if (kind === "search") await client.call("remove_search", { ...input, search_id: id });
  else await client.call("remove_alert", { ...input, alert_id: id });
  throw new OlderServiceError(
    `the log service does not know whose ${kind} ${name} is: it is older than this tool`,
    "have its operator install the newer version, then run this again",
  );
}
