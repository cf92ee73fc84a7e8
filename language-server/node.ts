// The server in a process of Node (over stdio, or the IPC channel of its parent) or in a thread of one (over a port).
import { setFlagsFromString } from "node:v8";
import { isMainThread, type MessagePort } from "node:worker_threads";
import {
  type Connection,
  createConnection,
  PortMessageReader,
  PortMessageWriter,
  ProposedFeatures,
  ResponseError,
} from "vscode-languageserver/node";
import { systemClock } from "../grammar/units/clock.ts";
import type { AskTraffic, LookUp, RunTool } from "./host.ts";
import { directoryOf } from "./node-directory.ts";
import { onLostFraming } from "./node-framing.ts";
import { machineProfiles } from "./node-profiles.ts";
import { type LanguageServerOptions, startServer } from "./server.ts";

export interface NodeOptions extends LanguageServerOptions {
  /** Messages of the parent process instead of stdin and stdout. */
  readonly ipc?: boolean;
  /** Messages of a port instead, for a server that is a thread of its client; the process ends with the thread then. */
  readonly port?: MessagePort;
  /** Runs the program `tool`; without it, what needs that is not offered. */
  readonly runTool?: RunTool;
  /** Asks the AWS account of a project's credentials, if the user has agreed to it. */
  readonly lookUp?: LookUp;
  /** Asks the log service of a project. */
  readonly askTraffic?: AskTraffic;
}

/**
 * How much garbage may pile up, in percent of the heap in use. By default V8 lets several times as much pile up, in a
 * process that runs next to an editor all day. The limit costs a third more processor time for a long file, none for others.
 */
const HEAP_GROWTH_PERCENT = 60;

/** Serves until the client says exit, goes away, or closes the stream; then the process ends. Never returns. */
export function serve(options: NodeOptions): Promise<never> {
  // Flags are for all threads: only a process of its own sets them.
  if (isMainThread) setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  const host = {
    connection: connect(options),
    responseError: (code: number, message: string) => new ResponseError<void>(code, message),
    clock: systemClock,
    directoryOf,
    profiles: () => machineProfiles(process.env),
    nextTurn: () => new Promise<void>((resolve) => setImmediate(resolve)),
    runTool: options.runTool,
    lookUp: options.lookUp,
    askTraffic: options.askTraffic,
  };
  startServer(host, options);
  return new Promise(() => {});
}

/** Characters of a wrong header that are quoted. */
const MAX_SAID = 100;

function connect({ ipc = false, port }: NodeOptions): Connection {
  const features = ProposedFeatures.all;
  if (port !== undefined) {
    port.once("close", () => process.exit());
    return createConnection(features, new PortMessageReader(port), new PortMessageWriter(port));
  }
  if (ipc) return createConnection(features);
  onLostFraming(process.stdin, (header) => {
    const said = JSON.stringify(header.slice(0, MAX_SAID));
    process.stderr.write(`error: a message of the editor has no Content-Length: ${said}\n`);
    process.stderr.write("  restart the language server; should it end again, look at what starts it\n");
    process.exit(1);
  });
  return createConnection(features, process.stdin, process.stdout);
}
