import type { AliasConfiguration, FunctionConfiguration, Lambda } from "@aws-sdk/client-lambda";
import { DEFAULT_STAGES } from "../../../schema/index.ts";
import { PlatformError } from "../../platform/error.ts";
import type { Watched } from "../../platform/progress.ts";
import type { RollbackRequest, RollbackResult } from "../../platform/target.ts";
import type { VariableValues } from "../../platform/variables.ts";
import type { Cloud } from "../clients.ts";
import { commitAlias, commitAliasPrefix, failedAlias, functionName, previousAlias, stageAlias } from "../names.ts";
import { SNAPSHOT_VARIABLE } from "../variables/pack.ts";
import { readSnapshot } from "../variables/snapshots.ts";
import { type Aliases, aliasesOf, isChanged, isNotFound } from "./aliases.ts";
import { isMarkedFailed } from "./failed-mark.ts";
import { readAll } from "./history.ts";
import { type DeployRecord, identityOf, numbered, ofVersion, readRecord, writeRecord } from "./record.ts";

/**
 * Activates an earlier deployment of the stage, with the variables of its own deploy. Without a name it is the previous one,
 * and the current one becomes the previous, so that a second rollback undoes the first. It is active after three
 * calls, two of them at once, and one more if it has a snapshot of variables; the other two update the other alias and find
 * which variables differ.
 */
export async function rollbackStage(
  cloud: Cloud,
  app: string,
  { stage, to }: RollbackRequest,
  { signal }: Watched,
): Promise<RollbackResult> {
  const lambda = await cloud.lambda();
  const name = functionName(app);
  const aliases = aliasesOf(lambda, name, signal);
  const configurationOf = async (Qualifier: string) => {
    const configuration = await lambda.getFunctionConfiguration(
      { FunctionName: name, Qualifier },
      { abortSignal: signal },
    );
    return { version: configuration.Version, variables: configuration.Environment?.Variables ?? {} };
  };
  // At once: usually the alias of the previous deployment names the version that is wanted.
  const [current, likely] = await Promise.all([
    aliases.get(stageAlias(stage)),
    to === undefined ? configurationOf(previousAlias(stage)).catch(() => undefined) : undefined,
  ]);
  const currentVersion = numbered(current?.FunctionVersion);
  if (current === undefined || currentVersion === undefined) {
    throw new PlatformError(
      "stage/never-deployed",
      `${stage} is not deployed`,
      `tool deploy ${stage} deploys it; tool deploys lists the deployments`,
    );
  }
  const record = readRecord(current.Description, currentVersion);
  const target =
    to === undefined
      ? await before(aliases, { stage, currentVersion, record })
      : await named(lambda, aliases, app, { stage, to, signal });
  const variables = async (version: string) =>
    likely?.version === version ? likely.variables : (await configurationOf(version)).variables;

  const isUnchanged = target.version === currentVersion;
  const configured = await variables(target.version);
  if (!isUnchanged) await refuseWithoutSnapshot(cloud, app, { stage, version: target.version, configured }, signal);
  let following: Promise<void> | undefined;
  if (!isUnchanged) {
    const left = ofVersion(record ?? blankRecord(currentVersion));
    const identity = identityOf(left);
    const next: DeployRecord = {
      ...target.record,
      previous: currentVersion,
      ...(identity !== undefined && { before: identity }),
      ...(record?.api !== undefined && { api: record.api }),
      ...(record?.stack !== undefined && { stack: record.stack }),
      // Tags belong to the function, not to the version.
      ...(record?.tags !== undefined && { tags: record.tags }),
    };
    try {
      await aliases.update(stageAlias(stage), {
        version: target.version,
        description: writeRecord(next),
        revisionId: current.RevisionId,
      });
    } catch (error) {
      if (!isChanged(error)) throw error;
      const now = await aliases.get(stageAlias(stage));
      // No conflict if the first answer was lost and the SDK made the call again.
      if (now?.FunctionVersion !== target.version) {
        throw new PlatformError(
          "rollback/overtaken",
          `another deployment of ${stage} became active in the meantime: version ${now?.FunctionVersion ?? "unknown"}`,
          "nothing was rolled back; tool deploys lists the deployments",
          { cause: error },
        );
      }
    }
    following = aliases.set(
      previousAlias(stage),
      { version: currentVersion, description: writeRecord(left) },
      record?.previous === undefined ? "absent" : "present",
    );
  }
  const [replaced] = await Promise.all([variables(currentVersion), following]);
  const [mine, others] = await withSnapshots(cloud, app, [configured, replaced], signal);
  const names = new Set([...Object.keys(mine), ...Object.keys(others)]);
  return {
    stage,
    version: target.version,
    commit: configured.TOOL_COMMIT,
    previousVersion: currentVersion,
    outcome: isUnchanged ? "unchanged" : "rolled-back",
    wasFailed: target.isFailed && !isUnchanged,
    // The commit always differs.
    differingVariables: [...names]
      .filter((one) => !/^TOOL_(?:COMMIT$|LOGS_)/.test(one) && mine[one] !== others[one])
      .sort(),
  };
}

/** A version whose snapshot is gone does not start. */
async function refuseWithoutSnapshot(
  cloud: Cloud,
  app: string,
  {
    stage,
    version,
    configured,
  }: { readonly stage: string; readonly version: string; readonly configured: VariableValues },
  signal: AbortSignal,
): Promise<void> {
  if (configured[SNAPSHOT_VARIABLE] === undefined) return;
  if ((await readSnapshot({ ssm: await cloud.ssm(), app, signal }, configured)) !== undefined) return;
  throw new PlatformError(
    "rollback/no-variables",
    `version ${version} cannot start: the variables that it reads at a cold start are gone`,
    `nothing was rolled back; tool deploy ${stage} deploys the app with its variables of now`,
  );
}

/** The variables with those of the versions' snapshots. What cannot be read now does not keep a rollback from its end. */
async function withSnapshots(
  cloud: Cloud,
  app: string,
  [mine, others]: readonly [VariableValues, VariableValues],
  signal: AbortSignal,
): Promise<readonly [VariableValues, VariableValues]> {
  // The same snapshot, or none.
  if (mine[SNAPSHOT_VARIABLE] === others[SNAPSHOT_VARIABLE]) return [mine, others];
  const store = { ssm: await cloud.ssm(), app, signal };
  const whole = async ({ [SNAPSHOT_VARIABLE]: named, ...rest }: VariableValues) => ({
    ...rest,
    ...(await readSnapshot(store, { [SNAPSHOT_VARIABLE]: named ?? "" }).catch(() => undefined)),
  });
  return Promise.all([whole(mine), whole(others)]);
}

interface RecordedVersion {
  readonly version: string;
  readonly record: DeployRecord;
  /** Whether it did not start when it was deployed. */
  readonly isFailed: boolean;
}

/**
 * The previous deployment, from the stage's record. The alias is updated a call later and only read for what the record
 * lacks. One that did not start when it was last deployed is refused: the record has no identity of such a version.
 */
async function before(
  aliases: Aliases,
  {
    stage,
    currentVersion,
    record,
  }: { readonly stage: string; readonly currentVersion: string; readonly record: DeployRecord | undefined },
): Promise<RecordedVersion> {
  if (record?.previous !== undefined && record.before !== undefined) {
    const previous = { ...blankRecord(record.previous), identity: record.before };
    return { version: record.previous, record: previous, isFailed: false };
  }
  const previous = await aliases.get(previousAlias(stage));
  const version = record?.previous ?? numbered(previous?.FunctionVersion);
  if (version === undefined || version === currentVersion) {
    throw new PlatformError(
      "rollback/none-before",
      `${stage} has no deployment before this one`,
      "tool deploys lists the deployments",
    );
  }
  if (await isMarkedFailed(aliases, version)) {
    throw new PlatformError(
      "rollback/did-not-start",
      `the deployment before this one, version ${version}, did not start when it was last deployed`,
      `tool rollback ${version} --stage ${stage} activates it all the same; tool deploys lists the others`,
    );
  }
  const own = readRecord(previous?.Description, version) ?? blankRecord(version);
  return { version, record: ofVersion(own), isFailed: false };
}

/** The deployment that a commit, a tag or a version names. A commit may be shorter or longer than when it was deployed. */
async function named(
  lambda: Lambda,
  aliases: Aliases,
  app: string,
  { stage, to, signal }: { readonly stage: string; readonly to: string; readonly signal: AbortSignal },
): Promise<RecordedVersion> {
  const configuration = (version: string) =>
    lambda.getFunctionConfiguration({ FunctionName: functionName(app), Qualifier: version }, { abortSignal: signal });
  const stageOf = async (version: string) => (await configuration(version)).Environment?.Variables?.TOOL_STAGE;
  const alias = (await aliases.get(commitAlias(stage, to))) ?? (await abbreviated(aliases, { stage, to, stageOf }));
  const mayBeCommit = numbered(to) === undefined || isHash(to);
  const failed = async () =>
    mayBeCommit ? failedOf({ stage, to, ...(await readAll(lambda, app, signal)) }) : undefined;
  const version = numbered(alias?.FunctionVersion) ?? (await failed()) ?? numbered(to);
  const unknown = new PlatformError(
    "rollback/unknown-version",
    `there is no deployment ${JSON.stringify(to)} of ${stage}`,
    (DEFAULT_STAGES as readonly string[]).includes(to)
      ? `the stage is a flag: tool rollback --stage ${to}`
      : "tool deploys lists the deployments",
  );
  if (version === undefined) throw unknown;
  let stageOfVersion: string | undefined;
  let code: string | undefined;
  let isFailed: boolean;
  try {
    const [details, isMarked] = await Promise.all([configuration(version), isMarkedFailed(aliases, version)]);
    isFailed = isMarked;
    stageOfVersion = details.Environment?.Variables?.TOOL_STAGE;
    code = details.CodeSha256;
  } catch (error) {
    throw isNotFound(error) ? unknown : error;
  }
  if (stageOfVersion !== stage) {
    throw new PlatformError(
      "rollback/other-stage",
      `version ${version} was deployed to ${stageOfVersion ?? "no stage"}, and has its variables: ${stage} cannot run it`,
      `tool deploys lists those of ${stage}`,
    );
  }
  // A later rollback without a name looks for the mark of a version whose identity is in no record.
  const own = isFailed ? undefined : readRecord(alias?.Description, version);
  const { sha: _, author: __, ...record } = own ?? blankRecord(version, code);
  return { version, record, isFailed };
}

async function abbreviated(
  aliases: Aliases,
  {
    stage,
    to,
    stageOf,
  }: {
    readonly stage: string;
    readonly to: string;
    readonly stageOf: (version: string) => Promise<string | undefined>;
  },
): Promise<AliasConfiguration | undefined> {
  if (!isHash(to)) return undefined;
  const sha = to.toLowerCase();
  const ofStage = (await aliases.list()).filter(({ Name }) => Name?.startsWith(commitAliasPrefix(stage)));
  const matches = ofStage.filter(({ Description, FunctionVersion }) =>
    readRecord(Description, FunctionVersion)?.sha?.startsWith(sha),
  );
  const named = [...new Set(matches.map(({ FunctionVersion }) => FunctionVersion!))];
  // The prefix of `beta` matches aliases of `beta-two`, too.
  const stages = await Promise.all(named.length < 2 ? [] : named.map(stageOf));
  const versions = named.length < 2 ? named : named.filter((_, i) => stages[i] === stage);
  if (versions.length > 1) {
    const list = versions.sort((a, b) => Number(a) - Number(b)).join(", ");
    throw new PlatformError(
      "rollback/ambiguous",
      `${to} names ${versions.length} deployments of ${stage}: versions ${list}`,
      "name one of the versions",
    );
  }
  return matches.find(({ FunctionVersion }) => FunctionVersion === versions[0]);
}

/**
 * The newest version that did not start when a commit was deployed to the stage: no alias of the commit names it. By the ref of
 * that deploy, or the beginning of the commit's hash.
 */
function failedOf({
  stage,
  to,
  versions,
  aliases,
}: { readonly stage: string; readonly to: string } & Awaited<ReturnType<typeof readAll>>): string | undefined {
  const isNamed = ({ Version, Environment }: FunctionConfiguration) => {
    const mark = aliases.find(({ Name }) => Name === failedAlias(Version!));
    const { TOOL_STAGE, TOOL_COMMIT } = Environment!.Variables!;
    if (mark === undefined || TOOL_STAGE !== stage) return false;
    const sha = isHash(to) ? readRecord(mark.Description, Version)?.sha : undefined;
    return TOOL_COMMIT === to || sha?.startsWith(to.toLowerCase()) === true;
  };
  return versions.find(isNamed)?.Version;
}

/** Whether it may begin the hash of a commit: 4 digits are the least that Git itself accepts. */
const isHash = (to: string) => /^[0-9a-f]{4,40}$/i.test(to);

/** A record with unknown settings, so that the next deploy publishes a version. */
const blankRecord = (version: string, code = ""): DeployRecord => ({ version, code, settings: "", policy: "" });
