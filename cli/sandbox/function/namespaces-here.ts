// Whether this machine lets functions have namespaces of their own: tried with a program that looks at what it sees.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "../../../grammar/units/clock.ts";
import { startInNamespaces } from "./function-process.ts";
import { killTree } from "./process-tree.ts";
import { openWatchdog } from "./watchdog.ts";

const refusals = new Map<string, Promise<string | undefined>>();

/** Undefined if functions can have namespaces of their own, or why they cannot. Tries each program once. */
export function refusalOfNamespaces(unshare = "unshare", clock: Clock = systemClock): Promise<string | undefined> {
  const earlier = refusals.get(unshare);
  if (earlier !== undefined) return earlier;
  const refusal = tryNamespaces(unshare, clock);
  refusals.set(unshare, refusal);
  // No file could be made: the next one may.
  refusal.catch(() => refusals.delete(unshare));
  return refusal;
}

const LIMIT_MS = 10_000;

/** Sees that a file is hidden, another one is not, and /proc is of the new namespace. */
const PROBE = '[ ! -e "$1" ] && [ -e "$2" ] && [ -e "/proc/$$" ] && [ -e /proc/1 ]';

async function tryNamespaces(unshare: string, clock: Clock): Promise<string | undefined> {
  if (process.platform !== "linux") return "only Linux has them";
  const directory = mkdtempSync(join(openWatchdog().folder, "probe-"));
  const kept = join(directory, "kept");
  const [hiddenFile, keptFile] = [join(directory, "file"), join(kept, "file")];
  mkdirSync(kept);
  for (const file of [hiddenFile, keptFile]) writeFileSync(file, "");
  const child = startInNamespaces(
    { command: ["sh", "-c", PROBE, "sh", hiddenFile, keptFile], directory: kept, env: { PATH: process.env.PATH } },
    { unshare, hides: [directory], keeps: [kept], table: `${kept}.mounts` },
  );
  for (const stream of child.output) stream.resume();
  const timer = clock.after(LIMIT_MS, () => child.pid !== undefined && killTree(child.pid, kept), {
    isBackground: true,
  });
  const end = await child.ended;
  timer.stop();
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  if ("refusal" in end) return end.refusal;
  if ("error" in end) return end.error.message;
  if (end.signal !== null) return "the attempt took too long";
  return end.code === 0 ? undefined : "they hide nothing";
}
