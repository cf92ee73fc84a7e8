import { didYouMean } from "../../grammar/did-you-mean.ts";
import { type Fix, quote, type Span } from "../../grammar/problem.ts";
import type { Directory } from "../directory.ts";
import { inferRuntime } from "../infer.ts";
import { memberOf, type Node, type ObjectNode, type StringNode, spanInside } from "../json.ts";
import type { ProblemReport } from "../report.ts";
import { isSecretName, isSecretText } from "./secrets.ts";

/** The commands of a configuration: those of hooks, in the order in which they run, and the one that starts the server. */
export function configuredCommands(root: Node): { readonly node: StringNode; readonly hook: string | undefined }[] {
  const commands: { node: StringNode; hook: string | undefined }[] = [];
  const add = (value: Node | undefined, hook: string | undefined) => {
    for (const node of value?.type === "array" ? value.items : [value]) {
      if (node?.type === "string") commands.push({ node, hook });
    }
  };
  const addOwner = (owner: Node | undefined) => {
    const hooks = memberOf(owner, "hooks")?.value;
    if (hooks?.type === "object") for (const { key, value } of hooks.members) add(value, key.value);
    add(memberOf(memberOf(owner, "proxy")?.value, "command")?.value, undefined);
  };
  addOwner(root);
  const stages = memberOf(root, "stages")?.value;
  if (stages?.type === "object") for (const { value } of stages.members) addOwner(value);
  return commands;
}

/** Secrets that are written into a command: in an assignment, after a flag, in a header, or by their form. */
export function checkCommandSecrets(report: ProblemReport, root: Node) {
  for (const { node, hook } of configuredCommands(root)) {
    // The app and its build get the variables of the stage; the other hooks those of the shell.
    const hint =
      hook === undefined || hook.endsWith("build")
        ? "tool.json is plain text: let the command read a variable, such as $TOKEN, which `tool env add TOKEN -` keeps encrypted"
        : "tool.json is plain text: let the command read a variable of the shell, such as $TOKEN";
    for (const { span, name } of secretsIn(node.value)) {
      const fix = variableFix(node.value, span, name);
      report.warning(
        "config/secret",
        spanInside(report.source, node, span),
        name === undefined ? "the command contains a secret" : `${quote(name)} looks like a secret`,
        { hint, fix: { ...fix, edits: fix.edits.map((edit) => report.editInside(node, edit)) } },
      );
    }
  }
}

/** Reads a secret from a variable: the one that its assignment sets, or one of the name of its flag. */
function variableFix(command: string, { start, end }: Span, name = "TOKEN"): Fix {
  const variable = `$${name.replaceAll("-", "_").toUpperCase()}`;
  // A shell reads no variable between single quotes.
  const isSingle = command[start - 1] === "'" && command[end] === "'";
  const span = isSingle ? { start: start - 1, end: end + 1 } : { start, end };
  const text = isSingle ? `"${variable}"` : variable;
  return { title: `Change to ${variable}, a variable`, edits: [{ span, text }], isSuggestion: true };
}

/** Where secrets are in a command, and their names if they have one. */
export function secretsIn(command: string): { readonly span: Span; readonly name: string | undefined }[] {
  const secrets: { span: Span; name: string | undefined }[] = [];
  const add = (start: number, text: string, name: string | undefined) => {
    const isKnown = secrets.some(({ span }) => span.start < start + text.length && start < span.end);
    if (!isKnown) secrets.push({ span: { start, end: start + text.length }, name });
  };
  // NAME=value, --name=value and --name value, the value in quotes or not.
  const assignments =
    /(?<=^|[\s;&|(])(--?)?([A-Za-z][\w-]*)(=|(?= )(?<=--[\w-]+) +)(?:"([^"]*)"|'([^']*)'|([^\s"';&|]+))/dg;
  for (const { 2: name, 4: double, 5: single, 6: bare, indices } of command.matchAll(assignments)) {
    const value = double ?? single ?? bare!;
    const at = indices![double !== undefined ? 4 : single !== undefined ? 5 : 6]![0];
    // `docker build --secret id=...` names one that is elsewhere.
    if (/^id=/.test(value)) continue;
    if (isSecretName(name!.replaceAll("-", "_"), value)) add(at, value, name);
  }
  for (const match of command.matchAll(/\b(authorization|x-api-key):\s*(?:(?:bearer|basic|token)\s+)?([^\s"']+)/gi)) {
    const [all, name, value] = match;
    if (isSecretName("TOKEN", value!)) add(match.index + all.length - value!.length, value!, name);
  }
  for (const match of command.matchAll(/[^\s"'=;|<>()]+/g))
    if (isSecretText(match[0])) add(match.index, match[0], undefined);
  return secrets.sort((a, b) => a.span.start - b.span.start);
}

/** Commands that run a file or a script of package.json which is not there. Builds make files, so these are warnings. */
export function checkCommandFiles(report: ProblemReport, root: ObjectNode, directory: Directory) {
  const scripts = scriptsOf(directory.read("package.json"));
  const isBuilt =
    scripts?.build !== undefined ||
    ["prebuild", "build", "postbuild"].some((hook) => memberOf(memberOf(root, "hooks")?.value, hook));
  for (const { node, hook } of configuredCommands(root)) {
    for (const words of simpleCommands(node.value)) {
      // A hook may run what the one before it has made.
      const command = { node, words, scripts, directory, mayBeMade: isBuilt || hook !== undefined };
      checkScript(report, command);
      checkProgram(report, command);
    }
  }
}

/**
 * The command that a marker file stands for, where tool.json has none: whether its file is there. What a build makes is
 * not there yet, and another stage may have a command of its own.
 */
export function checkInferredCommand(report: ProblemReport, root: ObjectNode, directory: Directory) {
  if (configuredCommands(root).some(({ hook }) => hook === undefined)) return;
  const { command, marker, build, runtime } = inferRuntime(directory, { name: "" }, { development: false });
  const file = /^(?:node|python3?) (\S+)$/.exec(command ?? "")?.[1];
  if (marker === undefined || file === undefined || directory.kind(file) !== undefined) return;
  const hooks = memberOf(root, "hooks")?.value;
  // Python's build installs libraries; the others' make what is started.
  const isBuilt =
    (build !== undefined && runtime !== "python") ||
    ["prebuild", "build", "postbuild"].some((name) => memberOf(hooks, name) !== undefined);
  if (isBuilt) return;
  const [interpreter] = command!.split(" ");
  const entryFile = serverFile(directory, runtime);
  const proxy = memberOf(root, "proxy");
  const example = `"command": "${interpreter} ${entryFile ?? (runtime === "python" ? "main.py" : "index.js")}"`;
  const at = proxy?.key.span ?? memberOf(root, "type")?.key.span ?? memberOf(root, "name")?.key.span ?? root.span;
  report.warning(
    "config/missing-program",
    at,
    `${quote(marker)} stands for ${quote(command!)}, and there is no ${quote(file)}`,
    {
      hint: `say what starts the server: ${proxy === undefined ? `"proxy": { ${example} }` : `${example} in "proxy"`}`,
    },
  );
}

/** The file that starts the server by another usual name than those that are inferred. */
function serverFile(directory: Directory, runtime: string | undefined): string | undefined {
  const usual = runtime === "python" ? ["wsgi.py", "run.py"] : ["main.js", "index.mjs", "server.mjs"];
  return usual.find((name) => directory.kind(name) === "file");
}

interface Word {
  readonly text: string;
  readonly span: Span;
}

/**
 * The commands of a line as words, without assignments before them. None if the shell does more than run them:
 * another folder, substitutions, globs.
 */
function simpleCommands(command: string): Word[][] {
  if (/[`$*?(){}<\\\n]|(^|[\s;&|])(cd|pushd|eval|source|\.)\s/.test(command)) return [];
  const commands: Word[][] = [];
  let words: Word[] = [];
  for (const match of command.matchAll(/&&|\|\|?|;|&|>+|"[^"]*"|'[^']*'|[^\s;&|>"']+/g)) {
    const [text] = match;
    if (/^[;&|>]/.test(text)) {
      commands.push(words);
      words = [];
      // ">" is followed by a file that is made.
      if (text.startsWith(">")) break;
      continue;
    }
    const isQuoted = /^["']/.test(text);
    const start = match.index + (isQuoted ? 1 : 0);
    const plain = isQuoted ? text.slice(1, -1) : text;
    if (words.length === 0 && /^[A-Za-z_]\w*=/.test(plain)) continue;
    words.push({ text: plain, span: { start, end: start + plain.length } });
  }
  commands.push(words);
  return commands.filter((words) => words.length > 0);
}

/** One command of a line, and what its words may name. */
interface SimpleCommand {
  readonly node: StringNode;
  readonly words: readonly Word[];
  /** The scripts of package.json. */
  readonly scripts: Readonly<Record<string, unknown>> | undefined;
  readonly directory: Directory;
  /** Whether a build or a hook may make the file that is run. */
  readonly mayBeMade: boolean;
}

function checkScript(
  report: ProblemReport,
  { node, words: [program, verb, script], scripts, directory }: SimpleCommand,
) {
  if (scripts === undefined || !/^(npm|pnpm|yarn|bun)$/.test(program!.text) || verb === undefined) return;
  const isRun = /^(run|run-script)$/.test(verb.text);
  const isShort = program!.text === "npm" && /^(start|test|stop|restart)$/.test(verb.text);
  const wanted = isRun ? script : isShort ? verb : undefined;
  // A flag before the script may name another folder.
  if (wanted === undefined || !/^[\w:./-]+$/.test(wanted.text) || wanted.text.startsWith("-")) return;
  if (Object.hasOwn(scripts, wanted.text)) return;
  // npm has a default for these without the script.
  if (wanted.text === "restart" || (wanted.text === "start" && directory.kind("server.js") === "file")) return;
  // bun runs files by the same verb.
  if (program!.text === "bun" && /[./]/.test(wanted.text)) return;
  const names = Object.keys(scripts);
  const near = isRun ? didYouMean(wanted.text, names) : undefined;
  const hint =
    near !== undefined
      ? `did you mean ${quote(near)}?`
      : names.length === 0
        ? `add it to "scripts"`
        : `its scripts are ${names.slice(0, MAX_NAMES).join(", ")}${names.length > MAX_NAMES ? ", ..." : ""}`;
  warn(report, node, wanted, {
    code: "config/missing-script",
    message: `package.json has no script ${quote(wanted.text)}`,
    hint,
    fixed: near,
  });
}

// More do not fit a line.
const MAX_NAMES = 8;

function scriptsOf(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const document: unknown = JSON.parse((text ?? "").replace(/^\ufeff/, ""));
    if (typeof document !== "object" || document === null) return undefined;
    const { scripts = {} } = document as { scripts?: unknown };
    return typeof scripts === "object" && scripts !== null ? (scripts as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Programs whose first word that is not a flag is a file, and what such files end with. */
const INTERPRETERS: readonly (readonly [program: RegExp, file: RegExp])[] = [
  [/^(node|nodemon|ts-node|tsx|bun)$/, /\.([cm]?[jt]s|[jt]sx)$/],
  [/^(python3?|uvicorn|gunicorn)$/, /\.py$/],
  [/^(ruby)$/, /\.rb$/],
  [/^(php)$/, /\.php$/],
  [/^(perl)$/, /\.p[lm]$/],
  [/^(sh|bash|zsh)$/, /\.(sh|bash|zsh)$/],
];

/** Flags that take the next word; `node -e` has no file. */
const TAKES_VALUE = /^(-r|--require|--import|--loader|--env-file|-C|--conditions|-W|-X)$/;
const HAS_NO_FILE = /^(-e|--eval|-p|--print|-c|-m|--test|-)$/;

function checkProgram(
  report: ProblemReport,
  { node, words: [program, ...words], directory, mayBeMade }: SimpleCommand,
) {
  const ending = INTERPRETERS.find(([name]) => name.test(program!.text))?.[1];
  let file: Word | undefined;
  if (ending === undefined) {
    if (program!.text.startsWith("./")) file = program;
  } else {
    for (let i = 0; i < words.length; i++) {
      const { text } = words[i]!;
      if (HAS_NO_FILE.test(text)) return;
      if (TAKES_VALUE.test(text)) i++;
      else if (!text.startsWith("-")) {
        file = words[i];
        break;
      }
    }
    if (file !== undefined && !ending.test(file.text)) return;
  }
  if (file === undefined || /^[/~]|^[A-Za-z]:|:\/\//.test(file.text)) return;
  const path = file.text.replace(/^(\.\/+)+/, "");
  if (path.split("/").includes("..") || directory.kind(path) !== undefined) return;
  const slash = path.lastIndexOf("/") + 1;
  const folder = path.slice(0, slash);
  const names = directory.list?.(folder === "" ? "." : folder.slice(0, -1)) ?? [];
  // One that ends otherwise is another kind of file.
  const end = /\.[^.]*$/.exec(path)?.[0] ?? "";
  const near = didYouMean(
    path.slice(slash),
    names.filter(({ name, kind }) => kind === "file" && name.endsWith(end)).map(({ name }) => name),
  );
  if (near === undefined && (mayBeMade || ending === undefined)) return;
  const fixed = near === undefined ? undefined : file.text.slice(0, file.text.length - path.length) + folder + near;
  const hint =
    near === undefined ? "the path is relative to the folder of tool.json" : `did you mean ${quote(fixed!)}?`;
  warn(report, node, file, {
    code: "config/missing-program",
    message: `there is no file ${quote(file.text)}`,
    hint,
    fixed,
  });
}

interface MissingFile {
  readonly code: "config/missing-script" | "config/missing-program";
  readonly message: string;
  readonly hint: string;
  /** The word that was meant. */
  readonly fixed: string | undefined;
}

function warn(report: ProblemReport, node: StringNode, { span }: Word, { code, message, hint, fixed }: MissingFile) {
  report.warning(code, spanInside(report.source, node, span), message, {
    hint,
    fix:
      fixed === undefined
        ? undefined
        : { title: `Change to ${fixed}`, edits: [report.editInside(node, { span, text: fixed })] },
  });
}
