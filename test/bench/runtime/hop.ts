// The cost of the proxy between a client and an app, compared with http-proxy and nginx. Needs wrk, taskset and nginx.
import { execFileSync, spawnSync } from "node:child_process";
import { median, spread } from "../query/statistics.ts";
import { LOAD_CPU, PROXY_CPU, type Rival, startNginx, startScript } from "./servers.ts";

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const SECONDS = 3;
const CONNECTIONS = 16;
const NGINX_PORT = 9480;

interface Measured {
  readonly perSecond: number[];
  /** Microseconds of the proxy's processor time for a request. */
  readonly cpuUs: number[];
}

export function canBenchHop(): boolean {
  return ["wrk", "taskset", "nginx"].every((program) => spawnSync("which", [program]).status === 0);
}

export async function benchHop(): Promise<void> {
  const app = await startScript("app", "subject.js", ["app"], LOAD_CPU);
  const script = (kind: string) => startScript(kind, "subject.js", [kind, String(app.port)], PROXY_CPU);
  const rivals = [
    app,
    await script("bare"),
    await script("stock"),
    await script("ours"),
    await script("full"),
    await startNginx(NGINX_PORT, app.port, "/nowhere"),
  ];
  try {
    const small = measure(rivals, "/items/7?page=2");
    const large = measure(rivals, "/large");
    const cpu = (name: string, of = small) => median(of.get(name)!.cpuUs);
    const rate = (name: string) => median(small.get(name)!.perSecond);
    const ratio = (value: number, digits = 2) => `${value.toFixed(digits)}x`;
    for (const [title, of] of Object.entries({ "650 bytes": small, "5 MB": large })) {
      console.log(`${title}, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s in turns`);
      for (const [name, { perSecond, cpuUs }] of of) {
        console.log(
          `  ${name.padEnd(6)} ${median(perSecond).toFixed(0).padStart(6)} requests/s ${spread(perSecond)}, ` +
            `${median(cpuUs).toPrecision(3).padStart(6)} us of processor time each ${spread(cpuUs)}`,
        );
      }
    }
    console.log(`bare hop, processor time: bare http-proxy takes ${ratio(cpu("bare") / cpu("ours"))} of ours`);
    console.log(`the same in our pipeline: http-proxy takes ${ratio(cpu("stock") / cpu("ours"))} of our hop`);
    console.log(`full pipeline, requests/s: ${ratio(rate("full") / rate("bare"))} of bare http-proxy`);
    console.log(`hop, requests/s: ${ratio(rate("ours") / rate("app"))} of the app asked directly`);
    console.log(`hop, processor time: ${ratio(cpu("ours") / cpu("nginx"))} of nginx`);
    console.log(`5 MB bodies, processor time: ${ratio(cpu("ours", large) / cpu("bare", large))} of bare http-proxy`);
  } finally {
    for (const rival of rivals) await rival.end();
  }
}

/** One round too many, the first: compilers warm and connections are made. */
function measure(rivals: readonly Rival[], path: string): Map<string, Measured> {
  const measured = new Map(rivals.map(({ name }) => [name, { perSecond: [] as number[], cpuUs: [] as number[] }]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const rival of rivals) {
      const beforeMs = rival.cpuMs();
      const requests = load(rival.port, path);
      const cpuMs = rival.cpuMs() - beforeMs;
      if (round === 0) continue;
      measured.get(rival.name)!.perSecond.push(requests / SECONDS);
      measured.get(rival.name)!.cpuUs.push((cpuMs * 1000) / requests);
    }
  }
  return measured;
}

function load(port: number, path: string): number {
  const words = [
    "-c",
    LOAD_CPU,
    "wrk",
    "-t1",
    `-c${CONNECTIONS}`,
    `-d${SECONDS}s`,
    "--timeout=10s",
    `http://127.0.0.1:${port}${path}`,
  ];
  const output = execFileSync("taskset", words, { encoding: "utf8" });
  const failed = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)/.exec(output);
  if (failed !== null) throw new Error(`port ${port}: ${failed[0]}`);
  return Number(/(\d+) requests in/.exec(output)![1]);
}
