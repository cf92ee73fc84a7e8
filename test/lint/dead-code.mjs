// Finds unused code: exports that no other file imports, files that nothing reaches, packages that nothing names.
// `node test/lint/dead-code.mjs` prints each with its place; `npm run lint` runs it. Reads the sources as biome formats
// them, by their import and export lines: tools that parse TypeScript have dependencies that `npm ci` refuses.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** The files that are started by their path: by npm, by the bundler, by a process or a thread. */
const ENTRIES = [
  /^cli\/(?:cli|main)\.ts$/,
  /^cli\/commands\/[\w-]+\.ts$/,
  /^cli\/(?:bootstrap\.mjs|build\/[\w-]+\.mjs)$/,
  /^cli\/logs\/scan-worker\.ts$/,
  /^cli\/release\/(?:release|make-container)\.ts$/,
  /^cli\/sandbox\/daemon-process\.ts$/,
  /^cli\/sandbox\/cloud\/lambda\/node-runtime\.ts$/,
  /^logservice\/events\/(?:\w+\/)*[\w-]+-process\.ts$/,
  /^runtime\/lambda\/bootstrap\.ts$/,
  /^language-server\/(?:node|browser)\.ts$/,
  /^vscode-extension\/(?:extension|server-worker|web-extension|web-server-worker)\.ts$/,
  /^logservice\/ui\/(?:app\/main\.tsx|language\/worker\.ts)$/,
  /^schema\/generate\.ts$/,
  /^grammar\/build\/[\w-]+\.ts$/,
  /^grammar\/\w+\/(?:highlight|actions)\.ts$/,
  /^test\//,
  /^examples\//,
];

/** Packages that no module imports. */
const STARTED = {
  "@biomejs/biome": "a command",
  "@microsoft/jest-sarif": "its schema is read as a file",
  "@types/http-proxy": "types",
  "@types/node": "types",
  "@types/pg": "types",
  "@types/polka": "types",
  "@types/vscode": "types of `vscode`, which the editor provides",
  typescript: "a command",
};

/**
 * The findings in a set of sources: `files` maps a path from the root to its text. Files below test may use anything, and
 * their own exports are not looked at.
 */
export function findDeadCode(files) {
  const exported = new Map();
  const used = new Map();
  const imported = new Map();
  const use = (file, name) => {
    used.set(file, (used.get(file) ?? new Set()).add(name));
  };
  for (const [file, text] of files) {
    const source = text.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
    exported.set(file, ownExports(source));
    for (const { specifier, names } of importsIn(source)) {
      if (!specifier.startsWith(".")) continue;
      const target = relative(root, resolve(root, dirname(file), specifier)).replace(/\.js$/, ".ts");
      for (const name of names) use(target, name);
      imported.set(file, [...(imported.get(file) ?? []), target]);
    }
  }
  const isEntry = (file) => ENTRIES.some((entry) => entry.test(file));
  const reached = reachedFrom([...files.keys()].filter(isEntry), imported);
  const findings = [];
  for (const [file, names] of exported) {
    if (isEntry(file) || file.includes(".generated.")) continue;
    if (!used.has(file)) findings.push(`${file}: nothing imports this file`);
    else if (!reached.has(file)) findings.push(`${file}: no command, build or test reaches this file`);
    const users = used.get(file) ?? new Set();
    if (users.has("*")) continue;
    for (const { name, isOfSignature } of names) {
      if (!users.has(name) && !isOfSignature) findings.push(`${file}: nothing imports ${name}`);
    }
  }
  return findings.sort();
}

/** The files that some of `files` import, directly or by others, and these. */
function reachedFrom(files, imported) {
  const reached = new Set(files);
  // A set gives what is added while it is walked.
  for (const file of reached) for (const target of imported.get(file) ?? []) reached.add(target);
  return reached;
}

/** A type is a part of what its file exports if something else there names it, whoever imports it. */
function ownExports(source) {
  const entries = [];
  const declared =
    /^export (?:declare )?(?:async )?(?:abstract )?(const|let|function\*?|class|interface|type|enum) (\w+)/gm;
  for (const [, kind, name] of source.matchAll(declared)) {
    const isType = kind === "interface" || kind === "type";
    entries.push({ name, isOfSignature: isType && source.match(new RegExp(`\\b${name}\\b`, "g")).length > 1 });
  }
  for (const [, list] of source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)) {
    for (const name of namesIn(list, "outer")) entries.push({ name, isOfSignature: false });
  }
  return entries;
}

/** `a, type b as c`: the names as the other file has them (inner), or as this one gives them (outer). */
function namesIn(list, side) {
  return list
    .split(",")
    .map((it) => it.trim().replace(/^type /, ""))
    .filter(Boolean)
    .map((it) => it.split(" as ").at(side === "inner" ? 0 : -1));
}

function importsIn(source) {
  const imports = [];
  const statement =
    /^(?:import|export) (?:type )?(?:(\w+)(?:, )?)?(?:(\*)(?: as \w+)?|\{([^}]*)\})? ?(?:from )?"([^"]+)"/gm;
  for (const [, own, all, list, specifier] of source.matchAll(statement)) {
    const names = [...(all ? ["*"] : []), ...(own ? ["default"] : []), ...(list ? namesIn(list, "inner") : [])];
    imports.push({ specifier, names: names.length > 0 ? names : ["*"] });
  }
  // A module that is imported late is destructured, or one of its exports is taken at once; else it may be all.
  const late =
    /(?:\{([^{}]*)\} = await )?import\(\s*"([^"]+)"\s*\)(?:\)?\.then\(\(\{([^{}]*)\}\)|\)?\.(?!then\b)(\w+))?/g;
  for (const [, before, specifier, then, member] of source.matchAll(late)) {
    const list = (before ?? then)?.replaceAll(": ", " as ");
    imports.push({ specifier, names: member ? [member] : list ? namesIn(list, "inner") : ["*"] });
  }
  for (const [, specifier] of source.matchAll(/new URL\("([^"]+)"/g)) imports.push({ specifier, names: ["*"] });
  return imports;
}

/** Packages of package.json that no source names. */
function unusedPackages(files) {
  const { dependencies, devDependencies, optionalDependencies, scripts } = JSON.parse(
    readFileSync(resolve(root, "package.json"), "utf8"),
  );
  const texts = [...files.values(), ...Object.values(scripts)].join("\n");
  return Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter((name) => !(name in STARTED) && !texts.includes(name))
    .map((name) => `package.json: nothing uses ${name}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const paths = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\0")
    .filter((path) => /\.(?:tsx?|mjs)$/.test(path) && !path.endsWith(".d.ts") && existsSync(resolve(root, path)));
  const files = new Map(paths.map((path) => [path, readFileSync(resolve(root, path), "utf8")]));
  const findings = [...findDeadCode(files), ...unusedPackages(files)];
  for (const finding of findings) console.log(finding);
  console.log(
    findings.length === 0
      ? `${files.size} files without dead code`
      : `${findings.length} finding${findings.length === 1 ? "" : "s"}`,
  );
  process.exitCode = findings.length === 0 ? 0 : 1;
}
