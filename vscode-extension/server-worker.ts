// The language server as a thread of the extension host. It starts no process, so it serves without trust as well.
import { type MessagePort, workerData } from "node:worker_threads";
import { serve } from "../language-server/node.ts";

const { port, version } = workerData as { port: MessagePort; version: string };
void serve({ port, version });
