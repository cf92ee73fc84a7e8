import { type ChildProcess, spawn } from "node:child_process";
import * as vscode from "vscode";
import { locateTool } from "./installation.ts";
import { mayStartProcesses } from "./trust.ts";

/** An app that `tool start` runs. */
export interface RunningApp {
  readonly folder: vscode.Uri;
  readonly phase: "starting" | "running" | "stopping";
  /** Where it answers, once it does. */
  readonly url: string | undefined;
}

/** `tool start` gives the app time to finish what it answers; a second signal ends both at once. */
const STOP_TIMEOUT_MS = 10_000;

/** The apps that run, each in a terminal of its own. They end with the window. */
export class Apps implements vscode.Disposable {
  readonly onDidChange: vscode.Event<void>;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #running = new Map<string, { app: RunningApp; child: ChildProcess; ended: Promise<void> }>();

  constructor() {
    this.onDidChange = this.#changed.event;
  }

  all(): readonly RunningApp[] {
    return [...this.#running.values()].map(({ app }) => app);
  }

  in(folder: vscode.Uri): RunningApp | undefined {
    return this.#running.get(folder.toString())?.app;
  }

  /** Asks the app of a folder to end, and waits until it has. */
  async stop(folder: vscode.Uri): Promise<void> {
    const one = this.#running.get(folder.toString());
    if (one === undefined) return;
    this.#set(folder, { phase: "stopping" });
    one.child.kill("SIGTERM");
    const impatience = setTimeout(() => one.child.kill("SIGTERM"), STOP_TIMEOUT_MS);
    await one.ended;
    clearTimeout(impatience);
  }

  /** The terminal of `tool start`: it starts with the terminal, and Ctrl-C or closing the terminal ends it. */
  terminal(folder: vscode.Uri, args: readonly string[]): vscode.Pseudoterminal {
    const written = new vscode.EventEmitter<string>();
    const closed = new vscode.EventEmitter<number>();
    // A terminal's lines end with a carriage return as well.
    const write = (text: string) => written.fire(text.replace(/\r?\n/g, "\r\n"));
    return {
      onDidWrite: written.event,
      onDidClose: closed.event,
      open: (dimensions) => {
        void this.#start(folder, args, dimensions?.columns, write).then((code) => closed.fire(code));
      },
      close: () => void this.stop(folder),
      handleInput: (typed) => {
        if (typed === CTRL_C) void this.stop(folder);
      },
    };
  }

  async dispose(): Promise<void> {
    await Promise.all(this.all().map(({ folder }) => this.stop(folder)));
    this.#changed.dispose();
  }

  /** Resolves with the exit code, once all that was written is out. */
  async #start(
    folder: vscode.Uri,
    args: readonly string[],
    columns: number | undefined,
    write: (text: string) => void,
  ): Promise<number> {
    if (!mayStartProcesses("start the app", folder)) return 1;
    const other = this.in(folder);
    if (other !== undefined) {
      write(`The app runs already${other.url === undefined ? "" : ` at ${other.url}`}.\n`);
      return 1;
    }
    const tool = await locateTool();
    if (tool === undefined) {
      write("There is no program tool: see the setting tool.path.\n");
      return 1;
    }
    const child = spawn(tool, ["start", ...args], {
      cwd: folder.fsPath,
      // Pipes are no terminal, but what reads them is one.
      env: { FORCE_COLOR: "1", ...process.env, ...(columns !== undefined && { COLUMNS: String(columns) }) },
      // The channel is for the message that says where the app answers. It also closes if the editor is killed.
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    child.stdout?.setEncoding("utf8").on("data", write);
    child.stderr?.setEncoding("utf8").on("data", write);
    child.on("message", (message: { type?: string; url?: string }) => {
      if (message.type === "listening") this.#set(folder, { phase: "running", url: message.url });
    });
    const exit = new Promise<number>((resolve) => {
      child.once("error", (error) => {
        write(`Cannot run ${tool}: ${error.message}\n`);
        resolve(1);
      });
      child.once("close", (code) => resolve(code ?? 1));
    });
    const ended = exit.then(() => {
      this.#running.delete(folder.toString());
      this.#tell();
    });
    this.#running.set(folder.toString(), { app: { folder, phase: "starting", url: undefined }, child, ended });
    this.#tell();
    const code = await exit;
    await ended;
    return code;
  }

  #set(folder: vscode.Uri, change: Partial<RunningApp>): void {
    const one = this.#running.get(folder.toString());
    if (one === undefined || one.app.phase === "stopping") return;
    one.app = { ...one.app, ...change };
    this.#tell();
  }

  #tell(): void {
    const isRunning = this.all().some(({ phase }) => phase === "running");
    void vscode.commands.executeCommand("setContext", "tool.isRunning", isRunning);
    this.#changed.fire();
  }
}

const CTRL_C = "\u0003";
