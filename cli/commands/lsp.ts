import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { RunResult, RunTool } from "../../language-server/host.ts";
import { serve } from "../../language-server/node.ts";
import { runProgram } from "../../language-server/node-program.ts";
import { CLOUD_KINDS, type CloudQuestion } from "../../language-server/service/cloud.ts";
import { TRAFFIC_DAYS } from "../../language-server/service/traffic.ts";
import type { TrafficQuestion } from "../../language-server/service/traffic-question.ts";
import { toolSchema } from "../../schema/index.ts";
import { type Context, EXIT } from "../context.ts";
import { publishedReference, referenceFile } from "../docs/reference-file.ts";
import { referencePage } from "../docs/reference-page.ts";
import { edition } from "../edition.ts";
import { readStream } from "../read-stream.ts";
import type { Options } from "../table.ts";
import { version } from "../version.ts";

/** `tool lsp`: runs the language server for an editor. Ends with the editor; never prints. */
export async function lsp(context: Context, options: Options<"lsp">): Promise<number> {
  if (options["look-up"]) return answerOne(context);
  if (!options.stdio && !options["node-ipc"]) {
    return context.misuse(
      "tool lsp is started by an editor",
      "tool lsp --stdio speaks the protocol on stdin and stdout",
    );
  }
  if (options["node-ipc"] && !context.io.hasParent()) {
    return context.misuse(
      "--node-ipc needs a parent process of Node that opened a channel",
      "write --stdio to speak on stdin and stdout",
    );
  }
  // vscode-languageserver reads this flag from the command line itself and watches the process.
  const { clientProcessId } = options;
  if (clientProcessId !== undefined && !/^[1-9]\d*$/.test(clientProcessId)) {
    return context.misuse(
      `${JSON.stringify(clientProcessId)} is not a process id`,
      "write a number: --clientProcessId=<id>",
    );
  }
  const page = referenceFile(context.io.env, "tool-json");
  // After the server's first answers: the page is for a click on a problem's code.
  context.io.clock.after(WRITE_AFTER_MS, () => void writeReference(page), { isBackground: true });
  const documentation = publishedReference(context.io.env) ?? `${pathToFileURL(page).href}#{code}`;
  const { env, clock } = context.io;
  return serve({
    version,
    ipc: options["node-ipc"],
    documentation,
    hintsPro: edition === "free",
    runTool: (run) => runTool(context, run),
    askTraffic: async ({ question }, signal) =>
      (await import("../rule-traffic.ts")).serviceTraffic(context, question, { days: TRAFFIC_DAYS, signal }),
    lookUp: async ({ question }, signal) =>
      (await import("../aws/look-up.ts")).accountNames(question, { env, clock, signal }),
  });
}

/**
 * `tool lsp --look-up`: the answer to one question about the AWS account or the log service, which a server asks that runs
 * inside of an editor and has neither SDK nor credentials. Both are JSON, on stdin and stdout.
 */
async function answerOne(context: Context): Promise<number> {
  const { io, print, misuse, fail } = context;
  const question = questionIn((await readStream(io.stdin, MAX_QUESTION_BYTES)).toString());
  if (question === undefined) {
    return misuse("stdin has no question", `write JSON, such as {"kind": "zones"}: ${CLOUD_KINDS.join(", ")}, traffic`);
  }
  const { signal } = new AbortController();
  try {
    if (question.kind === "traffic") {
      const { serviceTraffic } = await import("../rule-traffic.ts");
      await print(JSON.stringify(await serviceTraffic(context, question, { days: TRAFFIC_DAYS, signal })));
      return EXIT.ok;
    }
    const { accountNames } = await import("../aws/look-up.ts");
    await print(JSON.stringify(await accountNames(question, { env: io.env, clock: io.clock, signal })));
    return EXIT.ok;
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

const MAX_QUESTION_BYTES = 10_000;

type Question = CloudQuestion | ({ readonly kind: "traffic" } & TrafficQuestion);

function questionIn(text: string): Question | undefined {
  try {
    const question = JSON.parse(text) as Question;
    const { kind, ...others } = question;
    if (kind === "traffic" && Object.keys(others).sort().join() !== "project,service") return undefined;
    const isRight =
      (kind === "traffic" || CLOUD_KINDS.includes(kind)) &&
      Object.values(others).every((value) => typeof value === "string");
    return isRight ? question : undefined;
  } catch {
    return undefined;
  }
}

const WRITE_AFTER_MS = 1000;

/** Runs this program once more, for the server: its stdout is the protocol's, so all three streams are pipes. */
function runTool({ io: { env } }: Context, { folder, words, input }: Parameters<RunTool>[0]): Promise<RunResult> {
  return runProgram([process.execPath, process.argv[1]!, ...words], {
    cwd: fileURLToPath(folder),
    env,
    input,
    // As usesSandbox reads it; what is neither yes nor no the command refuses.
    place: /^(1|true|yes|on)$/i.test(env.TOOL_SANDBOX ?? "") ? " in the sandbox" : "",
  });
}

/**
 * Writes the reference that codes link to, as `tool docs` does. Without it the links are dead; nothing else depends on it.
 */
async function writeReference(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, referencePage(toolSchema, version));
  } catch {
    // The home folder is not writable.
  }
}
