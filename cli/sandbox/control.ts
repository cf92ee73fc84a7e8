// The operations of the sandbox itself, which the command calls.
import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { AwsError } from "./cloud/protocol/error.ts";
import type { World } from "./cloud/world.ts";
import { type LanguageHere, languageHere } from "./function/languages.ts";
import { refusalOfNamespaces } from "./function/namespaces-here.ts";

/** One app in the sandbox. */
export interface SandboxApp {
  readonly name: string;
  /** The folder that it is deployed from; undefined if no command said one. */
  readonly directory: string | undefined;
  readonly stages: readonly string[];
}

/** A managed runtime that apps are deployed for, and what runs it here. */
export interface SandboxLanguage {
  readonly runtime: string;
  readonly here: LanguageHere | undefined;
}

export interface SandboxMail {
  /** RFC 3339. */
  readonly at: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface SandboxStatus {
  readonly pid: number;
  readonly port: number;
  readonly startedAt: string;
  readonly memoryBytes: number;
  /** When it ends if nothing uses it. RFC 3339. */
  readonly endsAt: string;
  readonly apps: readonly SandboxApp[];
  readonly mails: number;
  /** Whether this machine resolves `*.localhost`. */
  readonly resolvesNames: boolean;
  /** HMAC of the caller's nonce: whoever listens here knows the key. */
  readonly proof: string;
}

/** Those that the tool deploys for: `cli/artifact/delivery.ts`. */
const RUNTIMES = ["nodejs24.x", "python3.14", "java25"];

/** The proof that a listener knows the key of the sandbox. */
export function proofOf(nonce: string, secretKey: string): string {
  return createHmac("sha256", secretKey).update(`proof ${nonce}`).digest("hex");
}

export interface ControlOptions {
  readonly world: World;
  readonly secretKey: string;
  readonly port: () => number;
  readonly startedAt: string;
  readonly resolvesNames: () => Promise<boolean>;
  readonly endsAt: () => Date;
  /** Ends the daemon, after the answer. */
  readonly stop: () => void;
}

type Control = (operation: string, input: Readonly<Record<string, unknown>>) => Promise<object>;

export function controlOf({ world, secretKey, port, startedAt, resolvesNames, endsAt, stop }: ControlOptions): Control {
  /** The folder of each app. */
  const folders = world.collection<string>("sandbox", "", "folders");

  const apps = (): SandboxApp[] => {
    const stagesOf = new Map<string, Set<string>>();
    for (const { service } of world.everywhere("lambda")) {
      for (const { name, aliases } of service.state.functions.values()) {
        // Aliases of earlier deployments have the name of the stage and more, marks of versions begin with their number.
        const stages = [...aliases.keys()].filter((alias) => !/-previous$|^commit-|^\d/.test(alias));
        if (stages.length > 0) stagesOf.set(name, new Set([...(stagesOf.get(name) ?? []), ...stages]));
      }
    }
    return [...stagesOf]
      .map(([name, stages]) => ({ name, directory: folders.get(name), stages: [...stages].sort() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  };

  /** Whether anything is there under the name of an app. */
  const isInUse = (name: string) =>
    world.everywhere("lambda").some(({ service }) => service.state.functions.has(name)) ||
    world.everywhere("cloudformation").some(({ service }) => service.find(name) !== undefined);

  const allMails = () =>
    world
      .everywhere("sns")
      .flatMap(({ service }) => [...service.mails.values()])
      .sort((a, b) => a.at.getTime() - b.at.getTime());

  const operations: Record<string, (input: Readonly<Record<string, unknown>>) => object | Promise<object>> = {
    status: async (input) => ({
      pid: process.pid,
      port: port(),
      startedAt,
      memoryBytes: process.memoryUsage.rss(),
      endsAt: endsAt().toISOString(),
      apps: apps(),
      mails: allMails().length,
      resolvesNames: await resolvesNames(),
      proof: proofOf(String(input.nonce), secretKey),
    }),
    /** One app, one folder: a name that another folder has is refused, as two projects would overwrite each other. */
    claim(input) {
      const [name, directory] = [String(input.app), String(input.directory)];
      const owner = folders.get(name);
      if (owner !== undefined && owner !== directory && existsSync(owner) && isInUse(name)) {
        throw new AwsError("AppInUse", JSON.stringify({ app: name, owner, directory }), 409);
      }
      if (input.deploys === true) folders.set(name, directory);
      return {};
    },
    /** Whether the code of a version is as it was deployed; what is not there is not damaged. */
    async whole(input) {
      const [name, number] = [String(input.app), String(input.version)];
      // A change of just now is written first.
      await world.commit();
      const versions = world
        .everywhere("lambda")
        .flatMap(({ service }) => service.state.functions.get(name)?.versions.get(number) ?? []);
      return { isWhole: versions.every(({ code }) => world.isWhole(code.zip)) };
    },
    languages: async () => ({
      languages: await Promise.all(
        RUNTIMES.map(async (runtime): Promise<SandboxLanguage> => ({ runtime, here: await languageHere(runtime) })),
      ),
    }),
    namespaces: async () => ({ refusal: (await refusalOfNamespaces(world.options.unshare)) ?? null }),
    mails: () => ({
      mails: allMails().map(({ at, to, subject, text }): SandboxMail => ({ at: at.toISOString(), to, subject, text })),
    }),
    stop() {
      stop();
      return {};
    },
  };

  return async (operation, input) => {
    const run = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
    if (run === undefined) throw new AwsError("UnknownOperation", `no operation ${operation}`, 404);
    // The changes of a claim are written before it is answered.
    return operation === "claim" ? world.run("Claim", () => run(input)) : run(input);
  };
}
