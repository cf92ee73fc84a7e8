// Files that change while they are served, and the bounds of what is kept of them. The rows on answers are in
// vectors/http*.json.
import { mkdirSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import t from "tap";
import { systemClock } from "../../grammar/units/clock.ts";
import { FileCache, MAX_CACHE_BYTES, MAX_CACHED_FILE_BYTES, versionOf } from "../../runtime/file-cache.ts";
import { apps, ask, MODIFIED, makeProject, start } from "../support/runtime.ts";
import { TestClock } from "../support/test-clock.ts";
import { until } from "../support/until.ts";

/** Longer than a tick of the file system's clock, so that what was written is kept in memory. */
const settled = () => new Promise((done) => setTimeout(done, 40));

t.test("a change is served at once, however it was made", async (t) => {
  const server = await start(t, { files: { "a.txt": "one", "b.txt": "bee", "outside.txt": "x" } });
  const path = join(server.directory, "a.txt");
  const get = async (headers: Record<string, string> = {}) => {
    const { status, body } = await ask(server.port, { path: "/a.txt", headers });
    return `${status} ${body}`;
  };
  const kept = async () => {
    await settled();
    const first = await get();
    t.equal(await get(), first, "the same again");
    return first;
  };
  t.equal(await kept(), "200 one");

  writeFileSync(path, "two");
  t.equal(await get(), "200 two", "same size");
  utimesSync(path, MODIFIED, MODIFIED);
  await kept();
  writeFileSync(path, "six");
  utimesSync(path, MODIFIED, MODIFIED);
  t.equal(statSync(path).mtimeMs, MODIFIED.getTime());
  t.equal(await get(), "200 six", "same size, same time of modification");
  await kept();

  writeFileSync(`${path}.new`, "new");
  renameSync(`${path}.new`, path);
  t.equal(await get(), "200 new", "another file in its place");
  await kept();

  writeFileSync(`${path}.br`, brotliCompressSync("packed"));
  const packed = await ask(server.port, { path: "/a.txt", headers: { "Accept-Encoding": "br" } });
  t.same(packed.body, brotliCompressSync("packed"), "a sibling that came");
  await settled();
  await get({ "Accept-Encoding": "br" });
  rmSync(`${path}.br`);
  t.equal(await get({ "Accept-Encoding": "br" }), "200 new", "a sibling that went");
  await kept();

  rmSync(path);
  t.match(await get(), /^404 /, "gone");
  symlinkSync("b.txt", path);
  t.equal(await kept(), "200 bee", "a link inside");
  rmSync(path);
  symlinkSync("/etc/hostname", path);
  t.match(await get(), /^404 /, "a link out of the folder");
  rmSync(path);
  mkdirSync(path);
  t.match(await get(), /^404 /, "a folder");
  writeFileSync(join(path, "index.html"), "index");
  t.match(await get(), /^301 /, "a folder with a page");
  rmSync(path, { recursive: true });
  writeFileSync(path, "end");
  t.equal(await get(), "200 end");
});

t.test("injected files and pages change alike", async (t) => {
  const server = await start(t, {
    config: { inject: { body: [{ type: "literal", file: "note.html" }] } },
    files: { "index.html": "<body></body>", "note.html": "one" },
  });
  const get = async () => (await ask(server.port, { path: "/" })).body.toString();
  const write = (name: string, text: string) => writeFileSync(join(server.directory, name), text);
  await settled();
  t.equal(await get(), "<body>one</body>");
  write("note.html", "three");
  t.equal(await get(), "<body>three</body>");
  write("index.html", "<p></p><body></body>");
  t.equal(await get(), "<p></p><body>three</body>");
  rmSync(join(server.directory, "note.html"));
  t.equal(await get(), "<p></p><body></body>");
  await get();
  const left = server.entries.filter(({ message }) => message === "injection is left out");
  t.match(left, [{ level: "error", fields: { file: "note.html", reason: /ENOENT/ } }], "said once");
  write("note.html", "back");
  t.equal(await get(), "<p></p><body>back</body>");
});

t.test("what is kept is bounded, and goes by age of use", async (t) => {
  const bytes = 200_000;
  const names = Array.from({ length: 250 }, (_, i) => `${i}.bin`);
  const directory = makeProject({
    ...Object.fromEntries(names.map((name) => [name, { bytes }])),
    "large.bin": { bytes: MAX_CACHED_FILE_BYTES + 1 },
  });
  t.teardown(() => rmSync(directory, { recursive: true }));
  await settled();
  const cache = new FileCache(systemClock);
  const put = async (name: string) => {
    const path = join(directory, name);
    const file = { plain: versionOf(path)!, siblings: new Map(), contents: new Map() };
    cache.set(path, file, []);
    return cache.content(path, file, file.plain);
  };
  const has = (name: string) => cache.get(join(directory, name)) !== undefined;
  for (const name of names) {
    t.equal((await put(name))?.length, bytes);
    t.ok(cache.bytes <= MAX_CACHE_BYTES, `${cache.bytes} bytes`);
    t.ok(has("0.bin"), "what is asked for stays");
  }
  t.ok(cache.bytes > MAX_CACHE_BYTES - 2 * bytes, "it is made use of");
  t.notOk(has("1.bin"));
  t.ok(has("249.bin"));
  t.equal(await put("large.bin"), undefined, "a large file is streamed");
  rmSync(join(directory, "249.bin"));
  const before = cache.bytes;
  t.notOk(has("249.bin"));
  t.ok(cache.bytes < before, "what is gone is let go of");

  const fresh = join(directory, "fresh.bin");
  writeFileSync(fresh, "x");
  const { ctimeMs } = statSync(fresh);
  for (const { ageMs, isKept } of [
    { ageMs: 3, isKept: false },
    { ageMs: 3_000, isKept: true },
  ]) {
    const young = new FileCache(new TestClock(ctimeMs + ageMs));
    young.set(fresh, { plain: versionOf(fresh)!, siblings: new Map(), contents: new Map() }, []);
    t.equal(young.get(fresh) !== undefined, isKept, `written ${ageMs} ms ago: it may change within the same tick`);
  }
});

t.test("what the app's command names is never served", async (t) => {
  const app = `import ${JSON.stringify(join(apps, "echo/server.mjs"))};`;
  const rows = [
    { command: "exec node dist/server.mjs", dir: "dist", name: "server.mjs" },
    {
      command: "cd dist && exec node ./server",
      dir: "dist",
      name: "server.js",
      extra: { "package.json": '{"type":"module"}' },
    },
    {
      command: "npm start",
      dir: "dist",
      name: "main.mjs",
      extra: { "package.json": '{"scripts":{"start":"exec node dist/main.mjs"}}' },
    },
    {
      command: "exec node dist/pages",
      dir: "dist",
      name: "pages/index.js",
      extra: { "package.json": '{"type":"module"}' },
    },
  ];
  for (const { command, dir, name, extra } of rows) {
    const files = { [`${dir}/${name}`]: app, [`${dir}/other.js`]: "other", ...extra };
    const server = await start(t, { config: { static: { dir } }, command, files, env: { NODE_NO_WARNINGS: "1" } });
    const get = async (path: string) => (await ask(server.port, { path })).body.toString();
    t.match(await get(`/${name}`), new RegExp(`"url":"/${name}"`), `${command}: the app answers`);
    t.equal(await get("/other.js"), "other", `${command}: others are served`);
    await server.close();
  }
});

t.test("a change of .toolignore holds for files that are in memory", async (t) => {
  const server = await start(t, { files: { "a.txt": "one", "b.txt": "bee" } });
  const status = async (path: string) => (await ask(server.port, { path })).status;
  await settled();
  t.equal(await status("/a.txt"), 200);
  t.equal(await status("/a.txt"), 200);
  writeFileSync(join(server.directory, ".toolignore"), "a.*\n");
  await until("the rule holds", async () => (await status("/a.txt")) === 404);
  t.equal(await status("/b.txt"), 200);
  rmSync(join(server.directory, ".toolignore"));
  await until("the rule is gone", async () => (await status("/a.txt")) === 200);
});

t.test("a file that is there and not served is named once, where nobody else answers", async (t) => {
  const files = {
    "data.sqlite": "secret",
    "app.js": "js",
    "own.txt": "x",
    ".env": "x",
    "page.html": "page",
    ".toolignore": "page.html",
  };
  const server = await start(t, { config: { static: {} }, app: "echo/server.mjs", files, isDevelopment: true });
  const statuses = [];
  for (const path of [
    "/data.sqlite?status=404",
    "/data.sqlite?status=404",
    "/app.js?type=text/html",
    "/own.txt",
    "/.env?status=404",
    "/page.html?status=404",
    "/none.txt?status=404",
  ]) {
    statuses.push((await ask(server.port, { path })).status);
  }
  t.same(statuses, [404, 404, 200, 200, 404, 404, 404]);
  const named = server.entries.filter(({ message }) => message === "file is not served");
  const pages =
    'a server app without a static.dir of its own shows pages, styles, images, fonts and media only: write "dir": "public" for others';
  t.same(
    named.map(({ level, fields }) => [level, fields.path, fields.reason]),
    [
      ["warn", "/data.sqlite", pages],
      ["warn", "/app.js", pages],
      ["warn", "/.env", ".env begins with a dot"],
      ["warn", "/page.html", ".toolignore leaves it out (line 1: page.html)"],
    ],
  );
});
