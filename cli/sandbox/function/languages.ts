// Which program of this machine runs a managed runtime, and what an archive for linux x64 needs to run here at all.
import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

export interface LanguageHere {
  /** As the platform calls it: python3.14. */
  readonly runtime: string;
  readonly program: string;
  readonly version: string;
  /** Whether it is the version that the runtime names. */
  readonly matches: boolean;
}

export type RuntimeLanguage = "crystal" | "go" | "java" | "node" | "python" | "static";

/** Why an app of a language cannot run in the sandbox of this machine; undefined if it can. */
export function refusalHere(
  platform: NodeJS.Platform,
  arch: string,
  language: RuntimeLanguage | undefined,
): string | undefined {
  if (platform === "win32") return "the sandbox does not run on Windows itself: run it in WSL";
  if (language === "node" || language === "static" || (platform === "linux" && arch === "x64")) return undefined;
  const what = language === undefined ? "an app of another language" : `a deployment of ${NAMES[language]}`;
  return `${what} is made for linux x64 and does not run on ${platform} ${arch}: use a machine or a container of linux x64`;
}

const NAMES = { crystal: "Crystal", go: "Go", java: "Java", python: "Python" } as const;

/** The code with which a program prints its own path and version: the one in PATH may be a script that looks for it. */
const PYTHON =
  "import platform, sys; print(getattr(sys, '_base_executable', sys.executable)); print(platform.python_version())";

const LIMIT_MS = 10_000;

const languages = new Map<string, Promise<LanguageHere | undefined>>();

/** Undefined if the runtime is none that is managed, or nothing here could run it. Asks each program once. */
export function languageHere(runtime: string): Promise<LanguageHere | undefined> {
  const language = languages.get(runtime) ?? find(runtime);
  languages.set(runtime, language);
  return language;
}

async function find(runtime: string): Promise<LanguageHere | undefined> {
  const [, language, requestedVersion = ""] = /^(nodejs|python|java)([\d.]+?)(?:\.x)?$/.exec(runtime) ?? [];
  const matches = (version: string) => `${version}.`.startsWith(`${requestedVersion}.`);
  if (language === "nodejs") {
    const version = process.versions.node;
    return { runtime, program: process.execPath, version, matches: matches(version) };
  }
  if (language === "python") {
    for (const name of [runtime, "python3", "python"]) {
      const [program, version = ""] = await linesOf(name, ["-c", PYTHON]);
      if (program && /^3\./.test(version)) return { runtime, program, version, matches: matches(version) };
    }
  }
  if (language === "java") {
    const lines = await linesOf("java", ["-XshowSettings:properties", "-version"]);
    const property = (name: string) => lines.find((line) => line.startsWith(`${name} = `))?.slice(name.length + 3);
    const home = property("java.home");
    const version = property("java.version") ?? "";
    if (home) return { runtime, program: join(home, "bin/java"), version, matches: matches(version) };
  }
  return undefined;
}

/** The lines that a program writes; none if it is not there or fails. */
async function linesOf(program: string, args: readonly string[]): Promise<string[]> {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, { timeout: LIMIT_MS });
    return `${stdout}${stderr}`.split("\n").map((line) => line.trim());
  } catch {
    return [];
  }
}

/** Makes a folder for the front of PATH, in which the program has the names by which apps start it. */
export function linkProgram({ runtime, program }: LanguageHere, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const names = runtime.startsWith("python") ? ["python", "python3", runtime] : [/^[a-z]+?(?=js|\d)/.exec(runtime)![0]];
  for (const name of names) symlinkSync(program, join(folder, name));
}
