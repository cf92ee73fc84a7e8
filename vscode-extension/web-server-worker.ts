// The language server as a worker of the browser. It can start no process and reads no file: what needs that is not offered.
import { serve } from "../language-server/browser.ts";
import type { WorkerStart } from "./server-in-worker.ts";

declare const self: { onmessage: (event: { readonly data: WorkerStart }) => void };

// The messages after the first are the client's.
self.onmessage = ({ data: { version } }) => serve({ version });
