// A small raw client of the language server: the real command over stdio, messages written and read by hand.
import { type ChildProcess, spawn } from "node:child_process";
import { cleanEnv, cliPath } from "./cli.ts";
import { within } from "./until.ts";

export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface LspClient {
  readonly child: ChildProcess;
  /** Everything that the server sent, in order. */
  readonly received: readonly Message[];
  stderr(): string;
  /** Returns the text on stdout that is not a message; the protocol allows none. */
  noise(): string;
  /** Sends a request and waits for its answer. */
  request(method: string, params?: unknown): Promise<Message>;
  /** Sends a request without waiting; the id cancels it. */
  send(method: string, params?: unknown): { readonly id: number; readonly answer: Promise<Message> };
  notify(method: string, params?: unknown): void;
  /** Any bytes. */
  raw(text: string): void;
  /** Waits for a message that the server sends by itself. */
  receive(method: string, accepts?: (params: never) => boolean): Promise<Message>;
  initialize(params?: object): Promise<Message>;
  open(uri: string, text: string, languageId?: string): void;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  stop(): Promise<number | null>;
}

/**
 * Starts a server, ours unless another command of Node is given; `more` is what a client appends to it, `answers` what it
 * says to requests, by method. Answers are many megabytes in a long run: `keepsAnswers`.
 */
export function startLsp({
  argv = [cliPath, "lsp", "--stdio"],
  more = [],
  answers = {},
  keepsAnswers = true,
  env = {},
}: {
  argv?: readonly string[];
  more?: readonly string[];
  answers?: Readonly<Record<string, unknown>>;
  keepsAnswers?: boolean;
  env?: Readonly<Record<string, string>>;
} = {}): LspClient {
  const child = spawn(process.execPath, [...argv, ...more], { env: cleanEnv(env), stdio: "pipe" });
  const received: Message[] = [];
  const waiting = new Map<number, (message: Message) => void>();
  const listeners = new Set<(message: Message) => void>();
  let stderr = "";
  let noise = "";
  let buffer = Buffer.alloc(0);
  let nextId = 1;

  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => {});
  child.stdout.on("data", (chunk: Buffer) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const end = buffer.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = /^Content-Length: (\d+)/i.exec(buffer.toString("latin1", 0, end))?.[1];
      if (length === undefined) {
        noise += buffer.toString("utf8", 0, end);
        buffer = buffer.subarray(end + 4);
        continue;
      }
      if (buffer.length < end + 4 + Number(length)) return;
      const message: Message = JSON.parse(buffer.toString("utf8", end + 4, end + 4 + Number(length)));
      buffer = buffer.subarray(end + 4 + Number(length));
      if (keepsAnswers || message.method !== undefined) received.push(message);
      // Requests of the server, such as registering watchers, get an empty answer where none is given.
      if (message.method !== undefined && message.id !== undefined) {
        write({ id: message.id, result: answers[message.method] ?? null });
      } else if (typeof message.id === "number") {
        waiting.get(message.id)?.(message);
        waiting.delete(message.id);
      }
      for (const listener of listeners) listener(message);
    }
  });
  const ended = new Promise<number | null>((done) => child.once("close", (code) => done(code)));

  function write(message: object) {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  const client: LspClient = {
    child,
    received,
    stderr: () => stderr,
    noise: () => noise,
    send(method, params) {
      const id = nextId++;
      const answer = new Promise<Message>((done) => waiting.set(id, done));
      write({ id, method, ...(params !== undefined && { params }) });
      return { id, answer: within(`the answer to ${method}`, answer, () => stderr) };
    },
    request: (method, params) => client.send(method, params).answer,
    notify: (method, params) => write({ method, ...(params !== undefined && { params }) }),
    raw: (text) => void child.stdin.write(text),
    receive(method, accepts = () => true) {
      const fits = (message: Message) => message.method === method && accepts(message.params as never);
      const match = received.find(fits);
      if (match !== undefined) return Promise.resolve(match);
      const promise = new Promise<Message>((done) => {
        const listener = (message: Message) => {
          if (!fits(message)) return;
          listeners.delete(listener);
          done(message);
        };
        listeners.add(listener);
      });
      return within(method, promise, () => stderr);
    },
    async initialize(params = {}) {
      const answer = await client.request("initialize", {
        processId: process.pid,
        rootUri: null,
        capabilities: {},
        ...params,
      });
      client.notify("initialized", {});
      return answer;
    },
    open: (uri, text, languageId = "json") =>
      client.notify("textDocument/didOpen", { textDocument: { uri, languageId, version: 1, text } }),
    ended,
    async stop() {
      await client.request("shutdown");
      client.notify("exit");
      return ended;
    },
  };
  return client;
}
