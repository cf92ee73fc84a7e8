import type { Config } from "../../schema/index.ts";
import type { Watched } from "./progress.ts";

/** In the place of a stage, for the token by which Firehose sends what all stages log. No stage's name begins with a dot. */
export const ALL_OF_APP = ".app";

/** The token of a stream in the sandbox, which gives the service of `npm start` that of its own. */
export const KEY_IN_SANDBOX = "sandbox";

/** Whether the log of the deployed app gets to the log service by Firehose, and not from the function. */
export const usesFirehose = ({ logs }: Pick<Config, "logs">) =>
  logs?.delivery === "firehose" && logs.service !== undefined;

/** The token by which a stage's versions, or the app's stream, send entries to a log service. Nothing that prints or logs may get one. */
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
  /** The token that a version was deployed with, if any. */
  ofVersion(version: string, watched: Watched): Promise<string | undefined>;
}
