// The rule that answered a request, in the entry of its response.
import { connect } from "node:net";
import t from "tap";
import { type AnsweredRedirect, RedirectTrail } from "../../runtime/redirect-trail.ts";
import { ask, type Project, start } from "../support/runtime.ts";

const project: Project = {
  app: "echo/server.mjs",
  config: {
    static: { dir: "public" },
    redirects: {
      "/old/*": { location: "/new/:splat", status: 301 },
      "/v1/:name": { location: "/v2/:name" },
      "/here": { location: "/page.html", force: true },
      "/page.html": { location: "/elsewhere" },
    },
    cors: { allowed_origins: ["https://shop.example"] },
  },
  files: { "public/page.html": "<p>page</p>" },
};

const html = { Accept: "text/html" };
const preflight = { Origin: "https://shop.example", "Access-Control-Request-Method": "PUT" };

const rows: readonly {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly status: number;
  readonly rule: unknown;
}[] = [
  { path: "/", status: 200, rule: undefined },
  { path: "/old/a%20b", status: 301, rule: { kind: "redirect", pattern: "/old/*" } },
  { path: "/old/a", method: "HEAD", status: 301, rule: { kind: "redirect", pattern: "/old/*" } },
  { path: "/v1/x", status: 200, rule: { kind: "rewrite", pattern: "/v1/:name" } },
  { path: "/v1/x?status=500", headers: html, status: 500, rule: { kind: "rewrite", pattern: "/v1/:name" } },
  { path: "/here", status: 200, rule: { kind: "rewrite", pattern: "/here" } },
  { path: "/page.html", status: 200, rule: { kind: "static" } },
  { path: "/page.html", headers: { "Accept-Encoding": "br" }, status: 200, rule: { kind: "static" } },
  { path: "/page.html", headers: { "If-Match": '"other"' }, status: 412, rule: { kind: "static" } },
  { path: "/?status=503&body=", headers: html, status: 503, rule: { kind: "error page" } },
  { path: "/?status=503&body=", status: 503, rule: undefined },
  { path: "/any", method: "OPTIONS", headers: preflight, status: 204, rule: { kind: "cors preflight" } },
];

t.test("the rule that answered", async (t) => {
  const server = await start(t, project);
  for (const { rule, status, ...request } of rows) {
    const id = `r${server.entries.length}`;
    const response = await ask(server.port, { ...request, headers: { ...request.headers, "X-Request-Id": id } });
    const entry = await server.entry(({ message, fields }) => message === "response" && fields.id === id);
    const name = `${request.method ?? "GET"} ${request.path} ${JSON.stringify(request.headers ?? {})}`;
    t.equal(response.status, status, name);
    t.same(entry.fields.rule, rule, name);
    t.equal("rule" in entry.fields, rule !== undefined, "no empty member");
  }
});

t.test("a folder's slash, and a file that is not there", async (t) => {
  const server = await start(t, { config: { type: "static" }, files: { "folder/index.html": "<p>index</p>" } });
  for (const [path, rule] of [
    ["/folder", { kind: "static" }],
    ["/none", undefined],
  ] as const) {
    await ask(server.port, { path });
    const entry = await server.entry(({ message, fields }) => message === "response" && fields.path === path);
    t.same(entry.fields.rule, rule, path);
  }
});

t.test("a client that leaves before the answer", async (t) => {
  const server = await start(t, project);
  for (const [path, rule] of [
    ["/v1/slow?delay=60000", { kind: "rewrite", pattern: "/v1/:name" }],
    ["/slow?delay=60000", undefined],
  ] as const) {
    const socket = connect(server.port, "127.0.0.1");
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const isOf = (fields: Record<string, unknown>) => `${fields.path}?${fields.query}` === path;
    await server.entry(({ message, fields }) => message === "request" && isOf(fields));
    socket.destroy();
    const entry = await server.entry(({ message, fields }) => message === "response" && isOf(fields));
    t.equal(entry.fields.status, 499, path);
    t.same(entry.fields.rule, rule, path);
  }
});

t.test("a redirect that leads a client back is a loop, once", async (t) => {
  const server = await start(t, {
    app: "echo/server.mjs",
    config: {
      redirects: {
        "/login": { location: "/home?next=1", status: 302 },
        "/a/:x": { location: "/b/:x", status: 302 },
        "/b/:x": { location: "/c/:x", status: 302 },
        "/old": { location: "/new", status: 301 },
      },
    },
  });
  const BACK = "/c/1?status=302&header=location:/a/1";
  const rows: [paths: string[], loops: (true | undefined)[]][] = [
    // The app sends it back.
    [
      [
        "/login",
        "/home?status=302&header=location:/login",
        "/login?x",
        "/home?status=302&header=location:/login",
        "/login",
      ],
      [undefined, undefined, true, undefined, undefined],
    ],
    [
      ["/a/1", "/b/1", BACK, "/a/1", "/b/1", BACK, "/a/1", "/b/1"],
      [undefined, undefined, undefined, true, true, undefined, undefined, undefined],
    ],
    // By another path of the rule.
    [
      ["/a/1", "/b/1", "/c/1?status=302&header=location:/a/2", "/a/2", "/b/2"],
      [undefined, undefined, undefined, undefined, undefined],
    ],
    // Reloaded, not led back.
    [
      ["/old", "/new", "/old", "/new", "/old"],
      [undefined, undefined, undefined, undefined, undefined],
    ],
  ];
  for (const [paths, loops] of rows) {
    const marks: unknown[] = [];
    for (const path of paths) {
      const id = `l${server.entries.length}`;
      await ask(server.port, { path, headers: { "X-Request-Id": id } });
      const entry = await server.entry(({ message, fields }) => message === "response" && fields.id === id);
      marks.push((entry.fields.rule as { loop?: true } | undefined)?.loop);
    }
    t.same(marks, loops, paths.join(" "));
  }
});

t.test("the trail of redirects", (t) => {
  const step = (path: string, location: string, more: object = {}) => ({
    ...{ ip: "192.0.2.1", host: "example.com", path, location, atMs: 0 },
    ...more,
  });
  const rows: [title: string, steps: AnsweredRedirect[], isLoop: boolean][] = [
    ["led back", [step("/a", "/b"), step("/b", "/a"), step("/a", "/b")], true],
    ["relative locations", [step("/x/a", "b"), step("/x/b", "../x/a"), step("/x/a", "b")], true],
    ["over https", [step("/a", "https://example.com/a"), step("/a", "https://example.com/a")], true],
    [
      "by way of another host of the app",
      [
        step("/a", "http://www.example.com/a"),
        step("/a", "//example.com/a", { host: "www.example.com" }),
        step("/a", "/b"),
      ],
      true,
    ],
    ["the path of another host", [step("/a", "http://www.example.com/a"), step("/a", "/b")], false],
    ["another client", [step("/a", "/b"), step("/b", "/a", { ip: "192.0.2.2" }), step("/a", "/b")], false],
    ["at leisure", [step("/a", "/b"), step("/b", "/a"), step("/a", "/b", { atMs: 10_001 })], false],
    ["twice the same", [step("/a", "/b"), step("/a", "/b")], false],
    ["no location", [step("/a", "http://["), step("/a", "http://[")], false],
    ["no host", [step("/a", "/a", { host: undefined }), step("/a", "/a", { host: undefined })], true],
    ["a path that begins with two slashes", [step("//a", "//example.com//a"), step("//a", "/")], true],
  ];
  for (const [title, steps, isLoop] of rows) {
    const trail = new RedirectTrail();
    t.same(steps.map((one) => trail.add(one)).at(-1), isLoop, title);
  }
  const trail = new RedirectTrail();
  trail.add(step("/a", "/a"));
  for (let i = 0; i < 1_000; i++) trail.add(step("/a", `/${i}`, { ip: `${i}` }));
  t.equal(trail.add(step("/a", "/a")), false, "the newest 1,000 are kept");
  t.end();
});

t.test("none with logs.rules off", async (t) => {
  const { config } = project;
  const server = await start(t, { ...project, config: { ...config, logs: { rules: false } } });
  await ask(server.port, { path: "/old/a" });
  const entry = await server.entry(({ message }) => message === "response");
  t.equal(entry.fields.status, 301);
  t.notOk("rule" in entry.fields);
});
