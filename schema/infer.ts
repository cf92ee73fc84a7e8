import type { Config } from "./config.generated.ts";
import type { Directory } from "./directory.ts";

export type Runtime = "go" | "crystal" | "node" | "java" | "python" | "static";

/** The settings of a project as its marker files tell them. */
export interface Inference {
  /** Undefined if no marker file says it. */
  readonly runtime: Runtime | undefined;
  /** The file that said so. */
  readonly marker: string | undefined;
  readonly type: "server" | "static";
  /** Starts the server; `proxy.command` where that is written. Undefined for a static site. */
  readonly command: string | undefined;
  /** Undefined if there is nothing to build, or `hooks.build` is written. */
  readonly build?: string;
  /** Undefined if the build leaves nothing, or `hooks.clean` is written. */
  readonly clean?: string;
  /** Variables that the server needs, such as the path of its libraries. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Why the app cannot be built, and what to do. */
  readonly note?: string;
}

export interface InferOptions {
  /** Whether for `tool start`, on this machine, rather than for the function platform. */
  readonly development: boolean;
  /** Whether a command is installed; without it the usual ones are taken to be. */
  readonly hasCommand?: (name: string) => boolean;
}

interface Look {
  readonly directory: Directory;
  readonly development: boolean;
  has(command: string): boolean;
}

type Settings = Omit<Inference, "type" | "marker">;

/**
 * First match wins. A Go or Crystal program often carries a package.json for its front end, so that these come before
 * it, other than in the specification's listing.
 */
const MARKERS: readonly { readonly files: readonly string[]; infer(look: Look, marker: string): Settings }[] = [
  { files: ["main.go"], infer: go },
  { files: ["main.cr"], infer: crystal },
  { files: ["package.json"], infer: node },
  { files: ["app.js", "server.js"], infer: (_, marker) => ({ runtime: "node", command: `node ${marker}` }) },
  { files: ["build.gradle", "build.gradle.kts"], infer: gradle },
  { files: ["pom.xml"], infer: maven },
  { files: ["requirements.txt", "app.py"], infer: python },
  { files: ["index.html"], infer: () => ({ runtime: "static", command: undefined }) },
  // Last, as a folder of anything else may hold such a script.
  { files: ["server.py", "main.py"], infer: python },
  // A page's own script has this name, too.
  { files: ["index.js"], infer: (_, marker) => ({ runtime: "node", command: `node ${marker}` }) },
];

/** The files that say what an app is, in the order in which they are looked for. */
export const MARKER_FILES: readonly string[] = MARKERS.flatMap(({ files }) => files);

/** Infers runtime, server command and build from marker files; what tool.json says goes before all of it. */
export function inferRuntime(directory: Directory, config: Config, options: InferOptions): Inference {
  if (config.type === "static") return { runtime: "static", marker: undefined, type: "static", command: undefined };
  const written = config.proxy?.command;
  const look: Look = { directory, development: options.development, has: options.hasCommand ?? (() => true) };
  for (const { files, infer } of MARKERS) {
    const marker = files.find((file) => directory.kind(file) === "file");
    if (marker === undefined) continue;
    // A file that says "server", or how to start one, has no static site.
    if (marker === "index.html" && (config.type === "server" || written !== undefined)) continue;
    const { command, build, clean, note, ...settings } = infer(look, marker);
    const ownBuild = config.hooks?.build !== undefined;
    return {
      ...settings,
      marker,
      type: settings.runtime === "static" ? "static" : "server",
      command: written ?? command,
      ...(build !== undefined && !ownBuild && { build }),
      ...(clean !== undefined && config.hooks?.clean === undefined && { clean }),
      ...(note !== undefined && !ownBuild && { note }),
    };
  }
  return { runtime: undefined, marker: undefined, type: "server", command: written ?? "./server" };
}

function go({ development }: Look): Settings {
  return {
    runtime: "go",
    command: development ? "go run ." : "./server",
    build: "GOOS=linux GOARCH=amd64 CGO_ENABLED=0 go build -o server .",
    clean: "rm -f server",
  };
}

/** Statically linked on Alpine's musl, as the platform has none of the build machine's libraries. */
function crystal({ has }: Look): Settings {
  const settings = { runtime: "crystal", command: "./server", clean: "rm -f server" } as const;
  const container = ["docker", "podman"].find((name) => has(name));
  if (container === undefined) {
    return {
      ...settings,
      note: "building Crystal needs a container runtime (docker or podman), and none is installed: install one, or write hooks.build",
    };
  }
  const compile = "crystal build --release --static -o server main.cr";
  return {
    ...settings,
    build: `${container} run --rm --platform linux/amd64 -v "$PWD":/app -w /app crystallang/crystal:latest-alpine ${compile}`,
  };
}

function node({ directory }: Look, marker: string): Settings {
  const { scripts, main } = packageOf(directory.read(marker));
  return {
    runtime: "node",
    command: scripts.has("start") ? "npm start" : `node ${programOf(directory, main)}`,
    ...(scripts.has("build") && { build: "npm run build" }),
  };
}

/** The program of a package without a start script: npm itself starts server.js then, and `node .` what main names. */
function programOf(directory: Directory, main: string | undefined): string {
  const isFile = (name: string) => directory.kind(name) === "file";
  const named = main?.replace(/^\.\//, "");
  const candidates = [
    "app.js",
    "server.js",
    ...(named !== undefined && PROGRAM.test(named) ? [named] : []),
    "index.js",
  ];
  return candidates.find(isFile) ?? "app.js";
}

/** A path that a shell takes as it is. */
const PROGRAM = /^(?!.*\.\.)[\w][\w./-]*\.[cm]?js$/;

function packageOf(text: string | undefined): {
  readonly scripts: ReadonlySet<string>;
  readonly main: string | undefined;
} {
  try {
    const { scripts, main } = JSON.parse((text ?? "").replace(/^\ufeff/, ""));
    const written = Object.entries(scripts ?? {}).filter(([, script]) => typeof script === "string" && script !== "");
    return { scripts: new Set(written.map(([name]) => name)), main: typeof main === "string" ? main : undefined };
  } catch {
    // npm says what is wrong with its file better than a second opinion could.
    return { scripts: new Set(), main: undefined };
  }
}

function gradle({ directory }: Look): Settings {
  const command = directory.kind("gradlew") === "file" ? "./gradlew" : "gradle";
  return java(`${command} clean build`, "build/libs");
}

function maven({ directory }: Look): Settings {
  const command = directory.kind("mvnw") === "file" ? "./mvnw" : "mvn";
  return java(`${command} -q clean package`, "target");
}

/** Builds leave jars beside the one that runs: the classes alone, sources, documentation, the one before shading. */
function java(build: string, jars: string): Settings {
  const others = String.raw`(-plain|-sources|-javadoc)\.jar$|/original-`;
  return {
    runtime: "java",
    command: "java -jar server.jar",
    build: `${build} && cp "$(ls ${jars}/*.jar | grep -vE '${others}' | head -n 1)" server.jar`,
    clean: "rm -f server.jar",
  };
}

/**
 * The tags of wheels that run on Amazon Linux 2023, whose glibc is 2.34: a wheel has the tag of the oldest one that it
 * runs with, and pip takes the very tags it is told, but for those older than 2014's.
 */
const PLATFORMS =
  "platforms=$(printf ' --platform manylinux_2_%s_x86_64' 34 31 28 27 26 24 17)' --platform manylinux2014_x86_64'";

const PYTHON_PROGRAMS = ["app.py", "server.py", "main.py"] as const;

function python({ directory, development, has }: Look): Settings {
  const interpreter = !has("python") && has("python3") ? "python3" : "python";
  const program = PYTHON_PROGRAMS.find((name) => directory.kind(name) === "file") ?? PYTHON_PROGRAMS[0];
  const settings = {
    runtime: "python",
    command: `${interpreter} ${program}`,
    environment: { PYTHONPATH: ".pypath" },
  } as const;
  if (directory.kind("requirements.txt") !== "file") return settings;
  const pip = `${interpreter} -m pip`;
  // pip replaces nothing that is there already, and bytecode would be that of this machine's Python.
  const install = `${pip} install -r requirements.txt -t .pypath --no-compile`;
  if (development) return { ...settings, build: `rm -rf .pypath; ${install}`, clean: "rm -r .pypath" };
  // Libraries for the platform, not for the developer's machine. Of those published as source alone wheels are made here:
  // pip takes them where they hold nothing that is bound to a machine, and else says which library has none.
  const forPlatform = `${install} --only-binary=:all: --implementation cp --python-version 3.14$platforms`;
  const fromSource = `${pip} wheel -r requirements.txt -w .tool/wheels && ${forPlatform} --find-links .tool/wheels`;
  const hint =
    "a library of requirements.txt has no wheel for Linux on x86-64 with Python 3.14: take another version of it";
  const build = `rm -rf .pypath .tool/wheels; ${PLATFORMS}; ${forPlatform} || { ${fromSource}; } || { echo '${hint}' >&2; false; }`;
  return { ...settings, build, clean: "rm -r .pypath" };
}
