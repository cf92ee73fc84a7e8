// A real browser's reading of the proxy's CORS, injection and compression: the headers are only as good as that.
import { chromium } from "playwright-core";
import t from "tap";
import { HANG_MS } from "../support/hang.ts";
import { requires } from "../support/require.ts";
import { start } from "../support/runtime.ts";

t.test("the proxy's answers in Chromium", { skip: requires("chromium") }, async (t) => {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"],
  });
  t.teardown(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(HANG_MS);
  const outside: string[] = [];
  await page.route(/googletagmanager|segment/, (route) => {
    outside.push(route.request().url());
    return route.fulfill({ contentType: "text/javascript", body: "" });
  });
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(error.message));

  const site = await start(t, {
    config: {
      inject: {
        head: [
          { type: "inline script", value: 'window.first = document.body === null && "</body>".length' },
          { type: "inline style", value: "#styled { width: 123px }" },
          { type: "script", value: "/more.js?a=1&b=2" },
          { type: "comment", value: "a --> b" },
          { type: "analytics", value: "G-1" },
          { type: "tracker", value: "key1" },
        ],
        body: [{ type: "literal", value: '<p id="last">last</p>' }],
      },
    },
    files: {
      "index.html": `<!doctype html><html><head><title>a</title></head><body><div id="styled">ü</div>${"<p>text</p>".repeat(200)}</body></html>`,
      "more.js": "window.more = document.currentScript.src",
    },
  });
  const answer = await page.goto(site.url);
  t.equal(answer!.headers()["content-encoding"], "br", "as for this machine alone without TLS");
  t.equal(await page.evaluate("window.first"), 7);
  t.equal(await page.evaluate("window.more"), `${site.url}/more.js?a=1&b=2`);
  t.equal(await page.evaluate("document.getElementById('styled').offsetWidth"), 123);
  t.equal(await page.evaluate("document.body.lastElementChild.id"), "last");
  t.equal(await page.evaluate("document.getElementById('styled').textContent"), "ü");
  t.equal(await page.evaluate("typeof gtag + dataLayer.length"), "function2");
  t.same(await page.evaluate("JSON.parse(JSON.stringify([...analytics]))"), [["page"]]);
  t.equal(await page.evaluate("analytics.track('x', {}) === analytics && analytics.length"), 2);
  t.same(outside.sort(), [
    "https://cdn.segment.com/analytics.js/v1/key1/analytics.min.js",
    "https://www.googletagmanager.com/gtag/js?id=G-1",
  ]);
  t.same(errors, []);

  const config = (cors: object) => ({ app: "echo/server.mjs", config: { cors } });
  const any = (await start(t, config({ exposed_headers: ["X-Rule"] }))).url;
  const listed = (await start(t, config({ allowed_origins: ["http://127.0.0.1:*"], allowed_methods: ["GET", "PUT"] })))
    .url;
  const other = (await start(t, config({ allowed_origins: ["https://shop.example"] }))).url;
  const rows = [
    { name: "any origin", url: any, init: {}, reads: true },
    { name: "any origin, with credentials", url: any, init: { credentials: "include" }, reads: false },
    { name: "any origin, a method that is not allowed", url: any, init: { method: "PUT" }, reads: false },
    { name: "any origin, a header that is", url: any, init: { headers: { "X-Requested-With": "x" } }, reads: true },
    { name: "any origin, a header that is not", url: any, init: { headers: { "X-Other": "x" } }, reads: false },
    {
      name: "any origin, JSON",
      url: any,
      init: { method: "POST", headers: { "Content-Type": "application/json" } },
      reads: true,
    },
    { name: "a listed origin, with credentials", url: listed, init: { credentials: "include" }, reads: true },
    {
      name: "a listed origin, PUT with credentials",
      url: listed,
      init: { method: "PUT", credentials: "include" },
      reads: true,
    },
    { name: "a listed origin, DELETE", url: listed, init: { method: "DELETE" }, reads: false },
    { name: "another origin", url: other, init: {}, reads: false },
    { name: "an error of the app", url: `${any}/?status=500`, init: {}, reads: true },
  ];
  // A page whose requests are intercepted has its preflight requests answered by the interception.
  const asking = await browser.newPage();
  asking.setDefaultTimeout(HANG_MS);
  await asking.goto(`${site.url}/more.js`);
  for (const { name, url, init, reads } of rows) {
    const seen = await asking.evaluate(
      `fetch(${JSON.stringify(url)}, ${JSON.stringify(init)}).then((r) => r.text()).then((text) => text !== "", () => false)`,
    );
    t.equal(seen, reads, name);
  }
});
