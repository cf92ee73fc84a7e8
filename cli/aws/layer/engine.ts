import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PlatformError } from "../../platform/error.ts";

export type Architecture = "x64" | "arm64";

/** The engine that the runtime for Python and Java is compiled with, as packages of the npm registry. */
export interface Engine {
  readonly version: string;
  /** Integrity of each tarball, by package name. */
  readonly integrity: Readonly<Record<string, string>>;
}

/** Pinned to the version that the tests use. Why this engine, and its size, is in runtime/README.md. */
export const ENGINE: Engine = {
  version: "1.4.5",
  integrity: {
    "@oven/bun-linux-x64":
      "sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==",
    "@oven/bun-linux-aarch64":
      "sha512-4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==",
    "@oven/bun-linux-x64-musl":
      "sha512-10QoW/YfTgnURaGEaHpJCiXjLI2e5iTtfVDaA5JKcyUzaa1cq6cVUY9/Uq5XkYzvtRjHLRe9Oj/lTDIQcxy8HQ==",
    "@oven/bun-linux-aarch64-musl":
      "sha512-XCNc+WvvMAdNNb+OWTogpy+N9wm62fkVeEVLb6how0RZhW5LPi6c7BlkeVCuWps7XjEl2saFpHFa20/1E+PAHg==",
    "@oven/bun-darwin-x64":
      "sha512-qkLPMGHZM9NI6CeHTWwVezzmlo6cC4Ta7yUAjYIWXS366qQcOlcp75t2uZyiuVRBMPS0h9qE0tCcvCHGaFqjJg==",
    "@oven/bun-darwin-aarch64":
      "sha512-4MIFXHmctH2EhAxLXm2/qxNtv17dFtLJylvaOCsrgq6KSqHTs6eW5YSrJjRbJxYUJaR901fsN8JfZOa+CsWpWQ==",
  },
};

/** How the packages call an architecture. */
const WORDS: Readonly<Record<string, string>> = { x64: "x64", arm64: "aarch64" };

/** The machine that compiles. */
export interface BuildMachine {
  readonly platform: string;
  readonly arch: string;
  /** Linux without glibc, such as Alpine. */
  readonly isMusl: boolean;
}

export function thisMachine(): BuildMachine {
  const report = process.report?.getReport() as { header?: { glibcVersionRuntime?: string } } | undefined;
  return {
    platform: process.platform,
    arch: process.arch,
    isMusl: process.platform === "linux" && report?.header?.glibcVersionRuntime === undefined,
  };
}

/** The package that compiles on this machine; undefined if there is none. */
export function builderPackage({ platform, arch, isMusl }: BuildMachine, engine: Engine): string | undefined {
  const name = `@oven/bun-${platform}-${WORDS[arch] ?? arch}${isMusl ? "-musl" : ""}`;
  return Object.hasOwn(engine.integrity, name) ? name : undefined;
}

/** The package whose executable becomes part of the runtime. Lambda's systems have glibc. */
export function runnerPackage(target: Architecture): string {
  return `@oven/bun-linux-${WORDS[target]}`;
}

/** Where the executable of an installed package is. */
export function engineBinary(folder: string, name: string): string {
  return join(folder, "node_modules", name, "bin/bun");
}

export interface InstallOptions {
  readonly engine: Engine;
  readonly packages: readonly string[];
  /** An empty folder. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/**
 * Downloads packages of the engine with npm, which knows the user's registry, proxy and certificates. The lockfile contains
 * their integrity, so npm refuses anything else. No scripts are run.
 */
export async function installEngine({ engine, packages, folder, env, signal }: InstallOptions): Promise<void> {
  const project = { name: "engine", version: "0.0.0", private: true };
  const dependencies = Object.fromEntries(packages.map((name) => [name, engine.version]));
  const locked = packages.map((name) => {
    const file = `${name.slice(name.indexOf("/") + 1)}-${engine.version}.tgz`;
    // npm replaces this host by that of the configured registry.
    const resolved = `https://registry.npmjs.org/${name}/-/${file}`;
    return [`node_modules/${name}`, { version: engine.version, resolved, integrity: engine.integrity[name] }] as const;
  });
  const lock = {
    ...project,
    lockfileVersion: 3,
    requires: true,
    packages: { "": { ...project, dependencies }, ...Object.fromEntries(locked) },
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...project, dependencies }));
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
  // --force: one of the packages may be for another system.
  const words = ["ci", "--ignore-scripts", "--force", "--no-audit", "--no-fund", "--prefer-offline", "--global=false"];
  await new Promise<void>((resolve, reject) => {
    execFile("npm", words, { cwd: folder, env, signal, maxBuffer: 16 * 1024 * 1024 }, (error, _, stderr) => {
      if (error === null) resolve();
      else reject(signal.aborted ? error : explainInstall(error, stderr));
    });
  });
}

/** Codes of npm and of the system for network failures. */
const NETWORK =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED|FETCH_ERROR)\b/;

function explainInstall(error: Error, stderr: string): PlatformError {
  const needs = "deploying Python and Java needs a runtime that is built once on this machine";
  if ((error as NodeJS.ErrnoException).code === "ENOENT") {
    return new PlatformError(
      "runtime/no-npm",
      `${needs}, and npm, which downloads its engine, is not installed`,
      "install npm (it comes with Node), then deploy again",
      { cause: error },
    );
  }
  const said = stderr.split("\n").find((line) => /^npm (error|ERR!) (?!code|errno|A complete log)/.test(line));
  const reason = said?.replace(/^npm (error|ERR!) /, "") ?? "npm gives no reason";
  if (/\bEINTEGRITY\b/.test(stderr)) {
    return new PlatformError(
      "runtime/integrity",
      `${needs}, and what the registry sent is not its engine: the checksum differs`,
      "check the registry that npm uses (npm config get registry), or run npm cache verify; none of it was run",
      { cause: new Error(reason) },
    );
  }
  if (NETWORK.test(stderr)) {
    return new PlatformError(
      "runtime/unreachable",
      `${needs}, and its engine cannot be downloaded: the npm registry cannot be reached`,
      "connect to the network and deploy again; npm config get registry and npm config get proxy say what npm uses",
      { cause: new Error(reason) },
    );
  }
  return new PlatformError(
    "runtime/npm-failed",
    `${needs}, and npm cannot install its engine: ${reason}`,
    "fix that, then deploy again",
    { cause: error },
  );
}
