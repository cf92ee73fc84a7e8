import { isThrottled } from "./errors.ts";

type Next = (args: object) => Promise<object>;

/** The part of a client's middleware stack that is used here (@smithy/types, MiddlewareStack). */
interface Stack {
  addRelativeTo(
    middleware: (next: Next, context: object) => Next,
    place: { readonly relation: "before" | "after"; readonly toMiddleware: string; readonly name: string },
  ): void;
}

/** Tells a person why nothing seems to happen. */
export interface ThrottlingListener {
  /** A call was refused because there are too many. It is retried after a while. */
  throttled(): void;
  /** A refused call has succeeded, or failed for good. */
  resumed(): void;
}

export interface Throttling {
  /** Adds a listener; the returned function removes it. */
  listen(listener: ThrottlingListener): () => void;
  /** Watches every attempt of a client's calls. */
  watch<Client>(client: Client): Client;
}

/** The clients retry by themselves, for up to 15 seconds. This reports that they wait. */
export function watchThrottling(): Throttling {
  const listeners = new Set<ThrottlingListener>();
  return {
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    watch(client) {
      // All clients have the same middleware stack, typed by the operations of each.
      const { middlewareStack } = client as unknown as { middlewareStack: Stack };
      const refused = new WeakSet<object>();
      middlewareStack.addRelativeTo(
        (next, context) => async (args) => {
          try {
            return await next(args);
          } catch (error) {
            if (isThrottled(error)) {
              refused.add(context);
              for (const listener of listeners) listener.throttled();
            }
            throw error;
          }
        },
        { relation: "after", toMiddleware: "retryMiddleware", name: "toolThrottledAttempt" },
      );
      middlewareStack.addRelativeTo(
        (next, context) => async (args) => {
          try {
            return await next(args);
          } finally {
            if (refused.has(context)) for (const listener of listeners) listener.resumed();
          }
        },
        { relation: "before", toMiddleware: "retryMiddleware", name: "toolThrottledCall" },
      );
      return client;
    },
  };
}
