// Ends what functions run when this process is gone, even by kill -9: a shell that reads from a pipe whose other end only
// this process holds. If somebody ends it, it is started again. Functions are stopped between two requests, and whoever is
// stopped ends by SIGKILL alone.
import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../grammar/units/clock.ts";

/**
 * Gets the folder of all environments, and reads `+ PID` and `- PID` of the first process of each. At the end of the pipe
 * it stops them, what is below them and in their groups, until it finds no more, and then ends all. On Linux it also finds
 * those that left, by the TMPDIR that they were started with or by the folder in which they work.
 */
const SCRIPT = `
trap '' HUP INT TERM
roots=' '
while read -r sign pid; do
  case $sign in
    +) roots="$roots$pid " ;;
    -) case $roots in *" $pid "*) roots="\${roots%%" $pid "*} \${roots#*" $pid "}" ;; esac ;;
  esac
done
processes() {
  if [ -r /proc/self/stat ]; then
    for file in /proc/[0-9]*/stat; do
      { read -r line < "$file"; } 2> /dev/null || continue
      pid=\${line%% *}
      set -- \${line##*) }
      echo "$pid:$2:$3"
    done
  else
    ps -A -o pid=,ppid=,pgid= | while read -r pid parent group; do echo "$pid:$parent:$group"; done
  fi
}
found=$roots
groups=$roots
while :; do
  before=$found
  for one in $(processes); do
    pid=\${one%%:*}
    rest=\${one#*:}
    parent=\${rest%:*}
    group=\${rest#*:}
    case $found in
      *" $pid "*) ;;
      *" $parent "*) found="$found$pid " ;;
      *) case $groups in *" $group "*) found="$found$pid " ;; *) continue ;; esac ;;
    esac
    case $groups in *" $group "*) ;; *) groups="$groups$group " ;; esac
  done
  kill -STOP $found
  [ "$found" = "$before" ] && break
done
kill -KILL $found
for file in $(grep -lsF "TMPDIR=$1/" /proc/[0-9]*/environ); do
  pid=\${file#/proc/}
  kill -KILL "\${pid%/environ}"
done
for round in 1 2; do
  ls -ld /proc/[0-9]*/cwd | grep -F " -> $1/" | while read -r line; do
    pid=\${line#* /proc/}
    kill -KILL "\${pid%%/*}"
  done
done
rm -rf -- "$1"
`;

/** A watchdog that ends sooner than this after its start is not started again before as much time has passed. */
const RESTART_PAUSE_MS = 1_000;

export interface Watchdog {
  /** For the files of environments; removed after the end of this process. */
  readonly folder: string;
  /** How often the shell was started and told whom it watches: once, and again each time that it ended. */
  readonly starts: number;
  watch(pid: number): void;
  forget(pid: number): void;
}

let watchdog: Watchdog | undefined;

/** One for all environments of this process, started with the first. */
export function openWatchdog(): Watchdog {
  watchdog ??= startWatchdog();
  return watchdog;
}

function startWatchdog(): Watchdog {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "tool-functions-")));
  const watched = new Set<number>();
  let pipe: Socket | undefined;
  let starts = 0;
  start();
  return {
    folder,
    get starts() {
      return starts;
    },
    watch(pid) {
      watched.add(pid);
      pipe?.write(`+ ${pid}\n`);
    },
    forget(pid) {
      watched.delete(pid);
      pipe?.write(`- ${pid}\n`);
    },
  };

  function start(): void {
    const startedMs = systemClock.monotonicMs();
    // A session of its own: what ends this process by its group does not end the watchdog.
    const child = spawn("sh", ["-c", SCRIPT, "sh", folder], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      env: { PATH: process.env.PATH },
    });
    child.unref();
    // Somebody ended it, or it could not be started: until the next one functions run without a watchdog.
    let isOver = false;
    const again = () => {
      if (isOver) return;
      isOver = true;
      pipe = undefined;
      const pauseMs = systemClock.monotonicMs() - startedMs < RESTART_PAUSE_MS ? RESTART_PAUSE_MS : 0;
      systemClock.after(pauseMs, start, { isBackground: true });
    };
    child.once("error", again);
    child.once("exit", again);
    const input = child.stdin as Socket;
    input.unref();
    input.on("error", () => {});
    if (child.pid === undefined) return;
    for (const pid of watched) input.write(`+ ${pid}\n`);
    pipe = input;
    starts += 1;
  }
}
