import type { Watched } from "./progress.ts";

/** The token by which a stage's versions send entries to a log service. Nothing that prints or logs may get one. */
export interface LogToken {
  /** The origin of the service that made it; it is sent to no other. */
  readonly service: string;
  readonly project: string;
  readonly token: string;
  /** Earlier ones, which versions of the stage may still have. */
  readonly retired: readonly { readonly service: string; readonly token: string }[];
}

/** A version that an alias names, and the token that it was deployed with. */
export interface VersionToken {
  readonly version: string;
  readonly token: string;
}

/**
 * The tokens of an app's stages, in the platform's encrypted store beside the variables of `tool env`, none of whose commands
 * sees them. Every method throws a `PlatformError` if a call to the platform fails. `cli/aws/open-log-tokens.ts` implements it.
 */
export interface LogTokens {
  /** Undefined if the stage has none, or none that can be read. */
  read(stage: string, watched: Watched): Promise<LogToken | undefined>;
  write(stage: string, token: LogToken, watched: Watched): Promise<void>;
  /** The tokens of all stages, by stage. */
  all(watched: Watched): Promise<ReadonlyMap<string, LogToken>>;
  /** The versions that aliases name, and that have a token, oldest first. */
  versions(watched: Watched): Promise<readonly VersionToken[]>;
}
