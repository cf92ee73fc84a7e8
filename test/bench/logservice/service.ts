// The service as people run it: `tool service init` and `start` over a data directory, asked over HTTP on loopback.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { join } from "node:path";
import type { Operations } from "../../../schema/rpc.generated.ts";
import { listening, type Running, spawnTool, tool } from "../../support/cli.ts";
import { PROJECT } from "./bodies.ts";
import { MemoryWatch } from "./processes.ts";

export interface BenchService {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly memory: MemoryWatch;
  /**
   * One request on a connection that stays open; `ms` until the last byte of the answer came. Throws where it is refused.
   */
  ask<Name extends keyof Operations>(
    operation: Name,
    input: Operations[Name]["input"],
  ): Promise<{ readonly ms: number; readonly output: Operations[Name]["output"] }>;
  /** The numbers of /metrics that have no labels, without their prefix. */
  metrics(): Promise<Readonly<Record<string, number>>>;
  stop(): Promise<void>;
}

/** Starts it, on a data directory that is made where it is missing. It ends with this process, whatever ends that. */
export async function startService(folder: string): Promise<BenchService> {
  const tokenPath = join(folder, "token");
  const isNew = !existsSync(tokenPath);
  if (isNew) {
    const { code, stdout, stderr } = await tool(["service", "init", "--data", "data", "--format", "json"], {
      cwd: folder,
    });
    if (code !== 0) throw new Error(stderr);
    writeFileSync(tokenPath, JSON.parse(stdout).token, { mode: 0o600 });
  }
  const token = readFileSync(tokenPath, "utf8");
  const running: Running = spawnTool(["service", "start", "--data", "data", "--address", "127.0.0.1:0"], {
    cwd: folder,
  });
  const url = await listening(running);
  const agent = new Agent({ keepAlive: true });
  const memory = new MemoryWatch(running.pid);

  const ask: BenchService["ask"] = async (operation, input) => {
    const body = JSON.stringify(input);
    const began = performance.now();
    const { status, text } = await send(agent, `${url}/${operation}`, token, body);
    const ms = performance.now() - began;
    if (status !== 200 && status !== 204) throw new Error(`${operation} ${body} answered ${status}: ${text}`);
    return { ms, output: text === "" ? undefined : JSON.parse(text) };
  };
  if (isNew) await ask("add_project", { project: { name: PROJECT } });
  return {
    url,
    token,
    pid: running.pid,
    memory,
    ask,
    async metrics() {
      const { text } = await send(agent, `${url}/metrics`, token);
      const rows = [...text.matchAll(/^logservice_(\w+) ([\d.e+]+)$/gm)];
      return Object.fromEntries(rows.map(([, name, value]) => [name!, Number(value)]));
    },
    async stop() {
      agent.destroy();
      memory.stop();
      running.kill("SIGTERM");
      await running.ended;
    },
  };
}

function send(
  agent: Agent,
  url: string,
  token: string,
  body?: string,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
    };
    const request = httpRequest(url, { agent, method: body === undefined ? "GET" : "POST", headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.once("error", reject);
      response.once("end", () => resolve({ status: response.statusCode!, text: Buffer.concat(chunks).toString() }));
    });
    request.once("error", reject);
    request.end(body);
  });
}
