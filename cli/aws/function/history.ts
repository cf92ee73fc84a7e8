import type { AliasConfiguration, FunctionConfiguration, Lambda } from "@aws-sdk/client-lambda";
import type { ListObjectsV2CommandOutput } from "@aws-sdk/client-s3";
import type { Watched } from "../../platform/progress.ts";
import type { Deployment, PruneResult } from "../../platform/target.ts";
import type { Cloud } from "../clients.ts";
import {
  accountOf,
  bucketName,
  commitAliasPrefix,
  failedAlias,
  functionName,
  previousAlias,
  stageAlias,
} from "../names.ts";
import { readSnapshotName } from "../variables/pack.ts";
import { removeSnapshots } from "../variables/snapshots.ts";
import { aliasesOf, isNotFound } from "./aliases.ts";
import { numbered, readRecord } from "./record.ts";

/** Every published version of an app and the stage that it was published for, newest first. */
export async function listDeployments(
  lambda: Lambda,
  app: string,
  watched: Pick<Watched, "signal">,
): Promise<Deployment[]> {
  const { versions, aliases } = await readAll(lambda, app, watched.signal);
  return versions.map((version) => {
    const { TOOL_STAGE = "", TOOL_COMMIT } = version.Environment?.Variables ?? {};
    const number = version.Version!;
    const author = aliases
      .filter(({ FunctionVersion, Name }) => FunctionVersion === number && isOfVersion(Name, TOOL_STAGE, number))
      .map(({ Description }) => readRecord(Description, number)?.author)
      .find((name) => name !== undefined);
    return {
      stage: TOOL_STAGE,
      version: number,
      commit: TOOL_COMMIT,
      author,
      date: new Date(version.LastModified ?? 0).toISOString(),
      state: stateOf(aliases, TOOL_STAGE, number),
    };
  });
}

/**
 * Removes all but the newest `retain` deployments of a stage: the aliases of their commits, the versions, and the archives
 * and snapshots of variables that no remaining version needs. Versions that did not start take nobody's place: they are
 * removed, except for the function's last version, which a deploy of the same app may be about to use again.
 */
export async function pruneStage(
  cloud: Cloud,
  app: string,
  { stage, retain }: { readonly stage: string; readonly retain: number },
  { signal, report }: Watched,
): Promise<PruneResult> {
  const lambda = await cloud.lambda();
  const name = functionName(app);
  const { versions, aliases } = await readAll(lambda, app, signal);
  const ofStage = versions.filter(({ Environment }) => Environment?.Variables?.TOOL_STAGE === stage);
  const ownAliases = aliasesOf(lambda, name, signal);
  const removed: string[] = [];
  let retained = 0;
  for (const { Version } of ofStage) {
    const version = Version!;
    const naming = aliases.filter(({ FunctionVersion }) => FunctionVersion === version);
    // An alias that was created by hand protects its version, too.
    const isFree = naming.every(({ Name }) => isOfVersion(Name, stage, version));
    const state = stateOf(aliases, stage, version);
    const isKept = state === "failed" ? version === versions[0]!.Version : retained < retain || state !== "kept";
    if (isKept || !isFree) {
      if (state !== "failed") retained++;
      continue;
    }
    for (const alias of naming) await ignoringAbsence(ownAliases.remove(alias.Name!));
    await ignoringAbsence(lambda.deleteFunction({ FunctionName: name, Qualifier: version }, { abortSignal: signal }));
    removed.push(version);
    report({ kind: "note", phase: "prune", text: `version ${version} removed` });
  }
  const anyArn = versions[0]?.FunctionArn;
  if (removed.length > 0 && anyArn !== undefined) {
    const left = versions.filter(({ Version }) => !removed.includes(Version!));
    await removeArchives(cloud, { app, accountId: accountOf(anyArn), left }, signal);
  }
  // Apps whose variables fit into their function's configuration never had one.
  if (versions.some(({ Environment }) => readSnapshotName(Environment?.Variables) !== undefined)) {
    // Versions are read again: one that was published meanwhile may name a snapshot that was there already.
    const named = async () => (await readAll(lambda, app, signal)).versions.map((one) => one.Environment?.Variables);
    await removeSnapshots({ ssm: await cloud.ssm(), app, signal, clock: cloud.clock }, { named, youngMs: YOUNG_MS });
  }
  return { stage, removed, kept: ofStage.length - removed.length };
}

/** Whether an alias says something about one version only: its commit, or that it did not start. */
function isOfVersion(alias: string | undefined, stage: string, version: string): boolean {
  return alias === failedAlias(version) || alias?.startsWith(commitAliasPrefix(stage)) === true;
}

function stateOf(aliases: readonly AliasConfiguration[], stage: string, version: string): Deployment["state"] {
  const alias = (name: string) => aliases.find(({ Name }) => Name === name);
  const current = alias(stageAlias(stage));
  if (current?.FunctionVersion === version) return "current";
  const record = readRecord(current?.Description, current?.FunctionVersion);
  const previous = record?.previous ?? alias(previousAlias(stage))?.FunctionVersion;
  if (alias(failedAlias(version))?.FunctionVersion === version) return "failed";
  return previous === version ? "previous" : "kept";
}

/** Newest first, without $LATEST and without versions that the tool did not publish. */
export async function readAll(lambda: Lambda, app: string, signal: AbortSignal) {
  const name = functionName(app);
  const listed = async () => {
    const versions: FunctionConfiguration[] = [];
    let marker: string | undefined;
    do {
      const page = await lambda.listVersionsByFunction(
        { FunctionName: name, ...(marker !== undefined && { Marker: marker }) },
        { abortSignal: signal },
      );
      versions.push(...(page.Versions ?? []));
      marker = page.NextMarker;
    } while (marker !== undefined);
    return versions;
  };
  try {
    const [versions, aliases] = await Promise.all([listed(), aliasesOf(lambda, name, signal).list()]);
    const deployed = versions.filter(
      ({ Version, Environment }) => numbered(Version) !== undefined && Environment?.Variables?.TOOL_STAGE !== undefined,
    );
    return { versions: deployed.sort((a, b) => Number(b.Version) - Number(a.Version)), aliases };
  } catch (error) {
    // An app that was never deployed has no history.
    if (isNotFound(error)) return { versions: [], aliases: [] };
    throw error;
  }
}

/** Younger archives and snapshots are kept: a deploy may have stored one and not yet published its version. */
const YOUNG_MS = 3_600_000;

interface UnusedArchives {
  readonly app: string;
  readonly accountId: string;
  /** The versions whose archives are kept. */
  readonly left: readonly FunctionConfiguration[];
}

async function removeArchives(
  cloud: Cloud,
  { app, accountId, left }: UnusedArchives,
  signal: AbortSignal,
): Promise<void> {
  const s3 = await cloud.s3();
  const bucket = { Bucket: bucketName(accountId, cloud.region), ExpectedBucketOwner: accountId };
  const needed = new Set(left.map(({ CodeSha256 }) => Buffer.from(CodeSha256 ?? "", "base64").toString("hex")));
  let token: string | undefined;
  do {
    let page: ListObjectsV2CommandOutput;
    try {
      page = await s3.listObjectsV2(
        { ...bucket, Prefix: `${app}/`, ...(token !== undefined && { ContinuationToken: token }) },
        { abortSignal: signal },
      );
    } catch (error) {
      // Apps with small archives never had a bucket.
      if ((error as Error).name === "NoSuchBucket") return;
      throw error;
    }
    const keys = (page.Contents ?? [])
      .filter(({ LastModified }) => cloud.clock.nowMs() - (LastModified?.getTime() ?? 0) > YOUNG_MS)
      .map(({ Key }) => Key!)
      .filter((key) => !needed.has(key.slice(app.length + 1, -".zip".length)));
    if (keys.length > 0) {
      await s3.deleteObjects(
        { ...bucket, Delete: { Objects: keys.map((Key) => ({ Key })), Quiet: true } },
        { abortSignal: signal },
      );
    }
    token = page.NextContinuationToken;
  } while (token !== undefined);
}

/** Something that is gone was removed by another prune. */
async function ignoringAbsence(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
