// Holds one read or one change of the records of a running service, so that something else can happen meanwhile.
import type { CompiledQuery } from "kysely";
import type { TestService } from "./service.ts";

export interface Held {
  /** Resolves when the service waits. */
  readonly reached: Promise<void>;
  /** Lets it go on, with what it had read before. */
  release(): void;
}

/** Holds the next read that begins with this table after it was read, or the next change before it begins. */
export function holdNext({ records }: TestService, what: "a change" | "users" | "tokens" | "projects"): Held {
  let isHeld = false;
  let reach = () => {};
  let release = () => {};
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const hold = async () => {
    if (isHeld) return;
    isHeld = true;
    reach();
    await released;
  };
  const real = records.db;
  const held = new Proxy(real, {
    get(target, name) {
      if (name === "selectFrom" && what !== "a change") {
        return (table: "users") => {
          const builder = target.selectFrom(table);
          return table === what ? holdingReads(builder, hold) : builder;
        };
      }
      // A query whose SQL was made once: logservice/records/compiled.ts.
      if (name === "executeQuery" && what !== "a change") {
        return async (query: CompiledQuery) => {
          const result = await target.executeQuery(query);
          if (query.sql.includes(` from "${what}"`)) await hold();
          return result;
        };
      }
      if (name === "transaction" && what === "a change") {
        return () => ({
          execute: async (run: Parameters<ReturnType<typeof real.transaction>["execute"]>[0]) => {
            await hold();
            return target.transaction().execute(run);
          },
        });
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  Object.assign(records, { db: held });
  return {
    reached,
    release() {
      Object.assign(records, { db: real });
      release();
    },
  };
}

/** A query builder whose result, and that of every builder made of it, is given after `hold`. */
function holdingReads<Builder extends object>(builder: Builder, hold: () => Promise<void>): Builder {
  return new Proxy(builder, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...parameters: unknown[]) => {
        const made: unknown = value.apply(target, parameters);
        if (!String(name).startsWith("execute")) return holdingReads(made as object, hold);
        return (made as Promise<unknown>).then(async (result) => {
          await hold();
          return result;
        });
      };
    },
  });
}
