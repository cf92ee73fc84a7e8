import type { Watched } from "./progress.ts";

/** The stage whose variables every stage has, unless it has one of the same name itself. */
export const ALL_STAGES = "all";

/**
 * The stage of the secrets that notifications of the log service name in tool.json. It is no stage that is deployed to: what
 * it has is never merged with that of other stages, and no app, hook or shell gets it.
 */
export const SERVICE_SECRETS = "_service";

/** Whether a stage has what is set for all stages, too. */
export const isMergedWithAll = (stage: string) => stage !== ALL_STAGES && stage !== SERVICE_SECRETS;

/** Names and values. Nothing that prints or logs may get one. */
export type VariableValues = Readonly<Record<string, string>>;

/**
 * The variables that one app keeps in the platform's encrypted store, by stage. Every method throws a `PlatformError` if a
 * call to the platform fails; none of its messages holds a value. `cli/aws/variables` implements it.
 */
export interface AppVariables {
  /** The values of a stage: its own, with those of `all` below them. */
  read(stage: string, watched: Watched): Promise<VariableValues>;
  /** The value of one variable that a stage has, and of which stage it is; undefined if there is none. */
  readOne(stage: string, name: string, watched: Watched): Promise<StageValue | undefined>;
  /** Which variables there are, without their values. */
  names(watched: Watched): Promise<readonly { readonly stage: string; readonly name: string }[]>;
  /** All variables of all stages, sorted by stage and name, `all` first. Reads no secret. */
  list(watched: Watched): Promise<readonly StoredVariable[]>;
  /** Writes variables of a stage one after another; those that exist get the new value. */
  set(request: SetRequest, watched: Watched): Promise<SetResult>;
  /** Removes variables of a stage. Unknown names are ignored. Returns the names that were removed. */
  remove(request: { readonly stage: string; readonly names: readonly string[] }, watched: Watched): Promise<string[]>;
  /** The stages whose deployed version has other variables than a deploy would give it now, sorted. */
  outdatedStages(watched: Watched): Promise<readonly string[]>;
}

export interface StageValue {
  readonly stage: string;
  readonly value: string;
}

export interface StoredVariable {
  readonly stage: string;
  readonly name: string;
  readonly isEncrypted: boolean;
  /** Only of a variable in plain text. */
  readonly value: string | undefined;
  readonly description: string | undefined;
  /** RFC 3339. */
  readonly changedAt: string;
  /** Who changed it last, as the platform names users: `ann`, `deployer/ann` for a role. */
  readonly changedBy: string | undefined;
}

export interface SetRequest {
  readonly stage: string;
  readonly values: VariableValues;
  readonly isEncrypted: boolean;
  /** Undefined keeps the one that a variable has. */
  readonly description: string | undefined;
  /** Called after each one that was written. */
  readonly onSet: (name: string) => void;
}

export interface SetResult {
  /** Names that did not exist in the stage before. */
  readonly added: readonly string[];
  readonly changed: readonly string[];
  /** Those of them that were in plain text and are encrypted now, or the other way. */
  readonly recoded: readonly string[];
}
