// The servers that are compared, each a process of its own that a bench starts, loads and ends.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { listeningHost } from "../../../runtime/port.ts";

export interface Rival {
  readonly name: string;
  readonly port: number;
  /** Processor time so far of the processes between the client and the app, without the app's, in milliseconds. */
  cpuMs(): number;
  end(): Promise<void>;
}

/** Proxies and files on one processor, the app and the load on the other. */
export const PROXY_CPU = "0";
export const LOAD_CPU = "1";

/** proc(5): clock ticks are hundredths of a second on every Linux that Node runs on. */
const MS_PER_TICK = 10;

/** A script of this folder, with its words. It sends its port when it listens. */
export async function startScript(name: string, script: string, args: readonly string[], cpu: string): Promise<Rival> {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn("taskset", ["-c", cpu, process.execPath, file, ...args], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.once("message", (message) => resolve((message as { port: number }).port));
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code} before it listened`)));
  });
  return { name, port, cpuMs: () => processMs(child.pid!), end: () => ended(child) };
}

/** nginx with one worker in front of an app, its keep-alive connections and a static folder, without logs. */
export async function startNginx(port: number, appPort: number, folder: string): Promise<Rival> {
  const dir = mkdtempSync(join(tmpdir(), "tool-bench-nginx-"));
  const config = join(dir, "nginx.conf");
  writeFileSync(
    config,
    `daemon off; worker_processes 1; pid ${dir}/pid; error_log ${dir}/error.log; user root;
     events { worker_connections 1024; }
     http {
       access_log off; keepalive_requests 1000000; types { text/plain txt; }
       client_body_temp_path ${dir}/b; proxy_temp_path ${dir}/p; fastcgi_temp_path ${dir}/f;
       uwsgi_temp_path ${dir}/u; scgi_temp_path ${dir}/s; client_max_body_size 100m;
       upstream app { server 127.0.0.1:${appPort}; keepalive 64; keepalive_requests 1000000; }
       server {
         listen 127.0.0.1:${port};
         location /files/ { alias ${folder}/; }
         location / { proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection "";
           proxy_set_header X-Forwarded-For $remote_addr; }
       }
     }`,
  );
  const child = spawn("taskset", ["-c", PROXY_CPU, "nginx", "-c", config, "-e", join(dir, "error.log")], {
    stdio: "inherit",
  });
  while ((await listeningHost(port)) === undefined) await new Promise((done) => setTimeout(done, 20));
  return {
    name: "nginx",
    port,
    cpuMs: () => [child.pid!, ...childrenOf(child.pid!)].reduce((sum, pid) => sum + processMs(pid), 0),
    end: async () => {
      await ended(child);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}

function processMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => {
      try {
        const stat = readFileSync(`/proc/${id}/stat`, "latin1");
        return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === pid;
      } catch {
        return false;
      }
    });
}
