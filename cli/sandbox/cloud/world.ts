// One account of the cloud: its services by region, its clock, and what was asked of them.
import type { CloudClock } from "./clock.ts";
import type { Collection } from "./collection.ts";
import { FunctionKeys } from "./function-keys.ts";
import type { StoredSeries } from "./series.ts";
import type { Storage } from "./storage.ts";
import { StoredBytes } from "./stored-bytes.ts";
import { type ServiceTasks, type Task, type TaskHandlers, Tasks } from "./tasks.ts";

export interface AccountOptions {
  readonly accountId?: string;
  readonly region?: string;
  /** How long IAM needs until Lambda may assume a new role, in the cloud's time. */
  readonly roleDelayMs?: number;
  /** How many calls Lambda refuses that name a new role: the same by counting, if a test must not depend on time. */
  readonly roleRefusals?: number;
  /** Functions are processes that are stopped between two invocations; not if this is false. */
  readonly freezes?: boolean;
  /** Certificates are issued as soon as they are requested. */
  readonly issuesAtOnce?: boolean;
  /** Subscriptions of mail addresses need no confirmation. */
  readonly confirmsMail?: boolean;
  /** Apps that do not run are answered for with the reason, as in `tool start`. */
  readonly tellsReasons?: boolean;
  /** Where the functions of an app's stage send their entries besides the log; absent, or undefined: nowhere. */
  readonly logsOf?: (
    app: string,
    stage: string,
  ) => Promise<{ readonly url: string; readonly token: string } | undefined>;
  /**
   * Where an app's stream to a log service delivers instead of its endpoint, if anywhere; to its endpoint if this is absent.
   * Throws an error if it cannot be said yet: the stream tries again.
   */
  readonly redirectsStream?: (app: string) => Promise<{ readonly url: string; readonly accessKey: string } | undefined>;
  /** Alarms are evaluated and schedules fire by the clock. */
  readonly runsByClock?: boolean;
  /** Gets what is a bug of the sandbox; standard error if it is absent. */
  readonly report?: (text: string) => void;
  /**
   * Folders that functions do not see, besides those of other functions: they get namespaces of their own if this machine
   * allows that, and none if this is absent.
   */
  readonly hides?: readonly string[];
  /** util-linux's program that makes namespaces; `unshare` of PATH if it is absent. */
  readonly unshare?: string;
  /** The program that stands for /var/runtime of the Node runtimes. */
  readonly nodeRuntime?: string;
}

/**
 * By the name that a signature says. services.ts declares its members, so that a service knows the others without importing
 * them.
 */
// biome-ignore lint/suspicious/noEmptyInterface: services.ts fills it, which only an interface allows.
export interface Services {}

export interface OperationContext {
  readonly region: string;
  readonly service: string;
  readonly operation: string;
  /** Who asks. */
  readonly accessKeyId: string;
}

/** An operation's input is what its shape says; each service names it by the SDK's type. */
export type Operations = Readonly<Record<string, (input: never, call: OperationContext) => unknown>>;

export interface CloudService {
  readonly operations: Operations;
  /** Goes on with what the last run left, besides its tasks. */
  resume?(): void;
  /** Ends what it started. */
  close?(): void | Promise<void>;
}

export type Factories = { readonly [Name in keyof Services]: (world: World, region: string) => Services[Name] };

/** Services with one address for all regions. */
const GLOBAL = new Set(["iam", "sts", "route53", "route53domains", "s3"]);

/** Operations that change nothing. */
const READING = /^(Check|Describe|Filter|Get|Head|List|StartLiveTail|Validate)/;

export interface WorldParts {
  readonly options: AccountOptions;
  readonly clock: CloudClock;
  readonly factories: Factories;
  readonly storage: Storage;
  /** Gets what is a bug of the sandbox, and what was found and mended. */
  readonly report: (text: string) => void;
}

export class World {
  readonly accountId: string;
  /** Where the account mostly works; what is global is kept here. */
  readonly region: string;
  readonly clock: CloudClock;
  readonly options: AccountOptions;
  readonly functionKeys = new FunctionKeys();
  /** Where the services answer, once somebody listens there: work of the last run may begin before that. */
  readonly url: Promise<string>;
  /** Says it. */
  readonly answersAt: (url: string) => void;
  readonly #factories: Factories;
  readonly #services = new Map<string, CloudService>();
  readonly #storage: Storage;
  readonly #tasks: Tasks;

  constructor({ options, clock, factories, storage, report }: WorldParts) {
    this.options = options;
    this.accountId = options.accountId ?? "123456789012";
    this.region = options.region ?? "eu-west-1";
    this.clock = clock;
    let answersAt!: (url: string) => void;
    this.url = new Promise((resolve) => {
      answersAt = resolve;
    });
    this.answersAt = answersAt;
    this.#factories = factories;
    this.#storage = storage;
    this.#tasks = new Tasks(storage.collection<Task>("tasks"), clock, report);
    // A service says what its tasks do when it is opened.
    for (const name of storage.stored()) {
      const [service = "", region = ""] = name.split(" ");
      if (Object.hasOwn(factories, service)) this.service(service as keyof Services, region || this.region);
    }
    storage.onRevert = (retryMs) => this.#tasks.resume(retryMs);
    this.#tasks.resume(0);
    for (const service of [...this.#services.values()]) service.resume?.();
  }

  service<Name extends keyof Services>(name: Name, region: string = this.region): Services[Name] {
    const key = `${name} ${GLOBAL.has(name) ? "" : region}`;
    const existing = this.#services.get(key);
    if (existing !== undefined) return existing as Services[Name];
    const service = this.#factories[name](this, region);
    this.#services.set(key, service);
    return service;
  }

  /** All regions of a service that were asked for so far. */
  everywhere<Name extends keyof Services>(name: Name): { region: string; service: Services[Name] }[] {
    return [...this.#services].flatMap(([key, service]) => {
      const [own, region = ""] = key.split(" ");
      return own === name ? { region, service: service as Services[Name] } : [];
    });
  }

  /** The collection that a service keeps under a name; `region` is empty if it has one address for all. */
  collection<T>(service: keyof Services | "sandbox", region: string, name: string): Collection<T> {
    return this.#storage.collection<T>(`${service} ${region} ${name}`);
  }

  /** A series, which a service only appends to: `name` tells it from the service's others, `timeOf` an item's time. */
  series<T>(service: keyof Services, region: string, name: string, timeOf: (item: T) => number): StoredSeries<T> {
    return this.#storage.series(service, `${region} ${name}`, timeOf);
  }

  /** Work of a service that is still to be done; the service says what each kind of it does. */
  tasks<Kind extends string>(
    service: keyof Services,
    region: string,
    handlers: TaskHandlers<Kind>,
  ): ServiceTasks<Kind> {
    return this.#tasks.of(service, region, handlers);
  }

  /** Bytes as a value of a collection has them. */
  keep(bytes: Buffer): StoredBytes {
    return StoredBytes.of(bytes);
  }

  /** Whether bytes that were kept are still what they were, where the account is in a folder. */
  isWhole(bytes: StoredBytes): boolean {
    return this.#storage.isWhole(bytes);
  }

  /**
   * Runs work that does not change what it gets from collections before it first waits: nothing is compared with what
   * is stored.
   */
  read<T>(work: () => T): T {
    return this.#storage.reading(work);
  }

  /** Runs an operation of a service. What it changed is safe when this resolves. */
  async run<T>(operation: string, work: () => T): Promise<Awaited<T>> {
    return READING.test(operation) ? await this.read(work) : await this.#storage.changing(work);
  }

  /** Runs what changes nothing of what it gets. */
  reading<T>(work: () => T): T {
    return this.#storage.reading(work);
  }

  /** Writes what was changed between operations. */
  commit(): Promise<void> {
    return this.#storage.commit();
  }

  async close(): Promise<void> {
    this.clock.stop();
    for (const service of this.#services.values()) await service.close?.();
    await this.#storage.close();
  }
}
