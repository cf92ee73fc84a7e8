import { visible } from "../../grammar/visible-text.ts";
import type { LogRecords } from "../../schema/as-config.ts";
import { projectIdOf } from "../../schema/project-id.ts";
import { RpcFailure } from "../../schema/rpc-client.ts";
import type { ConfigFile } from "../config-file.ts";
import type { Context } from "../context.ts";
import type { SandboxAccess } from "../platform/sandbox.ts";
import { type AppVariables, SERVICE_SECRETS } from "../platform/variables.ts";
import { SandboxFolder } from "../sandbox/folder.ts";
import { type AccountClient, accountClient } from "../team/account-client.ts";
import { TeamError } from "../team/error.ts";
import { tokenForFile } from "../team/token-for-service.ts";
import {
  type ApplyProgress,
  applyRecords,
  refusedNotifications,
  type ServiceSecrets,
  secretNameOf,
} from "./apply-records.ts";
import { type LogsAsCode, logsAsCode } from "./configured-alerts.ts";
import { judgeSecrets } from "./judge-secrets.ts";
import { planRecords, type RecordsPlan, type ServiceChange, type WantedRecords } from "./plan-records.ts";
import { storedRecords } from "./stored-records.ts";
import { hasNoCredentials } from "./unseen-stack.ts";

/** The changes that `tool stack apply` would make in the log service of an app. */
export interface ServicePlan extends Omit<RecordsPlan, "clashes"> {
  /** The origin of the service; undefined if there is none that tool.json could be applied to. */
  readonly service: string | undefined;
  readonly project: string;
  /** Why nothing of it can be done, and what to do; `changes` are those that are known all the same. */
  readonly problem: { readonly message: string; readonly hint: string } | undefined;
  /** Makes the changes. Throws a TeamError for the first one that fails. */
  apply(progress: ApplyProgress): Promise<void>;
}

interface PlanRequest {
  readonly file: ConfigFile;
  readonly sandbox: SandboxAccess | undefined;
  /** Opened only if a notification names a secret. */
  readonly openVariables: () => Promise<AppVariables>;
  readonly signal: AbortSignal;
  /** Plans as if tool.json had none of them any more. */
  readonly removesAll?: boolean;
}

/**
 * Compares searches, alerts and notifications of tool.json with those of its log service. Undefined if the app has nothing to do
 * with one. What is wrong with the service, or with who is signed in, is the plan's `problem`.
 */
export async function planService(context: Context, request: PlanRequest): Promise<ServicePlan | undefined> {
  const { file, sandbox, signal, removesAll = false } = request;
  const { config } = file;
  const code = logsAsCode(context, file);
  const isEmpty = code.queries.size + code.alerts.size + code.notifications.size === 0;
  const project = (sandbox === undefined ? config.logs?.project : undefined) ?? projectIdOf(config.name)!;
  const none = { service: undefined, project, changes: [], held: [], problem: undefined, apply: async () => {} };
  const place = await placeOf(context, request, code);
  if (place === undefined) return undefined;
  // Queries alone are used without a service, too.
  const mayBeThere = code.alerts.size + code.notifications.size > 0 || hasSent(context, config.name);
  const away = { ...none, remarks: [], problem: AWAY };
  if ("remark" in place) {
    if (removesAll && sandbox !== undefined && !isEmpty && mayBeThere) return away;
    return isEmpty || removesAll ? undefined : { ...none, remarks: [place.remark] };
  }
  const { service } = place;
  try {
    const client = accountClient({ ...place.open(), signal, clock: context.io.clock });
    const nothing = { queries: new Map(), alerts: new Map(), notifications: new Map() };
    const wanted: WantedRecords = { app: config.name, project, ...(removesAll ? nothing : code) };
    return { service, ...(await planOf(client, wanted, { ...request, service })) };
  } catch (error) {
    if (!(error instanceof TeamError) || signal.aborted) throw error;
    // Whoever has nothing there need not sign in.
    if (isEmpty) return undefined;
    // The file is that of an `npm start` which was killed.
    if (sandbox !== undefined && !(error.cause instanceof RpcFailure)) {
      return removesAll ? { ...away, service } : { ...none, remarks: [NONE_HERE] };
    }
    return { ...none, service, remarks: [], problem: saidOf(error) };
  }
}

/** The remark on a project that the first change makes. */
export const madeFirst = (project: string) => `the project ${project} is not there yet: it is made first`;

/** A service may answer anything. */
export const saidOf = ({ message, hint }: TeamError) => ({
  message: visible(message),
  hint: hint.split("\n").map(visible).join("\n"),
});

const NONE_HERE =
  'the alerts, notifications and searches of "logs" are left out: the sandbox has no log service (npm start, in a clone of this project, runs one)';

/** Why a removal leaves what an earlier apply made in the log service of `npm start`. */
const AWAY = {
  message: "it does not run, and could not be asked for the app's alerts, searches and notifications, which stay there",
  hint: "run tool stack delete --sandbox again while npm start runs",
};

/** Whether a stage of the app has had a log service here. */
const hasSent = (context: Context, app: string) => SandboxFolder.of(context.io.env).tokensOf(app).length > 0;

interface Place {
  readonly service: string;
  /** Throws a TeamError if nobody is signed in there. */
  open(): { readonly url: string; readonly token: string; readonly signIn: string; readonly forbidden?: string };
}

/** The service that tool.json is applied to, or why there is none; undefined if nothing names one. */
async function placeOf(
  context: Context,
  { file, sandbox }: PlanRequest,
  { alerts, notifications }: LogsAsCode,
): Promise<Place | { readonly remark: string } | undefined> {
  const { env } = context.io;
  if (sandbox !== undefined) {
    const { logServiceHere } = await import("../service/sandbox-delivery.ts");
    const here = logServiceHere(env);
    if (here === undefined) {
      return { remark: NONE_HERE };
    }
    return { service: here.url, open: () => ({ url: here.url, token: here.token, signIn: "npm start" }) };
  }
  const service = file.config.logs?.service;
  if (service === undefined) {
    if (alerts.size + notifications.size === 0) return undefined;
    const remark =
      'tool.json names no log service, so that its alerts and notifications are nowhere: write "service" in "logs"';
    return { remark };
  }
  const { origin } = new URL(service);
  const isCi = (env.TOOL_CONFIG ?? "").trim() !== "";
  const forbidden = { forbidden: "a token of CI that may is made by: tool team ci --apply" };
  return {
    service: origin,
    open() {
      const { token, remedy } = tokenForFile(context, origin);
      return { url: origin, token, signIn: remedy, ...(isCi && forbidden) };
    },
  };
}

/** Throws a TeamError if the service cannot be asked. */
async function planOf(
  client: AccountClient,
  wanted: WantedRecords,
  request: PlanRequest & { readonly service: string },
): Promise<Omit<ServicePlan, "service">> {
  const { openVariables, signal } = request;
  const { project } = wanted;
  const stored = await storedRecords(client, project);
  const there: LogRecords = stored ?? { alerts: [], notifications: [], searches: [] };
  const { secrets, missing, unread } = await readSecrets(wanted, openVariables, signal);
  const judge = await judgeSecrets(wanted, there, secrets);
  const { changes, clashes, remarks, held } = planRecords(wanted, there, judge);
  const ofSecrets = unread ?? (missing.length > 0 ? missingProblem(missing) : undefined);
  const first = clashes.length > 0 ? clashProblem(clashes) : ofSecrets;
  // Nothing is sent there while something else must be mended first.
  const problem = first ?? (await refusedProblem(changes, { client, wanted, secrets }, request));
  const isNewProject = stored === undefined;
  return {
    project,
    changes,
    held,
    remarks: [...(isNewProject && changes.length > 0 ? [madeFirst(project)] : []), ...remarks],
    problem,
    apply: (progress) => applyRecords(changes, { client, wanted, there, isNewProject, secrets, ...progress }),
  };
}

const clashProblem = (clashes: readonly string[]) => ({
  message: clashes.map(visible).join("\n"),
  hint: "give one of the two another name",
});

const missingProblem = (missing: readonly string[]) => ({
  message: `there is no secret ${missing.join(", ")}, which ${missing.length === 1 ? "a notification names" : "notifications name"}`,
  hint: missing.map((name) => `tool env add ${name} - -s ${SERVICE_SECRETS}`).join("\n"),
});

/** The plan says it, with all of them, before apply stops at the first one. */
async function refusedProblem(
  changes: readonly ServiceChange[],
  asker: Parameters<typeof refusedNotifications>[1],
  { sandbox, service, signal }: PlanRequest & { readonly service: string },
): Promise<ServicePlan["problem"]> {
  let refused: ReadonlyMap<string, TeamError>;
  try {
    refused = await refusedNotifications(changes, asker);
  } catch (error) {
    // The changes are known all the same.
    if (!(error instanceof TeamError) || signal.aborted) throw error;
    return saidOf(error);
  }
  const all = [...refused].map(([name, error]) => ({ name, ...saidOf(error) }));
  if (all.length === 0) return undefined;
  const isMail = (message: string) => sandbox !== undefined && message.includes("--smtp");
  const mails = `here npm start is its operator: TOOL_SMTP_URL=smtp://127.0.0.1:2525 TOOL_PUBLIC_URL=${service} npm start`;
  return {
    message: all.map((one) => `notification ${visible(one.name)}: ${one.message}`).join("\n"),
    hint: [...new Set(all.map(({ message, hint }) => (isMail(message) ? mails : hint)))].join("\n"),
  };
}

async function readSecrets(
  wanted: WantedRecords,
  openVariables: PlanRequest["openVariables"],
  signal: AbortSignal,
): Promise<{
  readonly secrets: ServiceSecrets;
  readonly missing: readonly string[];
  /** Why none of them can be read. */
  readonly unread?: ServicePlan["problem"];
}> {
  const names = [...new Set([...wanted.notifications.values()].flatMap((one) => secretNameOf(one) ?? []))];
  if (names.length === 0) return { secrets: new Map(), missing: [] };
  let values: Readonly<Record<string, string>>;
  try {
    values = await (await openVariables()).read(SERVICE_SECRETS, { signal, report() {} });
  } catch (error) {
    // The rest of the plan needs no account.
    if (!hasNoCredentials(error)) throw error;
    const message = `${names.join(", ")} cannot be read, which tool env keeps in the account: ${error.message}`;
    return { secrets: new Map(), missing: names, unread: { message, hint: error.hint ?? "" } };
  }
  const isThere = (name: string) => Object.hasOwn(values, name) && values[name] !== "";
  return {
    secrets: new Map(names.filter(isThere).map((name) => [name, values[name]!])),
    missing: names.filter((name) => !isThere(name)),
  };
}
