import type { Application } from "../index.ts";
import { answerInvocation, type InvocationOptions, untilListening } from "./invocation.ts";
import { PlatformRefusal, type RuntimeApi } from "./runtime-api.ts";
import type { Sender } from "./sender.ts";

export interface LoopOptions extends InvocationOptions {
  /** Milliseconds since 1970 at which the platform is told that the function is ready, whether or not its app is. */
  readonly readyByMs: number;
  /** Sends entries between an answer and the next event. */
  readonly sender?: Sender | undefined;
  /** Settled once the platform knows that it must say before it ends this process, which it takes before the first event only. */
  readonly registered: Promise<void>;
}

/** An emulator that does not answer a registration is not waited for any longer. */
const REGISTER_MS = 1_000;

/**
 * A connection that idled longer is not used again: the platform stops all processes between two invocations, and an app
 * may find by its clock that a connection idled for an hour just when a request comes on it. Timers do not help: they
 * may have been stopped as well.
 */
const MAX_IDLE_MS = 1_000;

/**
 * Starts the app and answers invocations, one after the other. An app that has not started when the first one comes
 * continues to start during it. Rejects if the Runtime API is gone.
 */
export async function answerInvocations(
  application: Application,
  api: RuntimeApi,
  options: LoopOptions,
): Promise<never> {
  const { clock } = application;
  application.supervisor?.start();
  const waited = clock.sleep(REGISTER_MS, undefined, { isBackground: true });
  await untilListening(application, options.readyByMs);
  await Promise.race([options.registered, waited]);
  let pauseMs: number | undefined;
  let wasRequest = false;
  for (let idleSinceMs = clock.nowMs(), isFirst = true; ; idleSinceMs = clock.nowMs(), isFirst = false) {
    await outputRead();
    application.entries.flush();
    // Entries of the start do not hold up the first event.
    if (!isFirst) await options.sender?.answered(pauseMs);
    const waitingSinceMs = clock.nowMs();
    const invocation = await api.next();
    // The check of a deploy, just before the first request, is no sign that more will follow.
    pauseMs = wasRequest ? clock.nowMs() - waitingSinceMs : undefined;
    wasRequest = true;
    if (clock.nowMs() - idleSinceMs > MAX_IDLE_MS) application.supervisor?.dropIdleConnections();
    try {
      wasRequest = await answerInvocation(application, invocation, api.answerTo(invocation), options);
    } catch (error) {
      // Too late, or more than it takes: the next invocation has nothing to do with it.
      const fields = { invocation: invocation.id, reason: (error as Error).message };
      application.entries.write("error", "answer was not taken", fields);
      if (!(error instanceof PlatformRefusal)) await nextTurn();
    }
  }
}

/**
 * Resolves when the app's output is read: what the app wrote with its answer is still in the pipe; after the next call
 * it may stay there for an hour.
 */
async function outputRead(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
