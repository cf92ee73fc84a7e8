import type { AliasConfiguration, FunctionConfiguration, Lambda } from "@aws-sdk/client-lambda";
import { humanBytes } from "../../../grammar/units/bytes.ts";
import type { Config, ResolvedConfig } from "../../../schema/index.ts";
import { DEFAULT_STAGES, forStage } from "../../../schema/index.ts";
import { PlatformError } from "../../platform/error.ts";
import type { Watched } from "../../platform/progress.ts";
import type { Commit, DeployRequest, DeployResult, StageBefore } from "../../platform/target.ts";
import type { VariableValues } from "../../platform/variables.ts";
import type { Cloud } from "../clients.ts";
import { makeLogGroup } from "../log-retention.ts";
import {
  accountOf,
  artifactKey,
  commitAlias,
  functionName,
  parameterPrefix,
  partition,
  previousAlias,
  roleName,
  runtimeLayerKey,
  SNAPSHOTS,
  stageAlias,
  stageEndpoint,
  TAGS,
} from "../names.ts";
import { packVariables, SNAPSHOT_VARIABLE, type Snapshot } from "../variables/pack.ts";
import { type StoredSnapshot, storeSnapshot } from "../variables/snapshots.ts";
import { type Aliases, aliasesOf, isChanged, isNotFound } from "./aliases.ts";
import { type CheckOutcome, checkVersion, isCannotRun } from "./check.ts";
import { markFailed, unmarkFailed } from "./failed-mark.ts";
import { ensureRuntimeLayer } from "./layer.ts";
import { policyHash } from "./policy.ts";
import { createFunction, type Publication, type Published, updateFunction } from "./publish.ts";
import { type DeployRecord, identityOf, numbered, ofVersion, readRecord, writeRecord } from "./record.ts";
import { ensureRole } from "./role.ts";
import { type FunctionSettings, fixedVariables, functionSettings, settingsHash } from "./settings.ts";
import { functionTags, syncTags, tagsHash } from "./tags.ts";
import { type Archive, functionCode } from "./upload.ts";

/** The stage in the gateway. */
export interface StageGateway {
  /** Hash of everything in tool.json that the stack is made from: gateway, domains, alerts, warming. */
  stackHash(accountId: string): Promise<string>;
  /** Undefined if the gateway does not have the stage. */
  find(stage: string): Promise<StageEndpoint | undefined>;
  /** Creates the stage and everything that it needs. The function and the stage's alias must exist. */
  ensure(stage: string, accountId: string): Promise<StageEndpoint>;
}

export interface StageEndpoint {
  readonly apiId: string;
  /** The URL of the custom domain, if there is one, else the default URL. */
  readonly url: string;
  /** Whether tool.json has changes that were not applied to the stack. */
  readonly isBehind: boolean;
}

export interface StageDeploy {
  readonly cloud: Cloud;
  readonly gateway: StageGateway;
  readonly stage: string;
  /** tool.json as it is written. */
  readonly written: Config;
  /** The same with the stage's overrides, as written and with all defaults. */
  readonly staged: { readonly written: Config; readonly config: ResolvedConfig };
}

export interface StageArtifact extends Archive {
  readonly runtime: string;
  readonly wrapper: string;
  /** The layer that holds the wrapper. */
  readonly runtimeLayer: (Archive & { readonly executableSha256: string }) | undefined;
}

/** A stage as it was before a deploy: its alias, and the record that the alias carries. */
export interface StageLook extends StageBefore {
  readonly alias: AliasConfiguration | undefined;
  readonly record: DeployRecord | undefined;
}

/** The artifact and settings to deploy, and the stage as it was before. */
export interface StageRequest {
  readonly before: StageLook;
  readonly artifact: StageArtifact;
  readonly commit: Commit | undefined;
  /** The variables of the stage that `tool env` keeps. */
  readonly variables: VariableValues;
  readonly logs?: DeployRequest["logs"];
  /** Whether a new version must show that it runs before the stage gets it. */
  readonly checks: boolean;
}

/**
 * Checks before anything is built that the credentials work and that the stage may be deployed. One call for a stage that
 * was deployed before.
 */
export async function lookAtStage(deploy: StageDeploy, { signal }: Watched): Promise<StageLook> {
  const { cloud, gateway, stage, written } = deploy;
  const lambda = await cloud.lambda();
  const alias = await aliasesOf(lambda, functionName(written.name), signal).get(stageAlias(stage));
  const record = readRecord(alias?.Description, alias?.FunctionVersion);
  const isCustom = !(DEFAULT_STAGES as readonly string[]).includes(stage);
  if (record?.api === undefined && isCustom && (await gateway.find(stage)) === undefined) {
    throw new PlatformError(
      "stage/not-applied",
      `the stage ${stage} does not exist yet`,
      "tool stack plan shows what it takes, tool stack apply makes it; then it can be deployed",
    );
  }
  return { stage, alias, record };
}

/** The parts of a deploy that are there already, by the record of the last one. */
interface Presence {
  /** The stage's version has this code, but its copy in the sandbox is damaged: an upload writes it anew. */
  readonly isDamaged: boolean;
  /** The stage's version has this code and these settings. */
  readonly isSame: boolean;
  /** Nothing is to be done. */
  readonly isActive: boolean;
}

async function presence(
  { sandbox }: Cloud,
  record: DeployRecord | undefined,
  wanted: Pick<DeployRecord, "code" | "settings" | "policy">,
  app: string,
): Promise<Presence> {
  if (record === undefined) return { isDamaged: false, isSame: false, isActive: false };
  const isRestored = record.identity !== undefined && record.identity === identityOf(wanted);
  const hasSame = isRestored || (record.code === wanted.code && record.settings === wanted.settings);
  const isDamaged = hasSame && (await sandbox?.isWhole(app, record.version)) === false;
  const isSame = hasSame && !isDamaged;
  return { isDamaged, isSame, isActive: isSame && (isRestored || record.policy === wanted.policy) };
}

/**
 * Deploys an artifact to the stage. It can be interrupted after any step: the next run finds what is done and continues from
 * there. Including the first look, a deploy of a changed app takes six calls, one more in a Git repository, and at least
 * one poll until the function is ready, two if its settings changed too. Without a change it takes one call, or two.
 */
export async function deployStage(
  deploy: StageDeploy,
  { before: { alias, record }, artifact, commit, variables, logs, checks }: StageRequest,
  watched: Watched,
): Promise<DeployResult> {
  const { cloud, gateway, stage, written, staged } = deploy;
  const { signal } = watched;
  const phase = phases(watched);
  const lambda = await cloud.lambda();
  const name = functionName(written.name);
  const aliases = aliasesOf(lambda, name, signal);
  const { wrapper } = artifact;
  const fixed = fixedVariables(staged.config, { stage, commit: commit?.ref, wrapper, logs });
  const { environment, snapshot } = packVariables(stage, fixed, variables);
  const ensureSnapshot = async () =>
    snapshot && storeSnapshot({ ssm: await cloud.ssm(), app: written.name, signal, clock: cloud.clock }, snapshot);
  const stored = snapshot && (await phase("variables", ensureSnapshot, () => snapshotText(snapshot)));
  const settings = functionSettings({
    ...staged,
    runtime: artifact.runtime,
    runtimeLayerHash: artifact.runtimeLayer?.executableSha256,
    environment: {
      ...environment,
      ...(stored !== undefined && { [SNAPSHOT_VARIABLE]: `${snapshot!.hash}/${stored.count}` }),
    },
  });
  const readsSnapshots = snapshot !== undefined;
  const wanted = {
    code: artifact.sha256Base64,
    settings: settingsHash(settings),
    policy: settings.role === undefined ? policyHash({ config: written, readsSnapshots }) : "",
  };
  if (settings.role === undefined && !readsSnapshots) wanted.policy = policyInForce(wanted, written, record);
  const tags = tagsHash(written.tags);

  let isRoleSeen = false;
  const ownRole = async () => {
    isRoleSeen = true;
    const { arn, policy } = await phase(
      "role",
      () => ensureRole(cloud, { config: written, readsSnapshots }, signal),
      ({ outcome }) => outcome,
    );
    wanted.policy = policy;
    return arn;
  };
  /** The role is not read if the record says that this stage's last deploy left it as it has to be. */
  const roleArn = async () => {
    if (settings.role?.startsWith("arn:")) return settings.role;
    // Without the permission no instance would start, and another stage's deploy may have written the policy meanwhile.
    if (settings.role === undefined && (readsSnapshots || record?.policy !== wanted.policy)) return ownRole();
    const id = alias?.AliasArn === undefined ? await cloud.accountId() : accountOf(alias.AliasArn);
    return `arn:${partition(cloud.region)}:iam::${id}:role/${settings.role ?? roleName(written.name, cloud.region)}`;
  };

  const { isDamaged, isSame, isActive } = await presence(cloud, record, wanted, written.name);
  let version = record?.version ?? "";
  let accountId = alias?.AliasArn === undefined ? "" : accountOf(alias.AliasArn);
  let origin: Published["origin"] | undefined;
  if (isSame && (!isActive || readsSnapshots)) await roleArn();
  if (!isSame) {
    const existing = record === undefined ? await ownFunction(lambda, name, written.name, signal) : {};
    const role = await roleArn();
    const layer = artifact.runtimeLayer;
    const upload = (archive: Archive, key: string) =>
      functionCode(cloud, archive, {
        key,
        accelerate: staged.config.function.accelerate,
        replaces: isDamaged,
        accountId: async () => (accountId === "" ? cloud.accountId() : accountId),
        signal,
      });
    const runtimeLayerArn =
      layer === undefined
        ? undefined
        : await phase("runtime", (note) =>
            ensureRuntimeLayer(
              lambda,
              { hash: layer.executableSha256, code: () => upload(layer, runtimeLayerKey(layer.executableSha256)) },
              { signal, note },
            ),
          );
    const published: Published = await phase(
      "publish",
      async (note) => {
        const publication = {
          functionName: name,
          clock: cloud.clock,
          settings,
          mayBeConfigured: record?.settings === wanted.settings,
          roleArn: role,
          onRoleRefused: async () => {
            if (settings.role === undefined && !isRoleSeen) await ownRole();
          },
          runtimeLayerArn,
          tags: functionTags(written.name, written.tags),
          code: () => upload(artifact, artifactKey(written.name, toHex(artifact.sha256Base64))),
          sha256Base64: artifact.sha256Base64,
          signal,
          note,
        };
        const created = existing === undefined ? await createWithLog(cloud, written, publication) : undefined;
        return created ?? updateFunction(lambda, publication);
      },
      (published) => `version ${published.version}, ${humanBytes(artifact.bytes)}`,
    );
    ({ version, accountId, origin } = published);
    // A prune that ran meanwhile may have taken it for one that nobody names.
    await ensureSnapshot();
  }

  // A function that was just created has its tags already.
  if (origin !== "created" && record?.tags !== tags) {
    const arn = `arn:${partition(cloud.region)}:lambda:${cloud.region}:${accountId}:function:${name}`;
    const wanted = functionTags(written.name, written.tags);
    await phase("tags", async () => {
      const role =
        settings.role === undefined
          ? { iam: await cloud.iam(), name: roleName(written.name, cloud.region) }
          : undefined;
      await syncTags(lambda, { functionArn: arn, wanted, role }, signal);
    });
  }

  const check = () => checkNew(lambda, { stage, alias, record, commit, name, own: { version, ...wanted }, signal });
  const checked = checks && !isSame ? await phase("check", check, ({ text }) => text) : undefined;
  if (origin === "reused") await unmarkFailed(aliases, version);

  const before = numbered(alias?.FunctionVersion);
  const previous = before === version ? record?.previous : before;
  // The record describes the version that the alias names.
  const identity = before === version ? record?.before : record && identityOf(record);
  const stack = await gateway.stackHash(accountId);
  let next: DeployRecord = {
    version,
    ...wanted,
    ...(tags !== undefined && { tags }),
    stack,
    ...(previous !== undefined && { previous }),
    ...(previous !== undefined && identity !== undefined && { before: identity }),
    ...(record?.api !== undefined && { api: record.api }),
  };
  let current = alias;
  if (!isActive) {
    current = await phase("activate", () => activate(aliases, stage, next, alias));
  } else if (record?.stack !== stack || record.tags !== tags) current = await activate(aliases, stage, next, alias);
  await updateOtherAliases(aliases, stage, { next, before: record, commit, isActive });

  const hasDomain = staged.config.stages[stage]?.domain !== undefined;
  let endpoint: StageEndpoint | undefined;
  if (next.api === undefined) {
    endpoint = await phase("stack", () => gateway.ensure(stage, accountId));
    next = { ...next, api: endpoint.apiId };
    // Recorded last: from now on a deploy of this stage does not ask for the stack.
    await activate(aliases, stage, next, current);
  } else if (hasDomain || record?.stack !== stack) endpoint = await gateway.find(stage);
  // Reported once for each change of tool.json. For a first deploy only if it leaves something to apply.
  const isNews = record?.stack === undefined ? asksForMore(written, stage) : record.stack !== stack;
  return {
    stage,
    version,
    commit: commit?.ref,
    url: endpoint?.url ?? cloud.sandbox?.urlOf(written.name, stage) ?? stageEndpoint(next.api!, cloud.region, stage),
    outcome: isActive ? "unchanged" : alias === undefined || origin === "created" ? "created" : "updated",
    previousVersion: previous,
    uploadedBytes: isSame ? 0 : artifact.bytes,
    remarks: [
      ...(isDamaged ? [`the stored code of version ${record?.version} was damaged, and was uploaded again`] : []),
      ...(checked?.remark === undefined ? [] : [checked.remark]),
      ...(stored === undefined || isActive ? [] : snapshotRemarks(settings, { ...snapshot!, ...stored }, written.name)),
      ...(endpoint?.isBehind === true && isNews ? [STACK_REMARK] : []),
    ],
  };
}

/** Creates the function, and its log group before it. Without that the app runs as well: the platform makes one. */
async function createWithLog(cloud: Cloud, written: Config, publication: Publication): Promise<Published | undefined> {
  const { signal, note } = publication;
  await makeLogGroup(cloud, written, { signal }).catch((error: Error) => {
    if (signal.aborted) throw error;
    note(`the log is kept for ever, as its retention could not be set: ${error.message}`);
  });
  return createFunction(await cloud.lambda(), publication);
}

/** The hash of the policy: another stage may read snapshots, and all of them have one role. */
function policyInForce(
  wanted: Readonly<Record<"code" | "settings" | "policy", string>>,
  config: Config,
  record: DeployRecord | undefined,
): string {
  const wider = { ...wanted, policy: policyHash({ config, readsSnapshots: true }) };
  const isWider = record?.policy === wider.policy || (record?.identity ?? "") === identityOf(wider);
  return isWider ? wider.policy : wanted.policy;
}

const snapshotText = ({ names, bytes }: Snapshot) =>
  `${names.length} outside the function's configuration, ${humanBytes(bytes)}`;

/** Says what variables outside of the function's configuration cost, and what they need beyond a deploy. */
function snapshotRemarks(
  { role, vpc }: FunctionSettings,
  { names, readMs }: Snapshot & StoredSnapshot,
  app: string,
): string[] {
  const some = names.length === 1 ? `the variable ${names[0]} does` : `${names.length} variables do`;
  const remarks = [
    `${some} not fit into the function's configuration, which has 4 KB: each cold start reads ${names.length === 1 ? "it" : "them"} first (${Math.ceil(readMs)} ms from here)`,
  ];
  if (role !== undefined) {
    remarks.push(`the role ${role} has to allow ssm:GetParameters on ${parameterPrefix(app)}${SNAPSHOTS}/*`);
  }
  if (vpc.subnets.length > 0) {
    remarks.push("the function is in a VPC, which needs a NAT gateway or an endpoint for Systems Manager to read them");
  }
  return remarks;
}

const STACK_REMARK =
  "tool.json asks for more than a deploy does (domains, records, alerts, warming, Firehose): tool stack plan shows it, tool stack apply makes it";

/** Whether a first deploy of the stage leaves anything to `stack apply`. */
function asksForMore(config: Config, stage: string): boolean {
  const { dns, alerts, stages } = config;
  const isWarm = forStage(config, stage).function?.warm === true;
  return (
    isWarm || stages?.[stage]?.domain !== undefined || Object.keys(dns ?? {}).length > 0 || (alerts ?? []).length > 0
  );
}

/** The app's function, if there is one. Throws if a function of that name was not created by the tool. */
async function ownFunction(
  lambda: Lambda,
  name: string,
  app: string,
  signal: AbortSignal,
): Promise<FunctionConfiguration | undefined> {
  try {
    const { Configuration, Tags } = await lambda.getFunction({ FunctionName: name }, { abortSignal: signal });
    if (Tags?.[TAGS.app] === app) return Configuration;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
  throw new PlatformError(
    "function/foreign",
    `there is already a function ${name} in this account and region, which tool did not make`,
    'choose another "name" in tool.json, or remove that function',
  );
}

/** Checks a version that the stage is to get, and marks it if it cannot run. */
async function checkNew(
  lambda: Lambda,
  {
    stage,
    alias,
    record,
    commit,
    name,
    own,
    signal,
  }: StageLook & {
    readonly commit: Commit | undefined;
    readonly name: string;
    readonly own: DeployRecord;
    readonly signal: AbortSignal;
  },
): Promise<CheckOutcome> {
  const { version } = own;
  try {
    return await checkVersion(lambda, { functionName: name, version, stage, isFirst: alias === undefined, signal });
  } catch (error) {
    if (isCannotRun(error) && version !== alias?.FunctionVersion) {
      const aliases = aliasesOf(lambda, name, signal);
      await markFailed(aliases, { ...own, ...(commit && authorship(commit)) });
      // It was deployed without a check, or started once. A rollback that finds no identity of it looks for the mark.
      if (record !== undefined && version === record.previous) {
        const { before: _, ...others } = record;
        await activate(aliases, stage, others, alias).catch(() => {});
      }
    }
    throw error;
  }
}

/** Moves the stage's alias: the one moment in which the stage changes. */
async function activate(
  aliases: Aliases,
  stage: string,
  record: DeployRecord,
  before: AliasConfiguration | undefined,
): Promise<AliasConfiguration> {
  const description = writeRecord(record);
  const name = stageAlias(stage);
  try {
    return before === undefined
      ? await aliases.create(name, { version: record.version, description })
      : await aliases.update(name, { version: record.version, description, revisionId: before.RevisionId });
  } catch (error) {
    if (!isChanged(error) && (error as Error).name !== "ResourceConflictException") throw error;
    const now = await aliases.get(name);
    // The first answer was lost, and the SDK made the call again.
    if (now?.FunctionVersion === record.version && now.Description === description) return now;
    throw new PlatformError(
      "deploy/overtaken",
      `another deployment of ${stage} became active in the meantime: version ${now?.FunctionVersion ?? "unknown"}`,
      "this one was not activated; deploy again to activate it",
      { cause: error },
    );
  }
}

const authorship = ({ sha, author }: Commit) => ({ sha, ...(author !== undefined && { author }) });

/** Updates the other aliases, which name versions for users and protect them from removal. */
async function updateOtherAliases(
  aliases: Aliases,
  stage: string,
  {
    next,
    before,
    commit,
    isActive,
  }: {
    readonly next: DeployRecord;
    readonly before: DeployRecord | undefined;
    readonly commit: Commit | undefined;
    readonly isActive: boolean;
  },
): Promise<void> {
  const { version, code, settings, policy, previous } = next;
  const own = { version, code, settings, policy };
  /** If the version was already active, they are only updated if the deploy that activated it was interrupted. */
  const follow = async (name: string, to: string, record: DeployRecord | undefined, expected: "absent" | "present") => {
    if (isActive && (await aliases.get(name))?.FunctionVersion === to) return;
    const description = record === undefined ? "" : writeRecord(record);
    await aliases.set(name, { version: to, description }, expected);
  };
  const all: Promise<void>[] = [];
  if (previous !== undefined) {
    const record = before?.version === previous ? ofVersion(before) : undefined;
    all.push(follow(previousAlias(stage), previous, record, before?.previous === undefined ? "absent" : "present"));
  }
  if (commit !== undefined) {
    const record = { ...own, ...authorship(commit) };
    all.push(follow(commitAlias(stage, commit.ref), version, record, "absent"));
  }
  await Promise.all(all);
}

function toHex(base64: string): string {
  return Buffer.from(base64, "base64").toString("hex");
}

/** Reports the beginning and the end of each phase. A phase that fails has no end. */
function phases({ report }: Watched) {
  return async <T>(
    phase: string,
    run: (note: (text: string) => void) => Promise<T>,
    outcome?: (result: T) => string,
  ): Promise<T> => {
    report({ kind: "begin", phase });
    const result = await run((text) => report({ kind: "note", phase, text }));
    report({ kind: "end", phase, ...(outcome !== undefined && { text: outcome(result) }) });
    return result;
  };
}
