import { isThrottled } from "./errors.ts";

type Next = (args: object) => Promise<object>;

/** What is used of a client's middleware (@smithy/types, MiddlewareStack). */
interface Stack {
  addRelativeTo(
    middleware: (next: Next, context: object) => Next,
    place: { readonly relation: "before" | "after"; readonly toMiddleware: string; readonly name: string },
  ): void;
}

/** What a person wants to know who sees nothing happen. */
export interface ThrottlingListener {
  /** A call was refused because there are too many; it is made again after a while. */
  throttled(): void;
  /** A call that was refused has succeeded, or failed for good. */
  resumed(): void;
}

export interface Throttling {
  /** Listens until the answer is called. */
  listen(listener: ThrottlingListener): () => void;
  /** Watches the attempts of a client's calls. */
  watch<Client>(client: Client): Client;
}

/** The clients call again by themselves, for up to 15 seconds. This tells who waits. */
export function watchThrottling(): Throttling {
  const listeners = new Set<ThrottlingListener>();
  return {
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    watch(client) {
      // All clients have the same stack of middleware, each typed by its own operations.
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
