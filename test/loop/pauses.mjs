// A busy machine, for one test: its whole tree of processes is stopped most of the time.
import { readdirSync, readFileSync } from "node:fs";

const STOPPED_MS = 1_500;
const EACH_MS = 2_500;
/** The first stop, so that files that take less than the others meet one, too. */
const FIRST_MS = 200;

/** Stops the process and all below it for 1.5 s of each 2.5 s, browsers and what left the group too. Linux alone. */
export function pauseTree(pid) {
  /** The processes that were once seen below it: a daemon has another parent later. */
  const tree = new Map([[pid, startOf(pid)]]);
  let resume;
  const stop = () => {
    grow(tree);
    // Again for what was started by those that had not been stopped yet.
    signal(tree, "SIGSTOP");
    grow(tree);
    signal(tree, "SIGSTOP");
    resume = setTimeout(() => signal(tree, "SIGCONT"), STOPPED_MS);
  };
  let each;
  const first = setTimeout(() => {
    stop();
    each = setInterval(stop, EACH_MS);
  }, FIRST_MS);
  return () => {
    clearTimeout(first);
    clearInterval(each);
    clearTimeout(resume);
    signal(tree, "SIGCONT");
  };
}

function grow(tree) {
  const parents = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = statOf(Number(name));
    if (stat !== undefined) parents.push([Number(name), Number(stat[1]), stat[19]]);
  }
  for (let size = -1; size !== tree.size; ) {
    size = tree.size;
    for (const [pid, parent, start] of parents) if (tree.has(parent) && !tree.has(pid)) tree.set(pid, start);
  }
}

const parentOf = (pid) => Number(statOf(pid)?.[1]);

/**
 * Whether a process is a terminal, or its child. script(1) of util-linux never learns of the exit of a child of which it
 * has not yet read that it was stopped, and waits for ever. What that child runs is stopped.
 */
const isTerminal = (pid) => [pid, parentOf(pid)].some((one) => commandOf(one) === "script");

/**
 * Whether zsh or fish runs it. They take a child that was stopped for one that their person has suspended, and wait for `fg`
 * or go on without it; no busy machine tells them that.
 */
const isJob = (pid) => ["zsh", "fish"].includes(commandOf(parentOf(pid)));

function signal(tree, name) {
  for (const [pid, start] of tree) {
    // Another process may have its number by now.
    if (startOf(pid) !== start) tree.delete(pid);
    else if (!isTerminal(pid) && !isJob(pid))
      try {
        process.kill(pid, name);
      } catch {
        tree.delete(pid);
      }
  }
}

function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return undefined;
  }
}

const startOf = (pid) => statOf(pid)?.[19];

/** The fields of proc(5) after the name, which may hold anything: state, parent ..., and 19 more on, when it was started. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}
