// The process that the platform starts in place of a runtime of its own: `bootstrap` of a custom runtime, or what
// AWS_LAMBDA_EXEC_WRAPPER runs on a managed one.
import { systemClock } from "../../grammar/units/clock.ts";
import { type LoadedDeployment, loadDeployment } from "./deployment.ts";
import { InitError } from "./init-error.ts";
import { answerInvocations } from "./loop.ts";
import { registerExtension } from "./register-extension.ts";
import { connectRuntimeApi } from "./runtime-api.ts";

/**
 * The platform gives a function 10 s to get ready, and restarts it when they are over. They begin before this process does:
 * starting it takes some 100 ms, several times that on a busy machine. An app that is not ready by then starts on during the
 * first invocation, so that an early answer costs nothing.
 */
const READY_MS = 9_000;

/** From the platform's SIGTERM to its SIGKILL there are 500 ms: for the app, and for sending its last entries. */
const STOP_MS = 400;
/** The app has less of them if entries are sent, so that its last ones can be. */
const APP_STOP_MS = 300;

async function main(): Promise<void> {
  const { env } = process;
  const address = env.AWS_LAMBDA_RUNTIME_API ?? "";
  const api = connectRuntimeApi(address, systemClock);
  // The answer comes while the deployment is read.
  const registered = registerExtension(address);
  let deployment: LoadedDeployment;
  try {
    deployment = await loadDeployment({
      directory: env.LAMBDA_TASK_ROOT ?? process.cwd(),
      env,
      clock: systemClock,
      print: (text) => process.stdout.write(text),
    });
  } catch (error) {
    if (error instanceof InitError) await api.initError(error.type, error.message);
    else await api.initError("Tool.NotStarted", `the deployment cannot be read: ${(error as Error).message}`);
    throw error;
  }
  process.once("SIGTERM", () => void stop(deployment));
  const { application, sender } = deployment;
  // However it ends, what could not be delivered is printed.
  process.once("exit", () => {
    application.entries.flush();
    sender?.close();
  });
  const readyByMs = performance.timeOrigin + READY_MS;
  const streams = env.TOOL_RESPONSE_MODE !== "buffered";
  await answerInvocations(application, api, { streams, readyByMs, sender, registered });
}

async function stop({ application, sender }: LoadedDeployment): Promise<void> {
  const { supervisor, entries, clock } = application;
  const byMs = clock.monotonicMs() + STOP_MS;
  const cut = clock.after(sender === undefined ? STOP_MS : APP_STOP_MS, () => supervisor?.kill());
  entries.flush();
  // Waiting entries are sent while the app stops, and those that it still writes after that.
  await Promise.all([supervisor?.stop(), sender?.finish(STOP_MS)]);
  cut.stop();
  entries.flush();
  await sender?.finish(byMs - clock.monotonicMs());
  process.exit(0);
}

main().catch((error: Error) => {
  // The platform shows stderr, and restarts a process that exited. What an InitError says is in an entry.
  if (!(error instanceof InitError)) process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
