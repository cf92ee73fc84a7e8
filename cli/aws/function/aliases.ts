import type { AliasConfiguration, Lambda } from "@aws-sdk/client-lambda";

export interface AliasTarget {
  readonly version: string;
  readonly description: string;
  /** The RevisionId of the alias when it was read. If it has changed since, the update fails. */
  readonly revisionId?: string | undefined;
}

export interface Aliases {
  /** Undefined if there is no such alias, or no such function. */
  get(name: string): Promise<AliasConfiguration | undefined>;
  create(name: string, target: AliasTarget): Promise<AliasConfiguration>;
  update(name: string, target: AliasTarget): Promise<AliasConfiguration>;
  /** Creates or updates the alias; `expected` tells which is tried first. */
  set(name: string, target: AliasTarget, expected: "absent" | "present"): Promise<void>;
  list(): Promise<AliasConfiguration[]>;
  remove(name: string): Promise<void>;
}

/** The aliases of one function. */
export function aliasesOf(lambda: Lambda, functionName: string, signal: AbortSignal): Aliases {
  const options = { abortSignal: signal };
  const create = (name: string, { version, description }: AliasTarget) =>
    lambda.createAlias(
      { FunctionName: functionName, Name: name, FunctionVersion: version, Description: description },
      options,
    );
  const update = (name: string, { version, description, revisionId }: AliasTarget) =>
    lambda.updateAlias(
      {
        FunctionName: functionName,
        Name: name,
        FunctionVersion: version,
        Description: description,
        ...(revisionId !== undefined && { RevisionId: revisionId }),
      },
      options,
    );
  return {
    create,
    update,
    async get(name) {
      try {
        return await lambda.getAlias({ FunctionName: functionName, Name: name }, options);
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    async set(name, target, expected) {
      const isPresent = (error: unknown) => (error as Error).name === "ResourceConflictException";
      try {
        await (expected === "present" ? update(name, target) : create(name, target));
      } catch (error) {
        if (expected === "present" ? !isNotFound(error) : !isPresent(error)) throw error;
        await (expected === "present" ? create(name, target) : update(name, target));
      }
    },
    async list() {
      const aliases: AliasConfiguration[] = [];
      let marker: string | undefined;
      do {
        const page = await lambda.listAliases(
          { FunctionName: functionName, ...(marker !== undefined && { Marker: marker }) },
          options,
        );
        aliases.push(...(page.Aliases ?? []));
        marker = page.NextMarker;
      } while (marker !== undefined);
      return aliases;
    },
    async remove(name) {
      await lambda.deleteAlias({ FunctionName: functionName, Name: name }, options);
    },
  };
}

export function isNotFound(error: unknown): boolean {
  return (error as Error).name === "ResourceNotFoundException";
}

/** Whether the alias was changed since it was read. */
export function isChanged(error: unknown): boolean {
  return (error as Error).name === "PreconditionFailedException";
}
