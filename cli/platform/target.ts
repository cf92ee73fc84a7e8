import type { Clock } from "../../grammar/units/clock.ts";
import type { Config, ResolvedConfig } from "../../schema/index.ts";
import type { Watched } from "./progress.ts";
import type { SandboxAccess } from "./sandbox.ts";
import type { VariableValues } from "./variables.ts";

export interface TargetOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** tool.json as it is written, checked. */
  readonly config: Config;
  /** The same with every default filled in, the region too. The overrides of stages are applied in neither. */
  readonly resolved: ResolvedConfig;
  /** The sandbox to work on, in place of the account. */
  readonly sandbox: SandboxAccess | undefined;
}

/**
 * One app in one region of one account. Every method throws a `PlatformError` if a call to the platform fails.
 * `cli/aws/target.ts` implements it.
 */
export interface DeployTarget {
  readonly region: string;
  /**
   * Checks before anything is built that the credentials work and the stage may be deployed. `deploy` takes the result.
   */
  look(stage: string, options: Watched): Promise<StageBefore>;
  /** The variables of the stage that `tool env` keeps. Throws if they are more than can be deployed. */
  variables(stage: string, options: Watched): Promise<VariableValues>;
  /**
   * Makes sure, before anything is built, that the runtime of the artifact's language is available: some runtimes are
   * built on this machine, once.
   */
  prepare(request: Pick<DeployArtifact, "needsLayer">, options: Watched): Promise<void>;
  /**
   * Deploys an artifact to the stage and creates what is missing. Uploads nothing if it is already active. A version that
   * cannot run is not activated.
   */
  deploy(request: DeployRequest, options: Watched): Promise<DeployResult>;
  /** Activates an earlier deployment of the stage: the previous one, or the one that a commit or version names. */
  rollback(request: RollbackRequest, options: Watched): Promise<RollbackResult>;
  /** All deployments that are kept, newest first. */
  deploys(options: Watched): Promise<readonly Deployment[]>;
  /**
   * Removes the oldest deployments of a stage beyond `retain`; never the current or the previous one. Those that did not
   * start are removed in any case.
   */
  prune(request: { readonly stage: string; readonly retain: number }, options: Watched): Promise<PruneResult>;
  /** The URL of the stage; undefined if it was never deployed. */
  url(stage: string, options: Watched): Promise<string | undefined>;
}

/** A stage as it was before a deploy. Only the target knows what else is in it. */
export interface StageBefore {
  readonly stage: string;
}

export interface DeployRequest {
  readonly before: StageBefore;
  readonly artifact: DeployArtifact;
  readonly commit: Commit | undefined;
  /** The result of `variables`. */
  readonly variables: VariableValues;
  /** Where the version sends its entries besides the platform's log, and by which token; undefined if nowhere. */
  readonly logs?: { readonly url: string; readonly token: string } | undefined;
  /** The token of the app's stream to the log service, asked for if this deploy makes the stack; undefined if there is none. */
  readonly streamKey?: (() => Promise<string | undefined>) | undefined;
  /** Whether a new version is started and asked for `/` before the stage gets it. If it cannot run, `deploy` throws. */
  readonly checks: boolean;
}

/** The archive to upload, and how the platform runs it. */
export interface DeployArtifact {
  /** The bytes, or the path of a file that holds them. */
  readonly zip: Uint8Array | string;
  readonly sha256Base64: string;
  readonly bytes: number;
  readonly runtime: string;
  /** Path of the executable that the platform runs instead of its own runtime. */
  readonly wrapper: string;
  /** Whether that executable is in a layer. */
  readonly needsLayer: boolean;
}

/** The commit of the project's folder, as Git reports it. */
export interface Commit {
  /** The tag of the commit, else its abbreviated SHA; followed by `-dirty` if files differ from it. */
  readonly ref: string;
  readonly sha: string;
  readonly isDirty: boolean;
  readonly author: string | undefined;
}

export interface DeployResult {
  readonly stage: string;
  readonly version: string;
  readonly commit: string | undefined;
  readonly url: string;
  /** `unchanged`: this deployment was already active, so nothing was uploaded. */
  readonly outcome: "created" | "updated" | "unchanged";
  /** The version that it replaced. */
  readonly previousVersion: string | undefined;
  readonly uploadedBytes: number;
  /** Anything else that the user should know or do. */
  readonly remarks: readonly string[];
}

export interface RollbackRequest {
  readonly stage: string;
  /** A commit, a tag or a version; undefined for the previous deployment. */
  readonly to: string | undefined;
}

export interface RollbackResult {
  readonly stage: string;
  readonly version: string;
  readonly commit: string | undefined;
  readonly previousVersion: string;
  /** `unchanged`: it was already active. */
  readonly outcome: "rolled-back" | "unchanged";
  /** Whether the version did not start when it was last deployed. */
  readonly wasFailed: boolean;
  /** Variables whose values differ between the two deployments, by name only. */
  readonly differingVariables: readonly string[];
}

export interface Deployment {
  readonly stage: string;
  readonly version: string;
  readonly commit: string | undefined;
  readonly author: string | undefined;
  /** RFC 3339. */
  readonly date: string;
  /** `failed`: it did not start when it was last deployed, and the stage has another one. */
  readonly state: "current" | "previous" | "kept" | "failed";
}

export interface PruneResult {
  readonly stage: string;
  readonly removed: readonly string[];
  readonly kept: number;
}
