import { execFile } from "node:child_process";
import type { Commit } from "../platform/target.ts";

/** A repository on a slow disk answers within a second; one that asks for something must not keep a deploy. */
const GIT_TIMEOUT_MS = 10_000;

/** A folder of a hundred thousand new files. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/**
 * What Git says about the commit that a folder has checked out; undefined outside a repository, before the first commit,
 * and where there is no Git. Files that Git does not know make a folder dirty as well: they are deployed.
 */
export async function readCommit(
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Commit | undefined> {
  const git = (...args: string[]) => run(args, directory, env);
  // One process for most of it. %an last: a name may hold anything but a line's end.
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

/** What it prints, without the last newline; undefined where it fails, or is not there. */
function run(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(
      "git",
      args,
      // No locks, so that it disturbs no other Git; no questions on the terminal.
      {
        cwd,
        env: { ...env, GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0" },
        timeout: GIT_TIMEOUT_MS,
        maxBuffer: MAX_OUTPUT_BYTES,
      },
      (error, stdout) => resolve(error === null ? stdout.replace(/\n$/, "") : undefined),
    );
  });
}
