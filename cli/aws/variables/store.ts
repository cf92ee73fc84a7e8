import { randomBytes } from "node:crypto";
import type { Parameter, ParameterMetadata, SSM } from "@aws-sdk/client-ssm";
import { variableNameProblem } from "../../../schema/index.ts";
import { PlatformError } from "../../platform/error.ts";
import type { SetRequest, SetResult, StageValue, StoredVariable, VariableValues } from "../../platform/variables.ts";
import { ALL_STAGES, isMergedWithAll } from "../../platform/variables.ts";
import { parameterPrefix, TAGS } from "../names.ts";
import { decodeHead, decodeParts, EMPTY_PART, encodeValue, partName, partsHead, slices } from "./stored-value.ts";
import { withoutQuoted } from "./without-quoted.ts";

/** One app's variables in the Parameter Store: `/tool/<app>/<stage>/<NAME>`, the parts of a large one below that. */
export interface VariableStore {
  readonly ssm: SSM;
  readonly app: string;
  readonly signal: AbortSignal;
}

/** "You can specify up to 10 names" (DeleteParameters, GetParameters). */
const MAX_NAMES = 10;

/** A younger part may belong to a value that is just being written. */
const YOUNG_PART_MS = 600_000;

/** How often a value is read again whose parts were exchanged while it was read. */
const READ_ATTEMPTS = 3;

/** The values of one stage alone, by name. */
export async function readStage(store: VariableStore, stage: string): Promise<VariableValues> {
  for (let attempt = 1; ; attempt++) {
    const result = await readOnce(store, stage, true);
    if (result.incomplete === undefined) return result.values;
    if (attempt < READ_ATTEMPTS) continue;
    throw new PlatformError(
      "variables/incomplete",
      `the variable ${result.incomplete} of ${stage} cannot be read: parts of it are missing`,
      `set it again: tool env add ${result.incomplete} - -s ${stage}`,
    );
  }
}

/** A stage's values with those of `all` below them. */
export async function readEffective(store: VariableStore, stage: string): Promise<VariableValues> {
  const [all, own] = await Promise.all([
    isMergedWithAll(stage) ? readStage(store, ALL_STAGES) : {},
    readStage(store, stage),
  ]);
  return { ...all, ...own };
}

/** The value of one variable of a stage, or else of `all`; undefined if neither has it. */
export async function readOne(store: VariableStore, stage: string, name: string): Promise<StageValue | undefined> {
  const stages = isMergedWithAll(stage) ? [stage, ALL_STAGES] : [stage];
  const paths = stages.map((one) => `${parameterPrefix(store.app)}${one}/${name}`);
  const { ssm, signal } = store;
  const { Parameters = [] } = await ssm.getParameters({ Names: paths, WithDecryption: true }, { abortSignal: signal });
  const path = paths.find((one) => Parameters.some(({ Name }) => Name === one));
  if (path === undefined) {
    // A parameter that is just made again is in its parts alone.
    for (const from of stages) {
      const value = (await readStage(store, from))[name];
      if (value !== undefined) return { stage: from, value };
    }
    return undefined;
  }
  const from = path.split("/").at(-2)!;
  const decoded = decodeHead(Parameters.find(({ Name }) => Name === path)?.Value ?? "");
  // In several parameters, or in a form that the other reader says what is wrong with.
  const value = decoded?.kind === "value" ? decoded.value : (await readStage(store, from))[name];
  return value === undefined ? undefined : { stage: from, value };
}

/** Encrypted values are left out unless they are asked for, and so are those that cannot be read without them. */
async function readOnce(store: VariableStore, stage: string, withSecrets: boolean) {
  const prefix = `${parameterPrefix(store.app)}${stage}/`;
  const heads = new Map<string, string>();
  const parts = new Map<string, string>();
  for (const { Name = "", Value = "", Type } of await allBelow(store, prefix, withSecrets)) {
    if (Type === "SecureString" && !withSecrets) continue;
    const path = Name.slice(prefix.length);
    (path.includes("/") ? parts : heads).set(path, Value);
  }
  for (const path of parts.keys()) {
    const [, name = "", id = ""] = /^([^/]+)\/(pending\.\d+)\/1$/.exec(path) ?? [];
    // Its parameter is just made again, with another type.
    if (name !== "" && !heads.has(name)) heads.set(name, partsHead(id, Number(id.split(".")[1])));
  }
  // Without a prototype: a parameter may be called anything.
  const values: Record<string, string> = Object.create(null);
  let incomplete: string | undefined;
  for (const [name, head] of [...heads].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const decoded = decodeHead(head);
    if (withSecrets) refuseUnknown({ stage, name, isReadable: decoded !== undefined });
    if (decoded === undefined) continue;
    if (decoded.kind === "value") values[name] = decoded.value;
    else {
      const own = Array.from({ length: decoded.count }, (_, i) => parts.get(`${name}/${partName(decoded.id, i + 1)}`));
      if (own.every((part) => part !== undefined)) values[name] = decodeParts(own);
      else incomplete = name;
    }
  }
  return { values, incomplete };
}

/** Throws if another program, or another version of the tool, wrote what no app can have. */
function refuseUnknown({ stage, name, isReadable }: { stage: string; name: string; isReadable: boolean }): void {
  const where = stage === ALL_STAGES ? "for all stages" : `for ${stage}`;
  const problem = variableNameProblem(name);
  if (problem !== undefined) {
    throw new PlatformError(
      "variables/name",
      `there is a variable ${where} that no app can have: ${problem.message}`,
      `tool env rm ${name} -s ${stage} removes it`,
    );
  }
  if (!isReadable) {
    throw new PlatformError(
      "variables/unreadable",
      `the variable ${name} ${where} cannot be read: it is damaged, or a newer version of tool wrote it`,
      `upgrade tool, or set it again: tool env add ${name} - -s ${stage}`,
    );
  }
}

/** The pages of a listing. The store may answer an empty page, but never the same one again. */
async function pagesOf<T>(
  page: (
    token: string | undefined,
  ) => Promise<{ readonly items: readonly T[] | undefined; readonly next: string | undefined }>,
): Promise<T[]> {
  const all: T[] = [];
  const seen = new Set<string>();
  for (let token: string | undefined; ; ) {
    const { items, next } = await page(token);
    all.push(...(items ?? []).filter((item) => item !== null));
    if (!next) return all;
    if (seen.has(next) || seen.size >= MAX_PAGES) {
      throw new PlatformError("variables/endless", "the parameter store's list has no end", "check TOOL_AWS_ENDPOINT");
    }
    seen.add(next);
    token = next;
  }
}

/** "10,000 standard parameters" in an account and region, at least one for each page. */
const MAX_PAGES = 10_000;

/** All parameters below a path, which ends with a slash. */
export function allBelow(
  { ssm, signal }: Pick<VariableStore, "ssm" | "signal">,
  prefix: string,
  WithDecryption: boolean,
): Promise<Parameter[]> {
  const Path = prefix.replace(/\/$/, "");
  return pagesOf(async (NextToken) => {
    const page = await ssm.getParametersByPath(
      { Path, Recursive: true, WithDecryption, ...(NextToken && { NextToken }) },
      { abortSignal: signal },
    );
    return { items: page.Parameters, next: page.NextToken };
  });
}

/** The store's metadata of the parameters below a path, without their values. */
function describeBelow({ ssm, signal }: VariableStore, prefix: string): Promise<ParameterMetadata[]> {
  const ParameterFilters = [{ Key: "Path", Option: "Recursive", Values: [prefix.replace(/\/$/, "")] }];
  return pagesOf(async (NextToken) => {
    const page = await ssm.describeParameters(
      { ParameterFilters, MaxResults: 50, ...(NextToken && { NextToken }) },
      { abortSignal: signal },
    );
    return { items: page.Parameters, next: page.NextToken };
  });
}

/** All variables of the app without their values. */
export async function describeVariables(store: VariableStore) {
  const prefix = parameterPrefix(store.app);
  return (await describeBelow(store, prefix)).flatMap((one) => {
    const [stage = "", name, ...more] = (one.Name ?? "").slice(prefix.length).split("/");
    // Snapshots and tokens for the log service are no stage's.
    return name === undefined || more.length > 0 || stage.startsWith(".") ? [] : [{ ...one, stage, name }];
  });
}

/** All variables of the app. Only those in plain text are read. */
export async function listVariables(store: VariableStore): Promise<StoredVariable[]> {
  const described = await describeVariables(store);
  const plain = new Set(described.flatMap(({ Type, stage }) => (Type === "SecureString" ? [] : [stage])));
  const values = new Map(
    await Promise.all([...plain].map(async (stage) => [stage, (await readOnce(store, stage, false)).values] as const)),
  );
  return described
    .map(({ stage, name, Type, Description, LastModifiedDate, LastModifiedUser }) => ({
      stage,
      name,
      isEncrypted: Type === "SecureString",
      value: Type === "SecureString" ? undefined : (values.get(stage)?.[name] ?? "(unreadable)"),
      description: Description || undefined,
      changedAt: (LastModifiedDate ?? new Date(0)).toISOString(),
      changedBy: userOf(LastModifiedUser),
    }))
    .sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

/** By stage, all stages first, then by name. */
const orderOf = ({ stage, name }: { stage: string; name: string }) =>
  `${stage === ALL_STAGES ? "" : stage}\u0000${name}`;

/** `ann` of `arn:aws:iam::123456789012:user/ann`, `deployer/ann` of an assumed role. */
function userOf(arn: string | undefined): string | undefined {
  if (arn === undefined || arn === "") return undefined;
  const [, , , , , resource = ""] = arn.split(":");
  return resource.replace(/^(?:user|assumed-role|federated-user)\//, "") || arn;
}

/** Writes one variable after another. What is written stays when a later one fails. */
export async function setVariables(
  store: VariableStore,
  { stage, values, isEncrypted, description, onSet }: SetRequest,
): Promise<SetResult> {
  const prefix = `${parameterPrefix(store.app)}${stage}/`;
  const existing = new Map((await describeBelow(store, prefix)).map((one) => [one.Name!.slice(prefix.length), one]));
  const added: string[] = [];
  const changed: string[] = [];
  const recoded: string[] = [];
  for (const [name, value] of Object.entries(values)) {
    const before = existing.get(name);
    const path = `${prefix}${name}`;
    await setOne(store, { path, value, isEncrypted, before, description });
    if ([...existing.keys()].some((one) => one.startsWith(`${name}/`))) await removeOldParts(store, path);
    (before === undefined ? added : changed).push(name);
    if (before !== undefined && (before.Type === "SecureString") !== isEncrypted) recoded.push(name);
    onSet(name);
  }
  return { added, changed, recoded };
}

interface Writing {
  readonly path: string;
  readonly value: string;
  readonly isEncrypted: boolean;
  readonly before: ParameterMetadata | undefined;
  readonly description: string | undefined;
}

/** The parts first: the parameter with the variable's name, written last, makes them the value. */
async function setOne(store: VariableStore, { path, value, isEncrypted, before, description }: Writing): Promise<void> {
  const { ssm, app, signal } = store;
  const Type = isEncrypted ? "SecureString" : "String";
  const partsId = randomBytes(6).toString("hex");
  const { head, parts } = encodeValue(value, partsId);
  const put = (Name: string, Value: string, more: { Description?: string; Overwrite?: boolean }) =>
    withoutQuoted(Value, () =>
      ssm.putParameter(
        // Tags are for a new parameter only.
        { Name, Value, Type, ...more, ...(!more.Overwrite && { Tags: [{ Key: TAGS.app, Value: app }] }) },
        { abortSignal: signal },
      ),
    );
  // Their path is new; if an answer is lost, the SDK makes the call again.
  for (const [i, part] of parts.entries()) await put(`${path}/${partName(partsId, i + 1)}`, part, { Overwrite: true });
  const Description = description ?? before?.Description;
  const details = Description ? { Description } : {};
  try {
    await put(path, head, { ...details, ...(before !== undefined && { Overwrite: true }) });
  } catch (error) {
    const { name } = error as Error;
    // Somebody else made it, or the first answer was lost and the SDK made the call again.
    if (name === "ParameterAlreadyExists") await put(path, head, { ...details, Overwrite: true });
    else if (name === "HierarchyTypeMismatchException") {
      // Plain text becomes a secret, or a secret plain text, which takes another parameter. While there is none, readers take
      // the value from these parts; if this command ends before it has made the new one, they still do.
      const pending = slices(Buffer.from(value, "utf8").toString("base64") || EMPTY_PART);
      const paths = pending.map((_, i) => `${path}/${partName(`pending.${pending.length}`, i + 1)}`);
      for (const [i, part] of pending.entries()) await put(paths[i]!, part, { Overwrite: true });
      await removeParameters(store, [path]);
      await put(path, head, { ...details, Overwrite: true });
      await removeParameters(store, paths);
    } else throw error;
  }
}

/**
 * Removes parts that the variable does not name any more. Young ones stay, by the store's own clock: the write of another
 * command may be about to name them. In plain text they go at once if the variable is a secret now.
 */
async function removeOldParts(store: VariableStore, path: string): Promise<void> {
  const { ssm, signal } = store;
  const described = await describeBelow(store, `${path}/`);
  const answer = await ssm.getParameters({ Names: [path], WithDecryption: true }, { abortSignal: signal });
  const [head] = answer.Parameters ?? [];
  const decoded = decodeHead(head?.Value ?? "");
  const named = decoded?.kind === "parts" ? `${path}/${decoded.id}/` : undefined;
  const nowMs = head?.LastModifiedDate?.getTime() ?? 0;
  const old = described.filter(({ Name = "", Type, LastModifiedDate }) => {
    if (named !== undefined && Name.startsWith(named)) return false;
    return (
      Name.startsWith(`${path}/pending.`) ||
      Type !== head?.Type ||
      nowMs - (LastModifiedDate?.getTime() ?? 0) > YOUNG_PART_MS
    );
  });
  await removeParameters(
    store,
    old.map(({ Name }) => Name!),
  );
}

/** Removes variables of a stage, with their parts. */
export async function removeVariables(
  store: VariableStore,
  stage: string,
  names: readonly string[],
): Promise<string[]> {
  const prefix = `${parameterPrefix(store.app)}${stage}/`;
  const existing = (await describeBelow(store, prefix)).map(({ Name }) => Name!.slice(prefix.length));
  const own = existing.filter((path) => names.includes(path));
  const parts = existing.filter((path) => names.some((name) => path.startsWith(`${name}/`)));
  // The parts last: without them the others could not be read.
  await removeParameters(
    store,
    own.map((path) => prefix + path),
  );
  await removeParameters(
    store,
    parts.map((path) => prefix + path),
  );
  return own.sort();
}

/** A parameter that is gone already is no error. */
export async function removeParameters(
  { ssm, signal }: Pick<VariableStore, "ssm" | "signal">,
  names: readonly string[],
): Promise<void> {
  for (let at = 0; at < names.length; at += MAX_NAMES) {
    await ssm.deleteParameters({ Names: names.slice(at, at + MAX_NAMES) }, { abortSignal: signal });
  }
}
