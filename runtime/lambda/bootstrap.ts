// The process that the platform starts in place of a runtime of its own: `bootstrap` of a custom runtime, or what
// AWS_LAMBDA_EXEC_WRAPPER runs on a managed one.
import { systemClock } from "../../grammar/units/clock.ts";
import { type LoadedDeployment, loadDeployment } from "./deployment.ts";
import { InitError } from "./init-error.ts";
import { answerInvocations } from "./loop.ts";
import { registerExtension } from "./register-extension.ts";
import { connectRuntimeApi } from "./runtime-api.ts";
import { stopInTime } from "./stop.ts";

/**
 * The platform gives a function 10 s to get ready, and restarts it when they are over. They begin before this process does:
 * starting it takes some 100 ms, several times that on a busy machine. An app that is not ready by then starts on during the
 * first invocation, so that an early answer costs nothing.
 */
const READY_MS = 9_000;

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
  const { application, sender } = deployment;
  process.once("SIGTERM", () => {
    const { clock, supervisor, entries } = application;
    void stopInTime({ clock, supervisor, entries, sender }).then(() => process.exit(0));
  });
  // However it ends, what could not be delivered is printed.
  process.once("exit", () => {
    application.entries.flush();
    sender?.close();
  });
  const readyByMs = performance.timeOrigin + READY_MS;
  const streams = env.TOOL_RESPONSE_MODE !== "buffered";
  await answerInvocations(application, api, { streams, readyByMs, sender, registered });
}

main().catch((error: Error) => {
  // The platform shows stderr, and restarts a process that exited. What an InitError says is in an entry.
  if (!(error instanceof InitError)) process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
