// Installs an archive into a prefix and kills itself before a step: prefix, version, archive, and the number of the step,
// from 1. Beyond the last one it ends well. Prints each step.
import { copyFileSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { installRelease } from "../../cli/release/install-release.ts";
import { type Library, libraryOfPrefix } from "../../cli/release/library.ts";

const [prefix = "", version = "", archive = "", last = ""] = process.argv.slice(2);
let steps = 0;
await installRelease(
  libraryOfPrefix(prefix) as Library,
  {
    ...{ version, edition: "pro", kind: "tool", platform: "linux-x64", origin: "https://localhost/repos/acme/tool" },
    file: { edition: "pro", system: "linux-x64", kind: "tool", sha256: "", bytes: 0, name: basename(archive) },
  },
  {
    download: async (path) => copyFileSync(join(archive), path),
    step(name) {
      writeSync(1, `${name}\n`);
      if (++steps === Number(last)) process.kill(process.pid, "SIGKILL");
    },
    env: process.env,
    signal: new AbortController().signal,
  },
);
