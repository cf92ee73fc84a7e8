// The process that the platform starts in place of a runtime of its own: `bootstrap` of a custom runtime, or what
// AWS_LAMBDA_EXEC_WRAPPER runs on a managed one.
import { systemClock } from "../../grammar/units/clock.ts";
import { entryLine } from "../entries.ts";
import type { Application } from "../index.ts";
import { loadDeployment } from "./deployment.ts";
import { InitError } from "./init-error.ts";
import { answerInvocations } from "./loop.ts";
import { connectRuntimeApi } from "./runtime-api.ts";

/**
 * The platform gives a function 10 s to get ready, and restarts it when they are over. They begin before this process does:
 * starting it takes some 100 ms, several times that on a busy machine. An app that is not ready by then starts on during the
 * first invocation, so that an early answer costs nothing.
 */
const READY_MS = 9_000;

/** From the platform's SIGTERM to its SIGKILL there are 500 ms. */
const STOP_MS = 400;

async function main(): Promise<void> {
  const { env } = process;
  const api = connectRuntimeApi(env.AWS_LAMBDA_RUNTIME_API ?? "", systemClock);
  let application: Application;
  try {
    application = await loadDeployment({
      directory: env.LAMBDA_TASK_ROOT ?? process.cwd(),
      env,
      clock: systemClock,
      // Written at once: the platform reads lines, and may stop this process right after them.
      log: (entries) => process.stdout.write(entries.map((entry) => `${entryLine(entry)}\n`).join("")),
    });
  } catch (error) {
    if (error instanceof InitError) await api.initError(error.type, error.message);
    else await api.initError("Tool.NotStarted", `the deployment cannot be read: ${(error as Error).message}`);
    throw error;
  }
  process.once("SIGTERM", () => void stop(application));
  const readyByMs = performance.timeOrigin + READY_MS;
  await answerInvocations(application, api, { streams: env.TOOL_RESPONSE_MODE !== "buffered", readyByMs });
}

async function stop({ supervisor, entries, clock }: Application): Promise<void> {
  const cut = clock.after(STOP_MS, () => supervisor?.kill());
  await supervisor?.stop();
  cut.stop();
  entries.flush();
  process.exit(0);
}

main().catch((error: Error) => {
  // The platform shows stderr, and restarts a process that exited. What an InitError says is in an entry.
  if (!(error instanceof InitError)) process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
