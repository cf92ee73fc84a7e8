import { access, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { checkConfig, DEFAULT_REGION, MARKER_FILES } from "../../schema/index.ts";
import { CONFIG_FILE } from "../config-file.ts";
import { type Context, EXIT } from "../context.ts";
import { diskDirectory } from "../project/directory.ts";
import { profileNames, profileRegion } from "../project/profile-region.ts";

/** Whether there is no tool.json, and a terminal to ask questions on. */
export async function wantsFirstConfig({ io, directory }: Context): Promise<boolean> {
  if (!io.stdin.isTTY || !io.stderr.isTerminal) return false;
  return access(join(directory, CONFIG_FILE)).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === "ENOENT",
  );
}

/**
 * Asks on the terminal for the app's name, the credentials profile if this machine has any, and the region, and writes a
 * minimal tool.json with them. Ends the command if it writes nothing: the folder contains no app, or a question was
 * answered with Ctrl-C.
 */
export async function writeFirstConfig(
  context: Context,
  { command, isSandbox = false }: { readonly command?: string | undefined; readonly isSandbox?: boolean },
): Promise<void> {
  const { io, directory } = context;
  if (command === undefined && !containsApp(directory)) {
    return context.misuse(
      `there is no app in ${directory}: no ${new Intl.ListFormat("en", { type: "disjunction" }).format([...MARKER_FILES, "server"])}`,
      "run this in the folder of an app, name it with -C, or write one of these files first",
    );
  }
  await context.say(
    `There is no ${CONFIG_FILE} in ${directory}. Answer these questions to create one; Enter accepts the default in brackets.`,
  );
  const config: Record<string, unknown> = {};
  const ask = (question: string, suggestion: string, field: (answer: string) => unknown, name: string) =>
    askUntilValid(context, config, { question, suggestion, field, name });

  const write = async () => {
    await writeFile(join(directory, CONFIG_FILE), `${JSON.stringify(config, null, 2)}\n`, { flag: "wx" });
    await context.say(`${CONFIG_FILE} written.\n`);
  };

  if (!(await ask("Name", suggestName(basename(directory)), (answer) => answer, "name")))
    return context.exit(EXIT.interrupted);
  // The sandbox needs neither an account nor a region.
  if (isSandbox) return write();
  const profiles = profileNames(io.env);
  if (profiles.size > 0) {
    const usual = io.env.CLOUD_PROFILE || (profiles.has("default") ? "default" : [...profiles][0]!);
    await context.say(`  credentials profiles of this machine: ${[...profiles].join(", ")}`);
    if (!(await ask("Profile", usual, (answer) => answer, "profile"))) return context.exit(EXIT.interrupted);
  }
  const { profile } = config as { profile?: string };
  const region =
    io.env.CLOUD_REGION || (profile === undefined ? undefined : profileRegion(profile, io.env)) || DEFAULT_REGION;
  if (!(await ask("Region", region, (answer) => [answer], "regions"))) return context.exit(EXIT.interrupted);

  await write();
}

/** Whether there is anything to start or deploy: a marker file, or the program itself. */
function containsApp(directory: string): boolean {
  const disk = diskDirectory(directory);
  return [...MARKER_FILES, "server"].some((name) => disk.kind(name) === "file");
}

/** Asks until the file is valid with the answer. Returns false for Ctrl-C. */
async function askUntilValid(
  context: Context,
  config: Record<string, unknown>,
  {
    question,
    suggestion,
    field,
    name,
  }: {
    readonly question: string;
    readonly suggestion: string;
    readonly field: (answer: string) => unknown;
    readonly name: string;
  },
): Promise<boolean> {
  for (;;) {
    const answer = await context.io.ask(`${question} (${suggestion}): `);
    if (answer === undefined) return false;
    config[name] = field(answer.trim() || suggestion);
    const { problems } = checkConfig(JSON.stringify(config), { triesFixes: false });
    const error = problems.find(({ severity }) => severity === "error");
    // An unknown region is only a warning, as lists become outdated. It is shown all the same.
    const problem = error ?? problems[0];
    if (problem !== undefined) {
      await context.say(`${problem.message}${problem.hint === undefined ? "" : `\n  ${problem.hint}`}`);
    }
    if (error === undefined) return true;
  }
}

/** The folder's name, reduced to the characters that an app's name may have. */
function suggestName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^[^a-z]+|-+$/g, "")
    .slice(0, 40);
  return name || "my-app";
}
