// Records that are added, changed and removed one change at a time, so that after a crash one change is in doubt at most.
import type { RpcClient } from "../../../schema/rpc-client.ts";
import { RpcFailure, rpcClient } from "../../../schema/rpc-client.ts";
import type { Random } from "../random.ts";

/** One kind of record: what a client does to it, by a name that the client chose. */
interface Shelf {
  readonly kind: string;
  add(client: RpcClient, name: string, value: string): Promise<void>;
  /** Undefined where nothing of it can be changed. */
  readonly update: ((client: RpcClient, name: string, value: string) => Promise<void>) | undefined;
  remove(client: RpcClient, name: string): Promise<void>;
  list(client: RpcClient): Promise<Map<string, string>>;
}

const NAMES = ["ash", "birch", "cedar", "elm", "fir"];

/** The knowledge of one client about its records. */
export class Records {
  readonly #shelf: Shelf;
  readonly #random: Random;
  #expected = new Map<string, string>();
  #doubt: { readonly name: string; readonly after: string | undefined } | undefined;
  #changes = 0;

  constructor(shelf: Shelf, random: Random) {
    this.#shelf = shelf;
    this.#random = random;
  }

  /** Changes that were acknowledged. */
  get changes(): number {
    return this.#changes;
  }

  /** Adds, changes or removes one. Where it rejects, that change is in doubt. */
  async change(client: RpcClient): Promise<void> {
    const { add, update, remove } = this.#shelf;
    const name = this.#random.pick(NAMES);
    const value = `number = ${this.#changes}`;
    const before = this.#expected.get(name);
    const isRemoved = before !== undefined && (update === undefined || this.#random.chance(0.4));
    const after = isRemoved ? undefined : value;
    this.#doubt = { name, after };
    if (before === undefined) await add.call(this.#shelf, client, name, value);
    else if (isRemoved) await remove.call(this.#shelf, client, name);
    else await update!.call(this.#shelf, client, name, value);
    this.#settle(name, after);
    this.#doubt = undefined;
    this.#changes++;
  }

  /** Returns the faults in the records as they are; the change in doubt was made, or was not. */
  async check(client: RpcClient): Promise<string[]> {
    const { kind } = this.#shelf;
    const entries = await this.#shelf.list(client);
    const wrong: string[] = [];
    for (const name of NAMES) {
      const [is, expected] = [entries.get(name), this.#expected.get(name)];
      const isDoubtful = this.#doubt?.name === name && is === this.#doubt.after;
      if (is !== expected && !isDoubtful) wrong.push(`${kind} ${name}: ${is} in place of ${expected}`);
      this.#settle(name, is);
      entries.delete(name);
    }
    for (const [name, value] of entries) wrong.push(`${kind} ${name}: nobody added it (${value})`);
    this.#doubt = undefined;
    return wrong;
  }

  #settle(name: string, value: string | undefined): void {
    if (value === undefined) this.#expected.delete(name);
    else this.#expected.set(name, value);
  }
}

/** The records of every kind that clients may change, searches and alerts in a project that has a notification. */
export function shelves(url: () => string, project: string, notification: string): readonly Shelf[] {
  return [projects, searches(project), alerts(project, notification), tokens(url)];
}

const PREFIX = "tree-";

const projects: Shelf = {
  kind: "project",
  async add(client, name, description) {
    await client.call("add_project", { project: { id: PREFIX + name, name, description } });
  },
  async update(client, name, description) {
    await client.call("update_project", { project: { id: PREFIX + name, description } });
  },
  async remove(client, name) {
    await client.call("remove_project", { project_id: PREFIX + name });
  },
  async list(client) {
    const { projects } = await client.call("get_projects", {});
    const own = projects.filter(({ id }) => id.startsWith(PREFIX));
    return new Map(own.map(({ name, description }) => [name, description]));
  },
};

function searches(project_id: string): Shelf {
  const find = async (client: RpcClient) => (await client.call("get_searches", { project_id })).searches;
  const idOf = async (client: RpcClient, name: string) => (await find(client)).find((one) => one.name === name)!.id;
  return {
    kind: "search",
    async add(client, name, query) {
      await client.call("add_search", { search: { project_id, name, query } });
    },
    async update(client, name, query) {
      await client.call("update_search", { search: { project_id, id: await idOf(client, name), query } });
    },
    async remove(client, name) {
      await client.call("remove_search", { project_id, search_id: await idOf(client, name) });
    },
    list: async (client) => new Map((await find(client)).map(({ name, query }) => [name, query])),
  };
}

function alerts(project_id: string, notification_id: string): Shelf {
  const find = async (client: RpcClient) => (await client.call("get_alerts", { project_id })).alerts;
  const idOf = async (client: RpcClient, name: string) => (await find(client)).find((one) => one.name === name)!.id;
  return {
    kind: "alert",
    async add(client, name, query) {
      const alert = { project_id, name, query, severity: "error" as const, operator: ">" as const, notification_id };
      await client.call("add_alert", { alert });
    },
    async update(client, name, query) {
      await client.call("update_alert", { alert: { project_id, id: await idOf(client, name), query } });
    },
    async remove(client, name) {
      await client.call("remove_alert", { project_id, alert_id: await idOf(client, name) });
    },
    list: async (client) => new Map((await find(client)).map(({ name, query }) => [name, query])),
  };
}

/** A token whose secret is known opens something for as long as it is listed. */
function tokens(url: () => string): Shelf {
  const secrets = new Map<string, string>();
  const find = async (client: RpcClient) =>
    (await client.call("get_tokens", {})).tokens.filter(({ description }) => description.startsWith(PREFIX));
  return {
    kind: "token",
    async add(client, name, value) {
      const description = `${PREFIX}${name} ${value}`;
      const token = { description, scopes: ["projects:read" as const] };
      secrets.set(description, (await client.call("add_token", { token })).id);
    },
    update: undefined,
    async remove(client, name) {
      const token = (await find(client)).find(({ description }) => description.startsWith(`${PREFIX}${name} `));
      await client.call("remove_token", { token_id: token!.id });
    },
    async list(client) {
      const listed = (await find(client)).map(({ description }) => description);
      const entries = new Map<string, string>();
      for (const description of listed) {
        const [name, ...value] = description.slice(PREFIX.length).split(" ");
        entries.set(name!, value.join(" "));
      }
      for (const [description, secret] of secrets) {
        const isListed = listed.includes(description);
        if ((await opens(url(), secret)) !== isListed) {
          entries.set(`the secret of ${description}`, isListed ? "does not open" : "opens still");
        }
        if (!isListed) secrets.delete(description);
      }
      return entries;
    },
  };
}

async function opens(url: string, token: string): Promise<boolean> {
  try {
    await rpcClient({ url, token }).call("get_projects", {});
    return true;
  } catch (error) {
    if (error instanceof RpcFailure && error.status === 401) return false;
    throw error;
  }
}
