import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Clock } from "../../grammar/units/clock.ts";
import { shellWord } from "../shell-word.ts";
import { TeamError } from "./error.ts";
import { FileLockedError, withFileLock } from "./file-lock.ts";
import { LOGIN } from "./login-command.ts";
import { NO_TEAMS, printTeamConfig, readTeamConfig, type TeamConfig } from "./team-config.ts";

interface Effects {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Takes a remark for people. */
  readonly say: (text: string) => void;
}

/**
 * The file that keeps who is signed in: `$XDG_CONFIG_HOME/tool/config.json` (XDG Base Directory Specification), which only
 * its owner can read. It is replaced as a whole, under a lock, so that readers and a crash see it before or after a change.
 * A symbolic link stays one: the file that it points to is replaced. A file that cannot be read is never written.
 */
export class CredentialsFile {
  readonly path: string;
  readonly #clock: Clock;
  readonly #say: Effects["say"];

  constructor({ env, clock, say }: Effects) {
    const config = env.XDG_CONFIG_HOME?.startsWith("/") ? env.XDG_CONFIG_HOME : join(env.HOME || homedir(), ".config");
    this.path = join(config, "tool", "config.json");
    this.#clock = clock;
    this.#say = say;
  }

  /**
   * The contents of the file; empty if there is no file. Throws a TeamError if it cannot be read, or is another user's.
   */
  read(): TeamConfig {
    return this.#explained("read", () => {
      // A pipe without a writer would block for ever.
      const file = this.#open(constants.O_RDONLY | constants.O_NONBLOCK);
      if (file === undefined) return NO_TEAMS;
      try {
        this.#check(file, fstatSync(file));
        const read = readTeamConfig(readFileSync(file, "utf8").replace(/^\ufeff/, ""));
        if (read.ok) return read.value;
        throw this.#damaged(read.problems[0].message);
      } finally {
        closeSync(file);
      }
    });
  }

  /** Changes what it holds now, which another command may have changed since `read`. Returns what it holds then. */
  async change(make: (now: TeamConfig) => TeamConfig): Promise<TeamConfig> {
    const target = this.#target();
    for (;;) {
      const changed = await withFileLock(
        `${target}.lock`,
        (isHeld) =>
          this.#explained("write", () => {
            const config = make(this.read());
            // The lock guards this name, too: what a killed command left there is replaced.
            const temporary = `${target}.new`;
            writeWhole(temporary, printTeamConfig(config));
            if (!isHeld()) return undefined;
            renameSync(temporary, target);
            syncFolder(dirname(target));
            return config;
          }),
        this.#clock,
      ).catch((error: unknown) => {
        throw this.#explanation("write", error);
      });
      if (changed !== undefined) return changed;
    }
  }

  /** Throws a TeamError if it cannot be changed, before somebody takes the trouble to sign in. */
  async checkChangeable(): Promise<void> {
    this.read();
    await withFileLock(`${this.#target()}.lock`, () => {}, this.#clock).catch((error: unknown) => {
      throw this.#explanation("write", error);
    });
  }

  /** The file to replace, in a folder that is there and is its owner's alone. */
  #target(): string {
    return this.#explained("write", () => {
      const folder = dirname(this.path);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const { mode, uid } = statSync(folder);
      if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(folder, 0o700);
      return realPath(this.path);
    });
  }

  /** Undefined if there is no file. */
  #open(flags: number): number | undefined {
    try {
      return openSync(this.path, flags);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      // Also said of a link to nothing, which must not be taken for nobody signed in.
      if (lstatSync(this.path, { throwIfNoEntry: false }) === undefined) return undefined;
      const hint = `remove the link, or bring the file back: ls -l ${shellWord(this.path)}`;
      throw new TeamError(`${this.path} is a symbolic link to a file that is not there`, hint);
    }
  }

  #check(file: number, { uid, mode, size }: Stats): void {
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) {
      throw new TeamError(`${this.path} is not a file`, `move it away: ${moveAway(this.path)}`);
    }
    // Windows has neither owners nor permission bits.
    if (process.getuid === undefined) return;
    if (uid !== process.getuid()) {
      throw new TeamError(
        `${this.path} belongs to another user`,
        "run this as that user, or set XDG_CONFIG_HOME to a folder of your own",
      );
    }
    if (size > MAX_BYTES) throw this.#damaged("is larger than 1 MB");
    if ((mode & 0o077) === 0) return;
    try {
      fchmodSync(file, 0o600);
      this.#say(`${this.path} could be read by others; now only you can`);
    } catch {
      this.#say(`warning: others can read ${this.path}, which holds tokens: chmod 600 ${shellWord(this.path)}`);
    }
  }

  #damaged(why: string): TeamError {
    return new TeamError(
      `${this.path} ${why}, and is left as it is`,
      `mend it, or move it away and sign in again:\n${moveAway(this.path)}\n${LOGIN}`,
    );
  }

  #explained<T>(verb: "read" | "write", work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#explanation(verb, error);
    }
  }

  #explanation(verb: "read" | "write", error: unknown): unknown {
    if (error instanceof FileLockedError) {
      return new TeamError(
        `another tool command holds ${error.message.split(" is held")[0]}`,
        "run this again; if no other command runs, remove that file",
      );
    }
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof TeamError || code === undefined) return error;
    const why = REASONS[code] ?? code;
    return new TeamError(
      `cannot ${verb} ${this.path}: ${why}`,
      "set XDG_CONFIG_HOME to a folder of your own, or TOOL_CONFIG to what tool team ci prints",
      { cause: error },
    );
  }
}

/** A token has less than a kilobyte. */
const MAX_BYTES = 1024 * 1024;

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  ENOTDIR: "a part of its path is not a folder",
  EEXIST: "a file is in the place of its folder",
  ELOOP: "its symbolic links lead in a circle",
};

/** Where the file really is; the path itself if there is none yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return path;
  }
}

function writeWhole(path: string, text: string): void {
  rmSync(path, { force: true });
  const file = openSync(path, "wx", 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** So that the new name survives a crash of the machine. Not all file systems can do it. */
function syncFolder(path: string): void {
  try {
    const folder = openSync(path, "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    // The rename is done; only a crash within seconds could undo it.
  }
}

const moveAway = (path: string) => `mv ${shellWord(path)} ${shellWord(`${path}.damaged`)}`;
