import type { Config, ResolvedConfig } from "../../schema/index.ts";
import type { Watched } from "./progress.ts";

export interface TargetOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** tool.json, checked, as it is written. */
  readonly config: Config;
  /** The same with all defaults, the region among them. Stages' overrides are not applied in either. */
  readonly resolved: ResolvedConfig;
}

/** One app in one region of one account. Every method throws a `PlatformError` where the outside world failed. */
export interface Target {
  readonly region: string;
  /**
   * Fails early, before anything is built: where credentials do not work, or the stage may not be deployed. The answer is
   * what `deploy` goes on from.
   */
  look(stage: string, options: Watched): Promise<StageBefore>;
  /**
   * Has at hand what the platform runs the artifact with, before anything is built: the runtime of some languages is made
   * on this machine, once.
   */
  prepare(request: Pick<ArtifactFile, "needsLayer">, options: Watched): Promise<void>;
  /** Puts an artifact in force as the stage, making what is missing. An artifact that is in force already stays. */
  deploy(request: DeployRequest, options: Watched): Promise<DeployResult>;
  /** Puts an earlier deployment of the stage in force: the one before, or the one that a commit or version names. */
  rollback(request: RollbackRequest, options: Watched): Promise<RollbackResult>;
  /** All deployments that are kept, newest first. */
  deploys(options: Watched): Promise<readonly Deployment[]>;
  /** Removes the oldest deployments of a stage beyond `retain`; never the current one or the one before. */
  prune(request: { readonly stage: string; readonly retain: number }, options: Watched): Promise<PruneResult>;
  /** Where the stage answers; undefined where it was never deployed. */
  url(stage: string, options: Watched): Promise<string | undefined>;
}

/** What a stage was before a deploy; of the target's own making. */
export interface StageBefore {
  readonly stage: string;
}

export interface DeployRequest {
  readonly before: StageBefore;
  readonly artifact: ArtifactFile;
  readonly commit: Commit | undefined;
}

/** What is uploaded, and what the platform has to know about it. */
export interface ArtifactFile {
  /** The bytes, or the path of a file that holds them. */
  readonly zip: Uint8Array | string;
  readonly sha256Base64: string;
  readonly bytes: number;
  readonly runtime: string;
  /** The executable that the platform runs in place of its own runtime. */
  readonly wrapper: string;
  /** Whether that lies in a layer. */
  readonly needsLayer: boolean;
}

/** What Git says about the project's folder. */
export interface Commit {
  /** The tag of the commit, else its abbreviated SHA; `-dirty` behind it where files differ. */
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
  /** `unchanged`: this very deployment was in force, nothing was uploaded. */
  readonly outcome: "created" | "updated" | "unchanged";
  /** The one that it took the place of. */
  readonly previousVersion: string | undefined;
  readonly uploadedBytes: number;
  /** What the user should know or do besides. */
  readonly remarks: readonly string[];
}

export interface RollbackRequest {
  readonly stage: string;
  /** A commit, a tag or a version; undefined for the one before. */
  readonly to: string | undefined;
}

export interface RollbackResult {
  readonly stage: string;
  readonly version: string;
  readonly commit: string | undefined;
  readonly previousVersion: string;
  /** `unchanged`: it was in force already. */
  readonly outcome: "rolled-back" | "unchanged";
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
  readonly state: "current" | "previous" | "kept";
}

export interface PruneResult {
  readonly stage: string;
  readonly removed: readonly string[];
  readonly kept: number;
}
