/** A task of type `tool`, as tasks.json writes it; the manifest describes the same. */
export interface ToolTask {
  readonly command: "start" | "validate" | "run" | "deploy" | "url";
  /** The folder of the app, relative to the workspace folder, with `/`. The workspace folder itself if it is left out. */
  readonly folder?: string;
  /** The hook that `run` runs. */
  readonly hook?: string;
  readonly stage?: string;
  /** More words for the command, such as `--address :8080` or `--sandbox`. */
  readonly args?: readonly string[];
}

/** The arguments of `tool` for a task that runs in the workspace folder; undefined if the command is not a task. */
export function taskWords(task: ToolTask): string[] | undefined {
  const { command, folder, hook, stage, args = [] } = task;
  const isBelow = folder !== undefined && folder !== "" && folder !== ".";
  const inFolder = isBelow ? ["-C", folder] : [];
  switch (command) {
    case "start":
      return [...inFolder, "start", ...args];
    // Named by its path from the workspace folder: the output then has the path by which the editor looks for the file.
    case "validate":
      return ["validate", ...args, ...(isBelow ? ["--", `${folder}/tool.json`] : [])];
    // Without a hook tool says what is missing, in the terminal of the task.
    case "run":
      return [...inFolder, "run", ...(stage ? ["--stage", stage] : []), ...args, ...(hook ? ["--", hook] : [])];
    case "deploy":
      return [...inFolder, "deploy", ...args, ...(stage ? ["--", stage] : [])];
    case "url":
      return [...inFolder, "url", ...(stage ? ["--stage", stage] : []), ...args];
    default:
      return undefined;
  }
}

/** How a task is called in lists: `validate api`, `run build for production`, `deploy production in the sandbox`. */
export function taskName({ command, folder, hook, stage, args = [] }: ToolTask): string {
  const target = stage && (command === "deploy" ? stage : `for ${stage}`);
  const sandbox = args.includes(SANDBOX) && "in the sandbox";
  return [command, hook, folder !== "." && folder, target, sandbox].filter(Boolean).join(" ");
}

/** The argument that sends a command to the cloud on this machine. */
export const SANDBOX = "--sandbox";
