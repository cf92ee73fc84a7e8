// `tool service start` in a process of its own over a data directory: killed and started again at the same address.
import { anyPort } from "../../runtime/port.ts";
import { listening, type Running, spawnTool } from "./cli.ts";

export interface ServiceProcess {
  readonly url: string;
  /** Returns the text that all of its processes wrote to stderr. */
  said(): string;
  /** Starts it, and waits until it listens. */
  start(): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
  /** kill -9, and a new start. */
  crash(): Promise<void>;
}

export interface ServiceProcessOptions {
  readonly data: string;
  /** Address of the mail server. */
  readonly smtp: string;
  /** More flags of the command. */
  readonly more?: readonly string[];
}

interface Test {
  teardown(handler: () => unknown): void;
}

/** Its last process ends with the test. */
export async function serviceProcess(
  t: Test,
  { data, smtp, more = [] }: ServiceProcessOptions,
): Promise<ServiceProcess> {
  const address = `127.0.0.1:${await anyPort()}`;
  const url = `http://${address}`;
  let running: Running | undefined;
  let before = "";
  const kill = async () => {
    if (running === undefined) return;
    running.kill("SIGKILL");
    before += (await running.ended).stderr;
    running = undefined;
  };
  const start = async () => {
    const flags = ["--data", data, "--address", address, "--public-url", url, ...more];
    running = spawnTool(["service", "start", ...flags], { env: { TOOL_SMTP_URL: smtp } });
    await listening(running);
  };
  t.teardown(kill);
  return {
    url,
    said: () => before + (running?.stderr() ?? ""),
    start,
    kill,
    async crash() {
      await kill();
      await start();
    },
  };
}
