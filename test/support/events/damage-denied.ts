// Files that may not be read, and folders that may not be written to. Root sees neither: the store is another user's.
import { type ChildProcess, fork } from "node:child_process";
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { root } from "../cli.ts";
import { until } from "../until.ts";
import { contentsOf, wronglyDeleted } from "./damage-check.ts";
import type { Reply, Request } from "./damage-process.ts";
import { numbersOf, type RichStore } from "./rich-store.ts";

export interface DeniedCase {
  readonly name: string;
  readonly path: (rich: RichStore) => string;
  readonly mode: number;
  readonly lost?: (rich: RichStore) => readonly number[];
  /** The store does not open, and names the file. */
  readonly isRefused?: boolean;
  /** Whether the loss names it. */
  readonly isLoss?: boolean;
  /** Projects whose events cannot become segments. */
  readonly stuck?: readonly string[];
}

/** nobody, everywhere. */
const USER = 65534;

/** A store in a process of another user. */
class Served {
  readonly #child: ChildProcess;
  #reply: ((reply: Reply) => void) | undefined;

  constructor() {
    const isRoot = process.getuid?.() === 0;
    const program = join(root, "dist/test/support/events/damage-process.js");
    this.#child = fork(program, ["serve", String(isRoot ? USER : 0)], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child.on("message", (reply: Reply) => this.#reply?.(reply));
    this.#child.on("exit", () => this.#reply?.({ type: "exit", message: "the process ended" }));
  }

  get ready(): Promise<Reply> {
    return new Promise((resolve) => (this.#reply = resolve));
  }

  ask(request: Request): Promise<Reply> {
    const reply = new Promise<Reply>((resolve) => (this.#reply = resolve));
    this.#child.send(request);
    return reply;
  }

  /** Rejects with what was thrown. */
  async get(request: Request): Promise<readonly string[]> {
    const reply = await this.ask(request);
    if ("texts" in reply) return reply.texts;
    throw new Error(`${request.do}: ${reply.type} ${reply.message}`);
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }
}

/** Returns the faults of one case; empty if there are none. */
export async function runDenied(rich: RichStore, row: DeniedCase): Promise<string[]> {
  const home = mkdtempSync(join(tmpdir(), "events-denied-"));
  const directory = join(home, "store");
  const served = new Served();
  const wrong: string[] = [];
  try {
    chmodSync(home, 0o755);
    cpSync(rich.directory, directory, { recursive: true, preserveTimestamps: true });
    const before = contentsOf(directory, rich.held);
    if (process.getuid?.() === 0) own(directory);
    const path = join(directory, row.path(rich));
    chmodSync(path, row.mode);
    await served.ready;
    const allow = () => {
      // A file that could be read again may be flushed or merged, and gone, by now; its events are checked at the end.
      if (existsSync(path)) chmodSync(path, 0o755);
    };
    await (row.isRefused
      ? refused({ rich, row, served, directory, wrong })
      : answered({ rich, row, served, directory, wrong }, allow));
    allow();
    const kept = wronglyDeleted(before, contentsOf(directory, rich.held), rich.held, { answered: rich.events });
    wrong.push(...kept);
  } catch (error) {
    wrong.push(String(error instanceof Error ? error.stack : error));
  } finally {
    served.end();
    rmSync(home, { recursive: true, force: true });
  }
  return wrong;
}

function own(path: string): void {
  chownSync(path, USER, USER);
  for (const name of readdirSync(path, { withFileTypes: true })) {
    if (name.isDirectory()) own(join(path, name.name));
    else chownSync(join(path, name.name), USER, USER);
  }
}

interface Denied {
  readonly rich: RichStore;
  readonly row: DeniedCase;
  readonly served: Served;
  readonly directory: string;
  /** Findings are added to it. */
  readonly wrong: string[];
}

async function refused({ rich, row, served, directory, wrong }: Denied) {
  const reply = await served.ask({ do: "open", directory });
  const said = "message" in reply ? reply.message : "it was opened";
  if (!said.includes(basename(row.path(rich)))) wrong.push(said);
  chmodSync(join(directory, row.path(rich)), 0o755);
  await served.get({ do: "open", directory });
  wrong.push(...(await served.get({ do: "answers", events: listed(rich.events), missing: [] })));
  await served.get({ do: "close" });
}

async function answered({ rich, row, served, directory, wrong }: Denied, allow: () => void): Promise<void> {
  const events = new Map([...rich.events].map(([project, all]) => [project, new Set(all)]));
  const touched = new Set<string>();
  for (const one of row.lost?.(rich) ?? []) {
    for (const [project, all] of events) if (all.delete(one)) touched.add(project);
  }
  const check = async (name: string, missing: readonly string[] = [...touched]) => {
    // All are asked everything at the first start and the last; between them those that are hurt, and one for the others.
    const isFull = name === "first start" || name === "when it may be read again";
    const fullyChecked = isFull ? [...events.keys()] : ["beta", ...touched];
    const answers = await served.get({ do: "answers", events: listed(events), missing, fullyChecked });
    wrong.push(...answers.map((text) => `${name}: ${text}`));
  };
  const file = basename(row.path(rich));
  let batch = 200;
  const append = async (project: string) => {
    const numbers = numbersOf(batch++, 10);
    const reply = await served.ask({ do: "append", project, numbers });
    if ("texts" in reply) for (const one of numbers) events.get(project)!.add(one);
    return "texts" in reply ? "stored" : reply.type;
  };

  await served.get({ do: "open", directory });
  await check("first start");
  const losses = await served.get({ do: "losses" });
  if (row.isLoss !== losses.some((one) => one.includes(file)) && row.isLoss !== undefined)
    wrong.push(`losses() are ${losses.join("; ")}`);
  for (const project of events.keys()) {
    const outcome = await append(project);
    if (outcome !== "stored" && !row.stuck?.includes(project)) wrong.push(`${project} is refused: ${outcome}`);
  }
  // Rejects if a project is stuck.
  await served.ask({ do: "flush" });
  for (const project of events.keys()) {
    const outcome = await append(project);
    const right = row.stuck?.includes(project) ? "unavailable" : "stored";
    if (outcome !== right) wrong.push(`after a flush ${project} is ${outcome}`);
  }
  await served.ask({ do: "flush" });
  await check("after flushes");
  if (row.stuck !== undefined) {
    for (const project of events.keys()) {
      const isFlushed = readdirSync(join(directory, "projects")).some((name) => name.startsWith(`${project}~`));
      if (!isFlushed && !row.stuck.includes(project)) wrong.push(`${project} was not flushed`);
    }
    const lines = await served.get({ do: "lines" });
    if (!lines.some((line) => line.includes(file))) wrong.push(`no line of the log names ${file}: ${lines.join("; ")}`);
    allow();
    // A file that could not be read at the start is read at the next one.
    if (row.mode === 0) {
      await served.get({ do: "close" });
      await served.get({ do: "open", directory });
      for (const [project, all] of rich.events) for (const one of all) events.get(project)!.add(one);
      touched.clear();
    }
    let reply: Reply | undefined;
    const isFlushed = async () => {
      reply = await served.ask({ do: "flush" });
      return "texts" in reply;
    };
    await until("a flush when it may be written again", isFlushed, () => reply);
    for (const project of events.keys()) {
      const outcome = await append(project);
      if (outcome !== "stored") wrong.push(`when it may be written again, ${project} is ${outcome}`);
    }
    await served.get({ do: "compact" });
    await check("when it may be written again");
  }
  await served.get({ do: "close" });
  await served.get({ do: "open", directory });
  await check("second start");
  await served.get({ do: "close" });
  allow();
  for (const [project, all] of rich.events) for (const one of all) events.get(project)!.add(one);
  await served.get({ do: "open", directory });
  await check("when it may be read again", []);
  const left = await served.get({ do: "losses" });
  if (left.length > 0) wrong.push(`losses() are still ${left.join("; ")}`);
  await served.get({ do: "flush" });
  await served.get({ do: "close" });
}

const listed = (events: ReadonlyMap<string, ReadonlySet<number>>) =>
  [...events].map(([project, all]) => [project, [...all]] as const);

const find = (rich: RichStore, isSmall: boolean) =>
  rich.paths.segmentsOf("alpha").find(({ events }) => events < 20 === isSmall)!.path;
const held = (path: (rich: RichStore) => string) => (rich: RichStore) =>
  rich.held.numbersOf(join(rich.directory, path(rich)));
const ofFolder = (rich: RichStore) =>
  rich.paths.segmentsOf("alpha").flatMap(({ path }) => rich.held.numbersOf(join(rich.directory, path)));

export const deniedRows: readonly DeniedCase[] = [
  ...([true, false] as const).map((isSmall): DeniedCase => {
    const path = (rich: RichStore) => find(rich, isSmall);
    return {
      name: `a ${isSmall ? "small" : "merged"} segment: mode 000`,
      path,
      mode: 0,
      lost: held(path),
      isLoss: true,
    };
  }),
  { name: "a summary: mode 000", path: (rich) => `${find(rich, true)}.json`, mode: 0, isLoss: false },
  {
    name: "a filter: mode 000",
    path: ({ paths }) => `${paths.segmentsOf("big").find(({ events }) => events > 1000)!.path}.filter`,
    mode: 0,
    isLoss: false,
  },
  {
    name: "a manifest: mode 000",
    path: ({ paths }) => `${paths.folderOf("alpha")}/manifest.json`,
    mode: 0,
    isLoss: false,
  },
  { name: "the list of journal files: mode 000", path: () => "journal.json", mode: 0, isLoss: false },
  { name: "the list of folders: mode 000", path: () => "folders.json", mode: 0, isLoss: false },
  { name: "a file of keys: mode 000", path: ({ paths }) => paths.keys, mode: 0, isLoss: false },
  { name: "an ended journal file: mode 000", path: ({ paths }) => paths.ended, mode: 0, isRefused: true },
  { name: "the current journal file: mode 000", path: ({ paths }) => paths.current, mode: 0, isRefused: true },
  {
    name: "a project's folder: mode 000",
    path: ({ paths }) => paths.folderOf("alpha"),
    mode: 0,
    lost: ofFolder,
    isLoss: true,
    stuck: ["alpha"],
  },
  {
    name: "a project's folder: mode 0555",
    path: ({ paths }) => paths.folderOf("alpha"),
    mode: 0o555,
    isLoss: false,
    stuck: ["alpha"],
  },
  { name: "the folder of the journal: mode 000", path: ({ paths }) => dirname(paths.ended), mode: 0, isRefused: true },
];
