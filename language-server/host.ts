import type { Connection, ResponseError } from "vscode-languageserver";
import type { Clock } from "../grammar/units/clock.ts";
import type { Directory, Profiles } from "../schema/index.ts";
import type { CloudName, CloudQuestion, ToolRun, Traffic, TrafficQuestion } from "./service/index.ts";

/** The services that a Node process, a Node thread and a browser worker each provide in their own way. */
export interface Host {
  /** The connection to the client; it does not listen yet. */
  readonly connection: Connection;
  readonly clock: Clock;
  /** An error answer, as an instance of the protocol library's own class: it accepts no other. */
  responseError(code: number, message: string): ResponseError<void>;
  /** The folder at an address that ends with a slash; undefined if no files can be read there. */
  directoryOf(uri: string): Directory | undefined;
  /** The credentials profiles of the machine; undefined if no files can be read. */
  profiles?(): Profiles;
  /** Resolves after the messages that have arrived so far were read. */
  nextTurn(): Promise<void>;
  /** Absent if no account can be asked. Only called if the user agreed to it by a setting. */
  readonly lookUp?: LookUp | undefined;
  /** Absent if no log service can be asked. Only called for a project that the user trusts. */
  readonly askTraffic?: AskTraffic | undefined;
  /** Runs the program `tool`; undefined as a member if no process can be started, as a result if the user decided against. */
  readonly runTool?: RunTool | undefined;
}

/** Asks the AWS account of a project's credentials; rejects if there are none, or no network. */
export type LookUp = (
  request: { readonly folder: string; readonly question: CloudQuestion },
  signal: AbortSignal,
) => Promise<readonly CloudName[]>;

/**
 * Asks the log service of a project, with a credential of its very origin; rejects if there is none, or no network. An address
 * in a file is no reason to send a credential of another one.
 */
export type AskTraffic = (
  request: { readonly folder: string; readonly question: TrafficQuestion },
  signal: AbortSignal,
) => Promise<Traffic>;

export type RunTool = (run: ToolRun) => Promise<RunResult | undefined>;

/** How a program ended. */
export interface RunResult {
  readonly isDone: boolean;
  /** The text that it wrote to stderr. */
  readonly said: string;
  /** Where it worked, if that is not the cloud, as words after others: " in the sandbox". */
  readonly place: string;
}
