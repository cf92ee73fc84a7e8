// An image of the log service, unpacked and run as a container would run it: in a root of its own that cannot be written to, as
// the image's user, with one folder for the data.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Test } from "tap";
import { root } from "./cli.ts";

/** Arguments: the root, the folder for the data, the user, and the command. */
const RUN = `set -e
mount --bind "$1" "$1"
mount --bind "$2" "$1/data"
mount -t proc none "$1/proc"
mount --bind /dev "$1/dev"
mount -o remount,ro,bind "$1"
image=$1 user=$3
shift 3
exec chroot --userspec="$user" "$image" "$@"`;

interface Config {
  readonly User: string;
  /** NAME=VALUE. */
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
}

export async function tryImage(t: Test, archive: string, folder: string): Promise<void> {
  const image = join(folder, "image");
  const program = join(root, "dist/cli/release/make-container.js");
  execFileSync(process.execPath, [program, "--archive", archive, "--out", image], { stdio: "ignore" });
  const document = (path: string) => JSON.parse(readFileSync(join(image, path), "utf8"));
  const blob = ({ digest }: { readonly digest: string }) => `blobs/${digest.replace(":", "/")}`;
  const manifest = document(blob(document("index.json").manifests[0]));
  const { User, Env, Entrypoint, Cmd }: Config = document(blob(manifest.config)).config;

  const unpacked = join(folder, "image-root");
  mkdirSync(unpacked);
  for (const layer of manifest.layers) execFileSync("tar", ["-xzf", join(image, blob(layer)), "-C", unpacked]);
  // The runtime of containers makes them.
  for (const name of ["proc", "dev"]) mkdirSync(join(unpacked, name));
  const data = join(folder, "image-data");
  mkdirSync(data, { mode: 0o700 });
  const [user = 0, group = 0] = User.split(":").map(Number);
  chownSync(data, user, group);
  const environment = Object.fromEntries(
    Env.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
  const start = (words: readonly string[]) =>
    spawn("unshare", ["--mount", "sh", "-c", RUN, "run", unpacked, data, User, ...Entrypoint, ...words], {
      // The programs that make the root are looked up before it is entered, by the image's PATH after this machine's.
      env: { ...environment, PATH: `${process.env.PATH}:${environment.PATH}` },
      stdio: ["ignore", "pipe", "pipe"],
    });
  const ended = async (child: ChildProcess) => {
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      once(child, "close"),
    ]);
    return { code, stdout, stderr };
  };

  const init = await ended(start(["service", "init", "--data", "/data", "--team", "acme"]));
  t.equal(init.code, 0, init.stderr);
  const outside = await ended(start(["service", "init", "--data", "/elsewhere", "--team", "acme"]));
  t.not(outside.code, 0, "nothing else can be written");
  t.match(outside.stderr, /^error: /);

  // Its own command, at a port that is free here.
  const child = start(Cmd.map((word) => word.replace(/:5000$/, ":0")));
  const end = once(child, "close");
  const address = new Promise<string>((done) => {
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream!.setEncoding("utf8").on("data", (piece: string) => {
        said += piece;
        const [, port] = /http:\/\/[^\s:]+:(\d+)/.exec(said) ?? [];
        if (port !== undefined) done(`http://127.0.0.1:${port}`);
      });
    }
  });
  const url = await Promise.race([address, end.then(() => "")]);
  t.not(url, "", "the service listens");
  const post = (path: string, body: object) =>
    fetch(new URL(path, url), {
      method: "POST",
      headers: { Authorization: `Bearer ${init.stdout.trim()}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  t.equal((await post("/add_project", { project: { id: "app", name: "App" } })).status, 200);
  t.equal((await post("/ingest/app", [{ message: "kept" }])).status, 200);
  const answer = await post("/query", { project_id: "app", query: "select count(*) as n from events" });
  t.equal(answer.status, 200, "SQL, by the engine in a process of its own");
  t.match(await answer.text(), /1/);
  child.kill("SIGTERM");
  t.same(await end, [0, null]);
}
