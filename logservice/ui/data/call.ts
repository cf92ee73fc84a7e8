import { effect, signal } from "@preact/signals";
import type { Operations } from "../../../schema/rpc.generated.ts";
import { RpcFailure, rpcClient } from "../../../schema/rpc-client.ts";
import { noteServiceTime } from "./clock.ts";
import { teamId } from "./session.ts";

/** Whether the session has ended: nothing more can be asked until the person signs in again. */
export const isSignedOut = signal(false);

/** Does something once the person is signed in again. Returns what gives that up. */
export function onceSignedIn(act: () => void): () => void {
  let isOver = false;
  const end = effect(() => {
    if (isSignedOut.value || isOver) return;
    isOver = true;
    // Not within the call that has found it out.
    setTimeout(act);
  });
  return () => {
    isOver = true;
    end();
  };
}

/** When the service was last found not to answer; undefined while it does. Milliseconds since 1970. */
export const goneSince = signal<number | undefined>(undefined);

/** How often it is asked whether the service answers again: a page may ask for nothing by itself. */
const AGAIN_MS = 3_000;

/** Asks until the service answers, while it is known not to. Returns what ends this. */
export function askUntilBack(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = effect(() => {
    clearTimeout(timer);
    if (goneSince.value === undefined) return;
    const ask = async (): Promise<void> => {
      await call("get_account", {}, { team: "" }).catch(() => undefined);
      if (goneSince.peek() !== undefined) timer = setTimeout(ask, AGAIN_MS);
    };
    timer = setTimeout(ask, AGAIN_MS);
  });
  return () => {
    end();
    clearTimeout(timer);
  };
}

/** Calls an operation as the person, in the current team. Rejects with an RpcFailure, and with fetch's errors. */
export async function call<Name extends keyof Operations>(
  name: Name,
  input: Operations[Name]["input"],
  { signal, team = teamId.value }: { readonly signal?: AbortSignal | undefined; readonly team?: string } = {},
): Promise<Operations[Name]["output"]> {
  const client = rpcClient({
    url: "",
    fetch: async (url, init) => {
      const headers = { ...(init?.headers as Record<string, string>), ...(team !== "" && { "X-Team": team }) };
      const response = await fetch(url, { ...init, headers });
      noteServiceTime(response.headers.get("date"));
      return response;
    },
  });
  // A signal that outlives the call would keep its answer in memory, as browsers have it: each call has one of its own.
  const own = new AbortController();
  const abort = (): void => own.abort(signal!.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort);
  try {
    const idempotencyKey = /^add_/.test(name) ? randomKey() : undefined;
    const output = await client.call(name, input, { signal: own.signal, ...(idempotencyKey && { idempotencyKey }) });
    goneSince.value = undefined;
    // The person has signed in again in another tab.
    isSignedOut.value = false;
    return output;
  } catch (error) {
    if (isUnreachable(error)) goneSince.value ??= Date.now();
    else if (!isAborted(error)) goneSince.value = undefined;
    if (error instanceof RpcFailure && error.status === 401) isSignedOut.value = true;
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

/** By it the service knows a request that the browser sends again, so that what it makes is made once. */
const randomKey = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

/** Whether an error says that nobody answered. */
export function isUnreachable(error: unknown): boolean {
  if (error instanceof RpcFailure) return error.type === "unknown" && error.status >= 502 && error.status <= 504;
  return error instanceof TypeError;
}

export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** The message of an error for a person, as a sentence. */
export function errorText(error: unknown): string {
  if (isUnreachable(error)) return "The log service does not answer. It is asked again every few seconds.";
  const message = error instanceof Error ? error.message : String(error);
  // An address or the name of a field is shown as it is.
  const text = /^\S*[@_./]\S/.test(message) ? message : message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
