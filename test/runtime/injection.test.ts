// Where the injector inserts, for pages whole and cut anywhere, and the HTML of each type of item.
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import t from "tap";
import { decodedStream } from "../../runtime/content-coding.ts";
import { HtmlInjector } from "../../runtime/html-injector.ts";
import { injectedHtml } from "../../runtime/injected-text.ts";
import { until } from "../support/until.ts";

/** `^` marks where the head items belong, `$` where the body items do. */
const pages: readonly string[] = [
  "<html><head><title>x</title>^</head><body><p>y</p>$</body></html>",
  "^</head>$</body>",
  "<HEAD>^</HEAD><BODY>$</BODY>",
  "<head>^</hEaD ><body>$</BoDy\n>",
  "<head>^</head/><body>$</body\tclass=x>",
  "no page at all",
  "",
  "<",
  "</",
  "</head",
  "<p>a fragment</p>",
  "<head>^</head>",
  "<body>$</body>",
  "<header></header><headx></headx><body>$</body>",
  "</ head></he ad>^</head>",
  "^</head></head>",
  "<body></body><p>more</p>$</body>",
  "</body></body></body>$</body></html>\n",
  "<head><!-- </head> -->^</head><body><!-- </body> -->$</body><!-- </body> -->",
  "<!--></head>-->".replace("</head>", "^</head>"),
  "<!--->^</head>",
  "<!-- --!>^</head>",
  "<!-- -- > </head> --->^</head>",
  "<!---- </head> ---- -->^</head>",
  "<!-- never closed </head></body>",
  '<!doctype html><head><script>let s = "</head>";</script>^</head>',
  '<script>let s = "<body></body>";</SCRIPT ><body>$</body>',
  "<script>a < b; </scriptx> </head></script>^</head>",
  "<script></head>",
  "<script/></head></script>^</head>",
  "<scripty></scripty>^</head>",
  "<style>/* </head> */</style>^</head>",
  "<title></head></title>^</head>",
  "<body><textarea></body></textarea>$</body>",
  "<iframe></body></iframe><xmp></body></xmp><noembed></body></noembed><noframes></body></noframes>$</body>",
  '<meta content="</head>">^</head>',
  "<meta content='</head>' x = \"></head>\">^</head>",
  "<a title=it's></a>^</head>",
  '<a href=a"b></a>^</head>',
  "<a x=>^</head>",
  "<a x=\"a\"y='</head>'z>^</head>",
  '<script src="a>b" async></head></script>^</head>',
  "<?xml version='1.0'?>^</head>",
  "<![CDATA[ </head ]]>^</head>",
  "a < b << c <= d <1 <>^</head>",
  "日本語<head>^</head>日本語$</body>",
  `<body>${"x".repeat(70_000)}$</body>\n</html>`,
  `<body>$</body>${"x".repeat(70_000)}</body>`,
];

const HEAD = Buffer.from("[HEAD]");
const BODY = Buffer.from("[BODY]");

function injectInto(page: Buffer, cuts: readonly number[] = [], head = HEAD, body = BODY): string {
  const injector = new HtmlInjector(head, body);
  const out: Buffer[] = [];
  let from = 0;
  for (const to of [...cuts, page.length]) {
    out.push(...injector.write(page.subarray(from, to)));
    from = to;
  }
  out.push(...injector.end());
  return Buffer.concat(out).toString();
}

/** A page of the table as it comes, and as it should go with only one kind of item or both. */
function expectations(marked: string) {
  const page = Buffer.from(marked.replace(/[\^$]/g, ""));
  const none = Buffer.alloc(0);
  return [
    { page, head: HEAD, body: BODY, expected: marked.replace("^", "[HEAD]").replace("$", "[BODY]") },
    { page, head: HEAD, body: none, expected: marked.replace("^", "[HEAD]").replace("$", "") },
    { page, head: none, body: BODY, expected: marked.replace("^", "").replace("$", "[BODY]") },
    { page, head: none, body: none, expected: page.toString() },
  ];
}

t.test("where the items go", (t) => {
  for (const marked of pages) {
    const title = marked.length > 200 ? `${marked.slice(0, 40)}...${marked.slice(-20)}` : marked;
    for (const { page, head, body, expected } of expectations(marked)) {
      t.ok(injectInto(page, [], head, body) === expected, title);
      if (page.length > 1000) {
        t.ok(injectInto(page, [1000, 65_000, 69_999], head, body) === expected, `${title}, in four chunks`);
        continue;
      }
      const each = Array.from({ length: page.length }, (_, i) => i);
      t.ok(injectInto(page, each, head, body) === expected, `${title}, byte by byte`);
      for (const cut of each) {
        const answer = injectInto(page, [cut], head, body);
        if (answer !== expected) t.equal(answer, expected, `${title}, cut at ${cut}`);
      }
    }
  }
  t.end();
});

t.test("a page in UTF-16 is left as it is", (t) => {
  const page = Buffer.from("\ufeff<head></head><body></body>", "utf16le");
  for (const bytes of [page, Buffer.from(page).swap16(), Buffer.concat([page, Buffer.from("</head></body>")])]) {
    const injector = new HtmlInjector(HEAD, BODY);
    const parts = [...bytes].flatMap((byte) => injector.write(Buffer.from([byte])));
    t.ok(Buffer.concat([...parts, ...injector.end()]).equals(bytes));
    t.equal(injector.hasInserted, false);
  }
  t.end();
});

t.test("any text, cut anywhere, goes as it would in one piece, and nothing is lost", (t) => {
  const piece = fc.constantFrom(
    ..."< > / ! - -- --> <!-- = ' \" a head body script title </head> </body> </HEAD > <script> </script> <p x= <title> </title>".split(
      " ",
    ),
    " ",
    "é",
  );
  const text = fc.array(piece, { maxLength: 40 }).map((parts) => Buffer.from(parts.join("")));
  const cuts = fc.array(fc.nat(200), { maxLength: 8 });
  fc.assert(
    fc.property(text, cuts, (page, at) => {
      const inside = at.filter((cut) => cut <= page.length).sort((a, b) => a - b);
      const whole = injectInto(page);
      if (injectInto(page, inside) !== whole) return false;
      return whole.replace("[HEAD]", "").replace("[BODY]", "") === page.toString();
    }),
    { numRuns: 3000, seed: 1 },
  );
  t.end();
});

t.test("a page is held back no further than it must be", (t) => {
  const injector = new HtmlInjector(HEAD, BODY);
  const write = (text: string) => Buffer.concat(injector.write(Buffer.from(text))).toString();
  t.equal(write("<p>first</p><"), "<p>first</p>");
  t.equal(write("p>second</p></bo"), "<p>second</p>");
  t.equal(write("dy>rest"), "");
  t.equal(write("</body>"), "</body>rest");
  t.equal(Buffer.concat(injector.end()).toString(), "[BODY]</body>");
  const chunk = Buffer.from("<p>text</p>");
  t.equal(new HtmlInjector(HEAD, BODY).write(chunk)[0]!.buffer, chunk.buffer, "parts of the chunk, no copies");
  t.end();
});

t.test("the HTML of an item", (t) => {
  const rows = [
    { type: "literal", value: "<b>&</b>", html: "<b>&</b>" },
    { type: "comment", value: "built on Monday", html: "<!-- built on Monday -->" },
    { type: "comment", value: "a --> b ---- c -", html: "<!-- a - -> b - - - - c - -->" },
    { type: "style", value: "/style.css", html: '<link rel="stylesheet" href="/style.css">' },
    { type: "style", value: '/a?b=1&c="<x>', html: '<link rel="stylesheet" href="/a?b=1&#38;c=&#34;&#60;x&#62;">' },
    { type: "script", value: "/app.js", html: '<script src="/app.js"></script>' },
    { type: "script", value: '"><b>', html: '<script src="&#34;&#62;&#60;b&#62;"></script>' },
    { type: "inline style", value: "p > a { top: 0 }", html: "<style>p > a { top: 0 }</style>" },
    { type: "inline style", value: "</Style>", html: undefined },
    { type: "inline script", value: "a < b && c", html: "<script>a < b && c</script>" },
    { type: "inline script", value: '"<\\/script>"', html: '<script>"<\\/script>"</script>' },
    { type: "inline script", value: "</SCRIPT >", html: undefined },
  ] as const;
  for (const { type, value, html } of rows) t.equal(injectedHtml(type, value), html, `${type}: ${value}`);

  const analytics = injectedHtml("analytics", " G-1\n")!;
  t.match(analytics, '<script async src="https://www.googletagmanager.com/gtag/js?id=G-1"></script>');
  t.match(analytics, 'gtag("config","G-1")');
  const tracker = injectedHtml("tracker", "key1")!;
  t.match(tracker, '"https://cdn.segment.com/analytics.js/v1/key1/analytics.min.js"');
  t.match(tracker, "a.page()");
  for (const type of ["analytics", "tracker"] as const) {
    const html = injectedHtml(type, `</script>"'\\&<!--`)!;
    t.equal(html.match(/<\/script/g)!.length, type === "analytics" ? 2 : 1, `${type}: a key cannot end the script`);
    const [, script = ""] = /<script>(.*)<\/script>$/s.exec(html)!;
    t.doesNotThrow(() => new Function(script), `${type}: the script can be read`);
  }
  t.end();
});

t.test("a body in a coding, while it comes", async (t) => {
  const page = Buffer.from("<p>page</p>".repeat(20_000));
  const parts = (bytes: Buffer, size = 1_000) =>
    Readable.from(
      (async function* () {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
      })(),
      { objectMode: false },
    );
  const whole = async (body: Readable) => Buffer.concat((await body.toArray()) as Buffer[]);
  const noise = createHash("shake256", { outputLength: 50_000 }).update("noise").digest();
  const raw = deflateRawSync(noise);
  const rows = [
    { name: "gzip", bytes: gzipSync(page), codings: ["gzip"], expected: page },
    { name: "one in another", bytes: gzipSync(deflateSync(page)), codings: ["gzip", "deflate"], expected: page },
    { name: "raw deflate", bytes: raw, codings: ["deflate"], asItIs: raw },
    { name: "text", bytes: page, codings: ["br"], asItIs: page },
    {
      name: "text in gzip, said to be deflate in it",
      bytes: gzipSync(page),
      codings: ["gzip", "deflate"],
      asItIs: gzipSync(page),
    },
    { name: "nothing", bytes: Buffer.alloc(0), codings: ["gzip"], asItIs: Buffer.alloc(0) },
  ];
  for (const { name, bytes, codings, expected, asItIs } of rows) {
    for (const size of [1, 1_000, 1_000_000]) {
      if (size === 1 && bytes.length > 5_000) continue;
      const decoded = await decodedStream(parts(bytes, size), codings);
      if ("asItIs" in decoded) t.same(await whole(decoded.asItIs), asItIs, `${name} in parts of ${size}`);
      else t.same(await whole(decoded.body), expected, `${name} in parts of ${size}`);
    }
  }
  const wrong = gzipSync(noise).fill(0xff, 30_000, 30_100);
  const broken = await decodedStream(parts(wrong), ["gzip"]);
  t.ok("body" in broken, "its beginning is sound");
  await t.rejects(whole((broken as { body: Readable }).body), "it breaks off");

  const upstream = new Readable({ read() {} });
  upstream.push(gzipSync(page).subarray(0, 200));
  const cut = decodedStream(upstream, ["gzip"]);
  setImmediate(() => upstream.destroy(new Error("the app closed the connection")));
  const left = await cut;
  t.ok("body" in left);
  await t.rejects(whole((left as { body: Readable }).body), { message: "the app closed the connection" });

  const openUpstream = new Readable({ read() {} });
  openUpstream.push(gzipSync(page));
  const { body } = (await decodedStream(openUpstream, ["gzip"])) as { body: Readable };
  body.destroy();
  await until("whoever gives up the page lets go of the app", () => openUpstream.destroyed);
  t.ok(openUpstream.destroyed, "whoever gives up the page lets go of the app");
});
