// Projects whose rules have hits in the development log, in a log service, and in neither, for editors that show them.
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Test } from "tap";
import type { EventsStore } from "../../logservice/events/store.ts";
import { startTestService } from "./service.ts";
import { signedIn } from "./signed-in.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The projects, in the order in which they are opened: the later two show that the log of the earlier two was looked for, too. */
export const TRAFFIC_PROJECTS = ["neither", "away", "log", "service"] as const;
export type TrafficProject = (typeof TRAFFIC_PROJECTS)[number];

/** Above the line, or at its end: `line text`. Ages grow while the test runs, and a week may begin. */
export const TRAFFIC_LENSES: Readonly<Record<TrafficProject, readonly RegExp[]>> = {
  neither: [/^2 Start$/],
  away: [/^2 Start$/],
  log: [/^2 Start$/, /^5 3 hits in development, last 2 days ago$/],
  service: [
    /^2 Start$/,
    /^5 (4,201 hits this week, 0|0 hits this week, 4,201) last week, last \d+ (min|h) ago$/,
    /^5 3 loops in 30 days$/,
    /^6 No hit in 30 days$/,
  ],
};

/** Lenses of the project `service` where no service may be asked. */
export const UNTRUSTED_LENSES: readonly RegExp[] = [/^2 Start$/, /^5 2 hits in development, last 2 days ago$/];

/** Makes the projects as folders of one, and a service at which a person is signed in by the variables `env`. */
export async function makeTrafficProjects(t: Test, folder: string) {
  const questions: string[] = [];
  const service = await startTestService(t, { around: (events) => noting(events, questions) });
  await service.call("add_project", { project: { id: "shop", name: "shop" } });
  const ofService = [
    response(29.9 * DAY_MS),
    ...Array.from({ length: 4_198 }, () => response(2.5 * MINUTE_MS, { pattern: "/old/*" })),
    ...Array.from({ length: 3 }, () => response(3 * MINUTE_MS, { pattern: "/old/*", loop: true })),
  ];
  const { status, text } = await service.send({
    path: "/ingest/shop",
    headers: { authorization: `Bearer ${service.owner}`, "content-type": "application/x-ndjson" },
    body: ofService.join("\n"),
  });
  t.equal(status, 200, text);

  const { url } = service.running;
  makeProject(join(folder, "neither"));
  // Nobody is signed in there.
  makeProject(join(folder, "away"), { logs: { service: "http://127.0.0.1:9" } });
  const log = ["/old/*", "/old/*", "/old/*"].map((pattern) => response(2.5 * DAY_MS, { pattern }));
  makeProject(join(folder, "log"), { log });
  makeProject(join(folder, "service"), { logs: { service: url, project: "shop" }, log: log.slice(1) });
  return {
    env: await signedIn(t, service),
    /** The questions that the service got since the last call. */
    questions: () => questions.splice(0).sort(),
  };
}

/** The same store, which notes each question that an editor asks. */
function noting(events: EventsStore, questions: string[]): EventsStore {
  return new Proxy(events, {
    get(target, name) {
      const member = Reflect.get(target, name);
      if (name === "aggregate" || name === "discoveredFields") questions.push(name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** In a folder of its name. */
function makeProject(
  folder: string,
  { logs = {}, log }: { readonly logs?: object; readonly log?: readonly string[] } = {},
): void {
  mkdirSync(join(folder, ".tool"), { recursive: true });
  const lines = [
    "{",
    `  "name": ${JSON.stringify(basename(folder))},`,
    `  "logs": ${JSON.stringify(logs)},`,
    '  "redirects": {',
    '    "/old/*": { "location": "/:splat", "status": 301 },',
    '    "/gone": { "location": "/", "status": 301 }',
    "  }",
    "}",
    "",
  ];
  writeFileSync(join(folder, "tool.json"), lines.join("\n"));
  if (log !== undefined) writeFileSync(join(folder, ".tool/development.ndjson"), `${log.join("\n")}\n`);
}

function response(agoMs: number, rule?: { readonly pattern: string; readonly loop?: true }): string {
  return JSON.stringify({
    timestamp: new Date(Date.now() - agoMs).toISOString(),
    level: "info",
    message: "response",
    fields: { stage: "production", version: "7", status: 301, ...(rule && { rule: { kind: "redirect", ...rule } }) },
  });
}
