// One team has 12 projects with 120 alerts of a minute, whose expressions take minutes over the texts that it sends; how late
// is an alert of another team meanwhile, and how long does the service take to stop? By the real command.
//
//   SECONDS=240 node dist/test/bench/alerts-hostile.js
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { addToken } from "../../logservice/access/tokens.ts";
import { createDataDirectory } from "../../logservice/admin/create.ts";
import { jitterMs, LATE_MS } from "../../logservice/alerts/slots.ts";
import { addAlert } from "../../logservice/alerts/stored-alerts.ts";
import { addNotification } from "../../logservice/records/notifications.ts";
import { openRecords } from "../../logservice/records/open.ts";
import { addProject } from "../../logservice/records/projects.ts";
import { addTeam } from "../../logservice/records/teams.ts";
import type { NotificationInput } from "../../schema/rpc.generated.ts";
import { listening, spawnTool } from "../support/cli.ts";
import { SCOPES } from "../support/service.ts";

const SECONDS = Number(process.env.SECONDS ?? 240);
const PROJECTS = Number(process.env.PROJECTS ?? 12);
const ALERTS = Number(process.env.ALERTS ?? 120);
const TEXTS = 60;
const TEXT_BYTES = 60 * 1024;
const LOAD_MS = 30_000;
const MINUTE_MS = 60_000;
const MOST_LATE_S = 30;
const MOST_STOP_S = 10;

const directory = mkdtempSync(join(tmpdir(), "bench-hostile-"));
const now = () => new Date().toISOString();
await createDataDirectory(directory, {
  nowMs: Date.now(),
  team: async () => "default",
  owner: undefined,
  publicUrl: undefined,
});
const records = await openRecords(directory);

/** Makes a team with a token. */
async function team(name: string) {
  const id = await records.db.transaction().execute((db) => addTeam(db, { name }, now()));
  return { id, token: (await addToken(records.db, { team: id, scopes: SCOPES }, now())).secret };
}

/** Makes a project with alerts of a minute. */
async function project(team_id: string, name: string, queries: readonly string[]) {
  const { id: project_id } = await addProject(records.db, team_id, { name }, now());
  const target: NotificationInput = { project_id, type: "email", name: "n", email_addresses: ["a@b.example"] };
  const notification_id = await addNotification(records, team_id, target, now());
  const about = { project_id, notification_id, severity: "error", operator: ">", interval: 1 } as const;
  const alerts: string[] = [];
  for (const query of queries)
    alerts.push((await addAlert(records.db, team_id, { ...about, name: "a", query }, now())).id);
  return { project_id, alerts };
}

const crowd = await team("crowd");
const quiet = await team("quiet");
// Each asks something else, so that none shares the reading of another.
const hostile = (n: number) => `message ~ /a[ab]{18}x0c/ or message ~ /b[ab]{17}y0c/ or "no${n}"`;
const crowded: string[] = [];
for (let p = 0; p < PROJECTS; p++) {
  const queries = Array.from({ length: ALERTS / PROJECTS }, (_, n) => hostile(n));
  crowded.push((await project(crowd.id, `p${p}`, queries)).project_id);
}
const { project_id, alerts } = await project(quiet.id, "quiet", ["error"]);
const [alert_id] = alerts as [string];
await records.close();

const running = spawnTool(["service", "start", "--data", directory, "--address", "127.0.0.1:0"]);
const url = await listening(running);

async function call(token: string, operation: string, body: unknown) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(`${url}/${operation}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${operation}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? {} : await answer.json();
}

const text = () => `x0cy0c${Array.from({ length: TEXT_BYTES - 6 }, () => (Math.random() < 0.5 ? "a" : "b")).join("")}`;
const texts = Array.from({ length: TEXTS }, text);
const beganMs = Date.now();
const refused: string[] = [];

async function send(): Promise<void> {
  while (Date.now() - beganMs < SECONDS * 1000) {
    const nextMs = Date.now() + LOAD_MS;
    const events = texts.map((message) => ({ timestamp: now(), level: "info", message }));
    for (const one of crowded) {
      await call(crowd.token, "add_events", { project_id: one, events }).catch((error) => refused.push(String(error)));
    }
    await sleep(Math.max(0, nextMs - Date.now()));
  }
}

/** By evaluation: how late it was in seconds after it was due. */
const late: number[] = [];
const lags: number[] = [];

async function watch(): Promise<void> {
  let [last, slot] = ["", Math.ceil(beganMs / MINUTE_MS)];
  while (Date.now() - beganMs < SECONDS * 1000) {
    await sleep(500);
    const { alert } = (await call(quiet.token, "get_alert", { project_id, alert_id })) as {
      alert: { evaluated_at: string | null };
    };
    const metrics = await (await fetch(`${url}/metrics`)).text();
    lags.push(Number(/^logservice_alerts_lag_seconds (\S+)$/m.exec(metrics)?.[1]));
    if (alert.evaluated_at === null || alert.evaluated_at === last) continue;
    last = alert.evaluated_at;
    const atMs = Date.parse(last);
    late.push((atMs - ((slot + 1) * MINUTE_MS + LATE_MS + jitterMs(alert_id))) / 1000);
    // Slots that it caught up with are over, too.
    slot = Math.max(slot + 1, Math.floor((atMs - LATE_MS - jitterMs(alert_id)) / MINUTE_MS));
  }
}

await Promise.all([send(), watch()]);
const every = new Map<number, number>();
for (const one of crowded) {
  const answer = (await call(crowd.token, "get_alerts", { project_id: one })) as {
    alerts: { evaluated_every: number }[];
  };
  for (const { evaluated_every: minutes } of answer.alerts) every.set(minutes, (every.get(minutes) ?? 0) + 1);
}
const stopMs = Date.now();
running.kill("SIGTERM");
const ended = await running.ended;
const stopS = (Date.now() - stopMs) / 1000;
rmSync(directory, { recursive: true, force: true, maxRetries: 5 });

const worst = Math.max(...late);
const s = (seconds: number) => `${seconds.toFixed(1)} s`;
console.log(
  `${ALERTS} alerts in ${PROJECTS} projects for ${SECONDS} s; refused batches: ${refused.length} ${refused[0] ?? ""}`,
);
console.log(
  `the other team's alert: ${late.length} evaluations, late by ${late.map(s).join(", ")} (goal ${MOST_LATE_S} s)`,
);
console.log(`alerts_lag_seconds at most ${s(Math.max(...lags))}`);
console.log(`minutes between evaluations at the end: ${[...every].map(([m, n]) => `${m}: ${n} alerts`).join(", ")}`);
console.log(`stopped after ${s(stopS)} (goal ${MOST_STOP_S} s), exit status ${ended.code}`);
if (ended.stderr !== "") console.log(ended.stderr.split("\n").slice(-5).join("\n"));
process.exitCode = late.length > 0 && worst <= MOST_LATE_S && stopS <= MOST_STOP_S ? 0 : 1;
