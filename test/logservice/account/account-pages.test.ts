// The pages of signing in: strict markup without scripts and styles, whatever the texts of others are.
import t from "tap";
import { acceptPage } from "../../../logservice/account/pages/accept.ts";
import { accountPage } from "../../../logservice/account/pages/account.ts";
import { confirmPage } from "../../../logservice/account/pages/confirm.ts";
import { deviceOf } from "../../../logservice/account/pages/device.ts";
import { leavePage } from "../../../logservice/account/pages/leave.ts";
import { linkPage } from "../../../logservice/account/pages/link.ts";
import { signInPage } from "../../../logservice/account/pages/sign-in.ts";
import { waitPage } from "../../../logservice/account/pages/wait.ts";
import { STYLESHEET_PATH } from "../../../logservice/html/document.ts";
import { FAVICON_PATH } from "../../../logservice/html/head.ts";
import { messagePage } from "../../../logservice/html/message.ts";
import { looksLikeLink, shownText } from "../../../logservice/html/shown-text.ts";
import { PAGES_STYLE } from "../../../logservice/html/style.ts";
import { utcTime } from "../../../logservice/html/utc-time.ts";
import { contrast } from "../../support/contrast.ts";

const time = new Date("2026-11-23T14:05:59Z");
const action = "/sign-in/confirm/7f3a";

/** Every page with a text in each of its members. `text` makes the text of a member out of its name. */
const pagesOf = (text: (member: string) => string, form: string): Record<string, string> => ({
  "sign-in": signInPage({
    email: text("email"),
    next: text("next"),
    oidcName: text("oidc"),
    problem: text("problem"),
    form,
    isMailed: true,
    hasEnded: false,
  }),
  "sign-in without mail": signInPage({
    email: text("email"),
    next: "/",
    oidcName: undefined,
    problem: undefined,
    form,
    isMailed: false,
    hasEnded: true,
  }),
  wait: waitPage({ email: text("email"), code: "040813", expiresAt: time, refreshSeconds: 3, isMailed: true }),
  "wait without mail": waitPage({
    email: text("email"),
    code: text("c"),
    expiresAt: time,
    refreshSeconds: 3,
    isMailed: false,
  }),
  confirm: confirmPage({
    email: text("email"),
    device: text("device"),
    address: text("address"),
    startedAt: time,
    triesLeft: 3,
    problem: text("problem"),
    form,
    action,
  }),
  link: linkPage({ email: text("email"), form, action, next: text("next") }),
  leave: leavePage({ name: text("name"), url: `https://login.example.com/authorize?a=1&b=${text("b")}` }),
  accept: acceptPage({
    team: text("team"),
    role: text("role"),
    invitedBy: text("by"),
    email: text("email"),
    signedInAs: text("email"),
    form,
    action,
    signInAction: "/other",
  }),
  "accept as another": acceptPage({
    team: text("team"),
    role: text("role"),
    invitedBy: text("by"),
    email: text("email"),
    signedInAs: text("other"),
    form,
    action,
    signInAction: "/other",
  }),
  "accept, not signed in": acceptPage({
    team: text("team"),
    role: text("role"),
    invitedBy: text("by"),
    email: text("email"),
    signedInAs: undefined,
    form,
    action,
    signInAction: "/other",
  }),
  account: accountPage({
    email: text("email"),
    teams: [{ id: text("id"), name: text("name"), role: text("role"), isCurrent: true }],
    url: "https://logs.example.com",
    isMailed: true,
    form,
    confirmForm: form,
    service: text("version"),
  }),
  "account where no mails are sent": accountPage({
    email: text("email"),
    teams: [],
    url: "https://logs.example.com",
    isMailed: false,
    problem: text("problem"),
    form,
    confirmForm: form,
    service: "1",
  }),
  message: messagePage({
    title: text("title"),
    text: text("text"),
    isProblem: true,
    link: { href: "/sign-in", text: text("link") },
  }),
  "message without a problem": messagePage({ title: text("title"), text: text("text"), isProblem: false }),
});

interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const VOID = new Set(["meta", "link", "input"]);

/** The tags of a page. Throws at what is no markup of ours: each `<` begins a tag, all attributes are in double quotes. */
function tagsOf(page: string): Tag[] {
  const tags: Tag[] = [];
  const open: string[] = [];
  const begin = "<!doctype html>\n";
  if (!page.startsWith(begin)) throw new Error("no doctype");
  for (const piece of page.slice(begin.length).split(/(?=<)/)) {
    const end = /^<\/([a-z][a-z0-9]*)>[^>"]*$/.exec(piece);
    if (end !== null) {
      const expected = open.pop();
      if (expected !== end[1]) throw new Error(`</${end[1]}> ends <${expected}>`);
      continue;
    }
    const start = /^<([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>[^>"]*$/.exec(piece);
    if (start === null) throw new Error(`not a tag: ${piece}`);
    const attributes = [...start[2]!.matchAll(/ ([a-z-]+)(?:="([^"]*)")?/g)].map(([, name, value = ""]) => [
      name!,
      value,
    ]);
    tags.push({ name: start[1]!, attributes: Object.fromEntries(attributes) });
    if (new Set(attributes.map(([name]) => name)).size < attributes.length) throw new Error(`twice: ${piece}`);
    if (!VOID.has(start[1]!)) open.push(start[1]!);
  }
  if (open.length > 0) throw new Error(`not ended: ${open.join(" ")}`);
  return tags;
}

const HOSTILE = [
  `<script>alert(1)</script>`,
  `"><img src=x onerror=alert(1)>`,
  `' onfocus='alert(1)' autofocus='`,
  `</title></main><style>*{display:none}</style>`,
  `<!-- `,
  `]]><svg/onload=alert(1)>`,
  `&lt;b&gt;&#x3c;b&#x3e;`,
  "\u202e\u2066<b>\u0000\ud800",
];

const PLAIN = pagesOf((member) => `plain ${member}`, "token");
const shapeOf = (page: string) =>
  tagsOf(page).map(({ name, attributes }) => `${name} ${Object.keys(attributes).join(" ")}`);

for (const hostile of HOSTILE) {
  t.test(`no markup: ${JSON.stringify(hostile)}`, (t) => {
    for (const [name, page] of Object.entries(pagesOf((member) => `${member}${hostile}`, hostile))) {
      t.same(shapeOf(page), shapeOf(PLAIN[name]!), `${name} has the tags that it always has`);
    }
    t.end();
  });
}

for (const [name, page] of Object.entries(PLAIN)) {
  t.test(`the page: ${name}`, (t) => {
    const tags = tagsOf(page);
    for (const { name, attributes } of tags) {
      t.not(name, "script");
      t.not(name, "style");
      t.notMatch(Object.keys(attributes).join(" "), /\bstyle\b|\bon[a-z]+\b/);
    }
    t.same(tags.find((tag) => tag.name === "html")?.attributes, { lang: "en" });
    t.equal(tags.filter((tag) => tag.name === "h1").length, 1);
    t.ok(tags.some(({ attributes }) => attributes.name === "viewport"));
    t.same(
      tags.filter((tag) => tag.name === "link").map(({ attributes }) => attributes.href),
      [FAVICON_PATH, STYLESHEET_PATH],
    );
    const ids = tags.flatMap(({ attributes }) => attributes.id ?? []);
    t.same(ids, [...new Set(ids)], "an id is there once");
    for (const { attributes } of tags) {
      for (const id of attributes["aria-describedby"]?.split(" ") ?? []) t.ok(ids.includes(id), `${id} is there`);
      if (attributes.for !== undefined) t.ok(ids.includes(attributes.for));
    }
    const labels = tags.flatMap(({ attributes }) => attributes.for ?? []);
    for (const { attributes } of tags.filter((tag) => tag.name === "input" && tag.attributes.type !== "hidden")) {
      t.ok(labels.includes(attributes.id!), `${attributes.name} has a label`);
    }
    const forms = page.split("<form ").slice(1);
    for (const form of forms) {
      t.match(form, /^method="post" action="\/[^"/][^"]*">\n<input type="hidden" name="form" value="token">/);
      t.match(form, /<button/);
    }
    t.end();
  });
}

t.test("a problem is announced, and its field names it", (t) => {
  for (const name of ["sign-in", "confirm"]) {
    const tags = tagsOf(PLAIN[name]!);
    t.same(tags.find(({ attributes }) => attributes.role === "alert")?.attributes.id, "problem");
    const field = tags.find(({ attributes }) => attributes["aria-invalid"] === "true");
    t.match(field?.attributes["aria-describedby"], /^problem /);
  }
  t.notMatch(PLAIN["sign-in without mail"]!, /role="alert"|aria-invalid/);
  t.match(PLAIN.message!, /<p class="problem" role="alert">plain text<\/p>/);
  t.notMatch(PLAIN["message without a problem"]!, /role="alert"/);
  t.end();
});

const FIELDS: readonly (readonly [page: string, name: string, attributes: Readonly<Record<string, string>>])[] = [
  ["sign-in", "email", { type: "email", autocomplete: "email", value: "plain email" }],
  ["sign-in", "next", { type: "hidden", value: "plain next" }],
  ["confirm", "code", { inputmode: "numeric", autocomplete: "one-time-code" }],
  ["confirm", "deny", { formnovalidate: "" }],
];

for (const [page, name, attributes] of FIELDS) {
  t.test(`${page}: the field ${name}`, (t) => {
    const field = tagsOf(PLAIN[page]!).find((tag) => tag.attributes.name === name);
    t.match(field?.attributes, attributes);
    t.end();
  });
}

t.test("the pattern of the code takes it as it is shown and as it is copied", (t) => {
  const field = tagsOf(PLAIN.confirm!).find((tag) => tag.attributes.name === "code");
  const pattern = new RegExp(`^(?:${field?.attributes.pattern})$`, "v");
  for (const code of ["040813", "040 813", " 040813 "]) t.match(code, pattern);
  for (const code of ["04081", "0408130", "04 0813", "o40813"]) t.notMatch(code, pattern);
  t.end();
});

t.test("the way to another site is a page, and leads nowhere but to a site", (t) => {
  const page = leavePage({ name: "Example", url: "https://login.example.com/authorize?a=1&b=\"2;'" });
  const refresh = tagsOf(page).find(({ attributes }) => attributes["http-equiv"] === "refresh");
  t.equal(refresh?.attributes.content, "0; url=https://login.example.com/authorize?a=1&amp;b=%222;%27");
  for (const url of ["javascript:alert(1)", "data:text/html,x", "/sign-in"])
    t.throws(() => leavePage({ name: "Example", url }), TypeError);
  t.end();
});

/** The words of a page, as they are shown. */
const wordsOf = (page: string) =>
  page
    .slice(page.indexOf("</h1>"))
    .replace(/<[^>]*>/g, "")
    .replace(/\s+/g, " ")
    .trim();

const WORDS: readonly (readonly [page: string, words: RegExp])[] = [
  ["sign-in", /Continue or Continue with plain oidc$/],
  ["sign-in without mail", /tool service sign-in &lt;email&gt; --data DIR/],
  [
    "wait",
    /mail to plain email, on any device, and type this code there: 0, 4, 0, 8, 1, 3040813 .* valid until 23 Nov 2026, 14:05 UTC\./,
  ],
  ["confirm", /^plain device at plain address asked to sign in as plain email at 23 Nov 2026, 14:05 UTC\./],
  ["confirm", /Six digits\. 3 tries left\..*Sign in that device This was not me$/],
  ["link", /Sign in as plain email$/],
  ["leave", /^This window goes on to plain name\. Go on now$/],
  ["accept", /^plain by invites plain email to the team plain team as plain role\. Join plain team$/],
  [
    "accept as another",
    /signed in as plain other, and the invitation is for another address\. Sign out, and sign in as plain email$/,
  ],
  ["accept, not signed in", /Sign in as plain email to join$/],
  [
    "account",
    /^To your projects Signed in as plain email\. Teams plain name plain id plain role, current In a terminal tool team login --email &lt;email&gt; --url https:\/\/logs\.example\.com It shows a code; the link comes by mail\. Sign out API reference · version plain version$/,
  ],
  [
    "account where no mails are sent",
    /You belong to no team yet.* plain problem The code that it shows Six digits\. .* Sign in the terminal Sign out API reference/,
  ],
];

for (const [page, words] of WORDS) {
  t.test(`${page} says ${words.source}`, (t) => {
    t.match(wordsOf(PLAIN[page]!), words);
    t.end();
  });
}

t.test("the window that waits loads again", (t) => {
  t.match(PLAIN.wait, /<meta http-equiv="refresh" content="3">/);
  t.notMatch(PLAIN["sign-in"], /refresh/);
  t.end();
});

t.test("who was signed out is told so", (t) => {
  t.match(wordsOf(PLAIN["sign-in without mail"]!), /Your session has ended/);
  t.notMatch(wordsOf(PLAIN["sign-in"]!), /has ended/);
  t.end();
});

t.test("the command to copy has an address that no shell reads", (t) => {
  const page = (email: string) =>
    wordsOf(
      signInPage({
        ...{ email, next: "/", oidcName: undefined, problem: undefined, form: "f" },
        ...{ isMailed: false, hasEnded: false },
      }),
    );
  t.match(page("ana+x@example.com"), /sign-in ana\+x@example\.com --data DIR/);
  for (const email of ["", "$(id)@example.com", "a`id`@example.com", "--owner@example.com", "a@b c", "a@b;id"]) {
    t.match(page(email), /sign-in &lt;email&gt; --data DIR/, email);
  }
  t.end();
});

t.test("the last try is called so", (t) => {
  const page = {
    email: "a@b.c",
    device: "curl",
    address: "::1",
    startedAt: time,
    problem: undefined,
    form: "f",
    action,
  };
  t.match(confirmPage({ ...page, triesLeft: 1 }), /This is the last try\./);
  t.notMatch(confirmPage({ ...page, triesLeft: 2 }), /last try/);
  t.end();
});

t.test("an invitation is accepted as the same address in another case", (t) => {
  const page = { team: "t", role: "admin", invitedBy: "b", form: "f", action, signInAction: "/other" };
  t.match(acceptPage({ ...page, email: "Ana@Example.com", signedInAs: "ana@example.com" }), `action="${action}"`);
  t.match(acceptPage({ ...page, email: "ana@example.com", signedInAs: "ann@example.com" }), `action="/other"`);
  t.match(acceptPage({ ...page, email: "none", signedInAs: "neither" }), `action="/other"`);
  t.end();
});

for (const href of [
  "javascript:alert(1)",
  "//evil.example",
  "/\\evil.example",
  "https://evil.example/",
  "",
  "/a b",
  "/a\n",
]) {
  t.test(`no path of the service: ${JSON.stringify(href)}`, (t) => {
    t.throws(() => messagePage({ title: "t", text: "t", isProblem: false, link: { href, text: "on" } }), TypeError);
    t.throws(() => linkPage({ email: "a@b.c", form: "f", action: href, next: "/" }), TypeError);
    t.end();
  });
}

t.test("a path with parameters is escaped", (t) => {
  t.match(
    linkPage({ email: "a@b.c", form: "f", action: `/x?a=1&b="2"`, next: "/" }),
    `action="/x?a=1&amp;b=&quot;2&quot;"`,
  );
  t.end();
});

const SHOWN_TEXTS: readonly (readonly [input: string, expected: string])[] = [
  ["  Shop \t&\r\n Söhne  ", "Shop & Söhne"],
  ["a\u202eb\u2066c\u200fd\u200be\ufefff", "abcdef"],
  ["a\u0000b\u001b[31mc\u0085", "a\ufffdb\ufffd[31mc\ufffd"],
  ["\ud800x", "\ufffdx"],
  ["e\u0301", "é"],
  [`x${"\u0316".repeat(50)}y`, `x${"\u0316".repeat(4)}y`],
  ["日本語チーム", "日本語チーム"],
  ["x".repeat(80), "x".repeat(80)],
  ["x".repeat(81), `${"x".repeat(79)}…`],
  ["😀".repeat(81), `${"😀".repeat(79)}…`],
];

for (const [input, expected] of SHOWN_TEXTS) {
  t.test(`shown: ${JSON.stringify(input)}`, (t) => {
    t.equal(shownText(input), expected);
    t.end();
  });
}

t.test("a text of a megabyte is shown at once", (t) => {
  // Processor time, which other tests on the machine do not use up.
  const begin = process.cpuUsage();
  t.equal([...shownText("\u200b\u0316 ".repeat(1e6))].length <= 80, true);
  const { user, system } = process.cpuUsage(begin);
  t.ok(user + system < 1_000_000, `${user + system} µs`);
  t.end();
});

for (const text of ["evil.com", "see www.evil.com now", "https://x", "a@b", "evil。com", "mailto:x", "10.0.0.1"]) {
  t.test(`looks like a link: ${text}`, (t) => {
    t.equal(looksLikeLink(text), true);
    t.end();
  });
}

for (const text of ["Acme Inc.", "Shop & Söhne", "R. Roe", "a/b", "Team: one", "..."]) {
  t.test(`looks like no link: ${text}`, (t) => {
    t.equal(looksLikeLink(text), false);
    t.end();
  });
}

const TIMES = [
  ["2026-11-23T14:05:59.999Z", "23 Nov 2026, 14:05 UTC"],
  ["2027-01-01T00:00:00Z", "1 Jan 2027, 00:00 UTC"],
  ["2026-09-09T23:59:00Z", "9 Sep 2026, 23:59 UTC"],
] as const;

for (const [instant, text] of TIMES) {
  t.test(`time: ${instant}`, (t) => {
    t.equal(utcTime(new Date(instant)), text);
    t.end();
  });
}

const DEVICES: readonly (readonly [device: string, userAgent: string | undefined])[] = [
  ["Firefox on Linux", "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"],
  ["Firefox on Windows", "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0"],
  ["Firefox on Android", "Mozilla/5.0 (Android 15; Mobile; rv:144.0) Gecko/144.0 Firefox/144.0"],
  [
    "Firefox on iPhone",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/144.0 Mobile/15E148 Safari/605.1.15",
  ],
  [
    "Chrome on Android",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
  ],
  [
    "Chrome on Windows",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
  ],
  [
    "Chrome on ChromeOS",
    "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
  ],
  [
    "Chrome on Linux",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/142.0.0.0 Safari/537.36",
  ],
  [
    "Chrome on iPad",
    "Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0.7444.46 Mobile/15E148 Safari/604.1",
  ],
  [
    "Safari on iPhone",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1",
  ],
  [
    "Safari on macOS",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15",
  ],
  [
    "Edge on Windows",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
  ],
  [
    "Edge on Android",
    "Mozilla/5.0 (Linux; Android 10; HD1913) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36 EdgA/142.0.0.0",
  ],
  [
    "Opera on macOS",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 OPR/125.0.0.0",
  ],
  [
    "Samsung Internet on Android",
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36",
  ],
  ["tool 0.1.0 on linux", "tool/0.1.0 (linux)"],
  ["tool 1.2.3-beta.1 on win32", "tool/1.2.3-beta.1 (win32)"],
  ["curl", "curl/8.14.1"],
  ["A program on Windows", "Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.19041.4522"],
  ["An unknown device", "python-requests/2.32.3"],
  ["An unknown device", "tool/<b>evil.com</b> (linux)"],
  ["An unknown device", `tool/${"1".repeat(41)} (linux)`],
  ["An unknown device", `Firefox/1 Linux ${"x".repeat(1000)}`],
  ["An unknown device", ""],
  ["An unknown device", undefined],
];

for (const [device, userAgent] of DEVICES) {
  t.test(`${device}: ${userAgent?.slice(0, 160)}`, (t) => {
    t.equal(deviceOf(userAgent), device);
    t.end();
  });
}

/** A part of the stylesheet, as its variables. */
const colorsIn = (style: string) =>
  Object.fromEntries([...style.matchAll(/--([a-z-]+): (#[0-9a-f]+)/g)].map(([, name, color]) => [name!, color!]));
const [lightStyle, darkStyle] = PAGES_STYLE.split("@media (prefers-color-scheme: dark)") as [string, string];

const PAIRS: readonly (readonly [color: string, ground: string, least: number])[] = [
  ["ink", "panel", 4.5],
  ["ink", "tint", 4.5],
  ["soft", "panel", 4.5],
  ["soft", "tint", 4.5],
  ["accent", "panel", 4.5],
  ["on-accent", "accent", 4.5],
  ["error", "panel", 4.5],
  ["edge", "panel", 3],
];

for (const [scheme, colors] of [
  ["light", colorsIn(lightStyle)],
  ["dark", colorsIn(darkStyle)],
] as const) {
  for (const [color, ground, least] of PAIRS) {
    t.test(`${scheme}: ${color} on ${ground} has ${least}:1`, (t) => {
      t.ok(contrast(colors[color]!, colors[ground]!) >= least, `${contrast(colors[color]!, colors[ground]!)}`);
      t.end();
    });
  }
}

t.test("the stylesheet loads nothing", (t) => {
  t.notMatch(PAGES_STYLE, /url\(|@import|expression|<\//);
  t.end();
});
