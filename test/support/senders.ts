// The loggers and agents that the page "Send events" has recipes for, as programs around the text that people paste.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SendWay } from "../../logservice/ui/start/send-way.ts";
import { waysToSend } from "../../logservice/ui/start/ways-to-send.ts";
import type { Event } from "../../schema/rpc.generated.ts";
import { startTestService } from "./service.ts";

interface Test {
  teardown(handler: () => unknown): void;
}

export interface SenderWorld {
  readonly folder: string;
  /** The text of a way to send. */
  recipe(name: SendWay["name"]): string;
  /** Writes files and runs a command among them; fails with what it says unless it ends well. */
  run(files: Readonly<Record<string, string>>, command: readonly string[]): Promise<string>;
  /** Sends a body to /ingest of a project of its own, whose id it returns. */
  send(headers: Readonly<Record<string, string>>, body: string | Buffer): Promise<string>;
  /** The events of a project, the oldest first; of the one in the recipes unless told otherwise. */
  events(project?: string): Promise<readonly Event[]>;
}

export async function senderWorld(t: Test & Parameters<typeof startTestService>[0]): Promise<SenderWorld> {
  const folder = mkdtempSync(join(tmpdir(), "tool-senders-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const service = await startTestService(t);
  await service.call("add_project", { project: { id: "shop", name: "shop" } });
  let projects = 0;
  const place = { origin: service.running.url, projectId: "shop", token: await service.token(["events:write"]) };
  return {
    folder,
    recipe: (name) => waysToSend(place).find((way) => way.name === name)!.text,
    run(files, [program = "", ...args]) {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
      const child = spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
      let output = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => {
          output += text;
        });
      }
      return new Promise((done, fail) => {
        child.once("error", fail);
        child.once("close", (code) => (code === 0 ? done(output) : fail(new Error(`${program} ${code}: ${output}`))));
      });
    },
    async send(headers, body) {
      const id = `p${++projects}`;
      await service.call("add_project", { project: { id, name: id } });
      const authorization = `Bearer ${service.owner}`;
      const sent = await service.send({
        ...{ method: "POST", path: `/ingest/${id}`, body },
        headers: { ...headers, authorization },
      });
      if (sent.status !== 200) throw new Error(sent.text);
      return id;
    },
    async events(project_id = "shop") {
      const range = { start: "2026-01-01T00:00:00Z", stop: "2036-01-01T00:00:00Z", order: "ascending" };
      const { json } = await service.call("search", { project_id, query: "", ...range, limit: 1000 });
      return json.events;
    },
  };
}
