// The language server as a thread of the extension host. It starts no process, so it serves without trust as well: it asks
// the extension to, by a message of the thread. Those of the protocol can be traced, and the run's input may be secret.
import { MessageChannel, type MessagePort, parentPort, workerData } from "node:worker_threads";
import { serve } from "../language-server/node.ts";
import type {
  AskTraffic,
  LookUp,
  LookUpRequest,
  RunRequest,
  RunResult,
  RunTool,
  TrafficRequest,
} from "./run-for-server.ts";

/** The extension runs `tool lsp --look-up`: the SDK and the credentials are in there, and not in a thread of the editor. */
function askExtension<T>(
  send: (answers: MessagePort) => LookUpRequest | TrafficRequest,
  signal: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const { port1, port2 } = new MessageChannel();
    const end = () => port1.close();
    signal.addEventListener("abort", end, { once: true });
    port1.once("message", (answer: T | undefined) => {
      signal.removeEventListener("abort", end);
      end();
      if (answer === undefined) reject(new Error("nothing was looked up"));
      else resolve(answer);
    });
    parentPort!.postMessage(send(port2), [port2]);
  });
}

const lookUp: LookUp = (lookUp, signal) => askExtension((answers) => ({ lookUp, answers }), signal);
const askTraffic: AskTraffic = (traffic, signal) => askExtension((answers) => ({ traffic, answers }), signal);

const { port, version } = workerData as { port: MessagePort; version: string };

const runTool: RunTool = (run) =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.once("message", (result: RunResult | undefined) => {
      port1.close();
      resolve(result);
    });
    parentPort!.postMessage({ run, answers: port2 } satisfies RunRequest, [port2]);
  });

void serve({ port, version, runTool, lookUp, askTraffic });
