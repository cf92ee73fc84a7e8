import { execFile } from "node:child_process";
import type { Commit } from "../platform/target.ts";
import { withoutSecrets } from "../without-secrets.ts";

/** Git takes a second on a slow disk. If it waits for something, the deploy must not. */
const GIT_TIMEOUT_MS = 10_000;

/** Enough for a hundred thousand new files. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/**
 * The commit that is checked out in a folder; undefined outside a repository, before the first commit, and without Git.
 * Untracked files make a folder dirty, too, as they are deployed.
 */
export async function readCommit(
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Commit | undefined> {
  const git = (...args: string[]) => run(args, directory, env);
  // One process for most of it. %an is last, as a name may contain anything but a line end.
  const head = await git("log", "-1", "--no-show-signature", "--format=%H%n%h%n%an");
  if (head === undefined) return undefined;
  const [sha = "", short = "", author = ""] = head.split("\n");
  const [status, tags] = await Promise.all([
    git("status", "--porcelain", "--untracked-files=normal", "--", "."),
    git("tag", "--points-at", "HEAD", "--sort=-creatordate"),
  ]);
  const isDirty = status !== undefined && status.trim() !== "";
  const tag = tags?.split("\n")[0];
  return { ref: `${tag || short}${isDirty ? "-dirty" : ""}`, sha, isDirty, author: author || undefined };
}

/** The output of Git, without the last newline; undefined if it fails or is not installed. */
function run(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(
      "git",
      args,
      // No locks, which could disturb another Git; no prompts on the terminal.
      {
        cwd,
        env: { ...withoutSecrets(env), GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0" },
        timeout: GIT_TIMEOUT_MS,
        maxBuffer: MAX_OUTPUT_BYTES,
      },
      (error, stdout) => resolve(error === null ? stdout.replace(/\n$/, "") : undefined),
    );
  });
}
