// The last value that a check takes, and the first that it does not.
import t from "tap";
import { parseQuery, planScan } from "../../grammar/query/index.ts";
import { normalizePath } from "../../grammar/route/path.ts";
import { checkConfig } from "../../schema/index.ts";

const codes = (config: object) =>
  checkConfig(JSON.stringify({ name: "app", ...config })).problems.map(({ code }) => code);

const record = (type: string, value: string) => ({
  dns: { "shop.com": [{ name: "x.shop.com", type, value: [value] }] },
});

t.test("records", (t) => {
  const rows: [type: string, value: string, isTaken: boolean][] = [
    ["MX", "65535 mail.shop.com", true],
    ["MX", "65536 mail.shop.com", false],
    ["SRV", "0 0 65535 a.shop.com", true],
    ["SRV", "0 0 65536 a.shop.com", false],
    ["SRV", "0 0 00000000001 a.shop.com", false],
    ["CAA", '255 issue "ca.example"', true],
    ["CAA", '256 issue "ca.example"', false],
    ["SOA", "ns.shop.com admin.shop.com 4294967295 1 1 1 1", true],
    ["SOA", "ns.shop.com admin.shop.com 4294967296 1 1 1 1", false],
    ["TXT", "x".repeat(4000), true],
    ["TXT", "x".repeat(4001), false],
    ["SPF", "x".repeat(4000), true],
    ["SPF", "x".repeat(4001), false],
    ["A", "255.255.255.255", true],
    ["A", "256.0.0.1", false],
    ["AAAA", "1:2::3:4::5:6:7:8", false],
    ["AAAA", "1:2:3:4:5:6:7::", true],
    ["AAAA", "1:2:3:4:5:6:7:8", true],
    ["AAAA", "1:2:3:4:5:6:7::8", false],
    ["AAAA", "::1:2:3:4:5:6:7:8", false],
    ["AAAA", "1:2:3:4:5::192.0.2.1", true],
    ["AAAA", "1:2:3:4:5:6::192.0.2.1", false],
  ];
  for (const [type, value, isTaken] of rows) {
    const name = `${type} ${value.slice(0, 40)}, ${value.length} characters`;
    t.same(codes(record(type, value)), isTaken ? [] : ["config/dns-value"], name);
  }
  t.end();
});

/** Redirects from /0 to /1 and so on, `count` of them; the last one goes to `end`. */
const chain = (count: number, end: string) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`/${i}`, { location: i === count - 1 ? end : `/${i + 1}`, status: 301 }]),
  );

t.test("redirects that lead to each other", (t) => {
  const rows: [name: string, redirects: object, isLoop: boolean][] = [
    ["to itself", { "/a": { location: "/a", status: 301 } }, true],
    ["a circle of 8", chain(8, "/0"), true],
    ["a chain of 8 with an end", chain(8, "/end"), false],
    [
      "a chain of 8 into a circle of 2",
      { ...chain(8, "/x"), "/x": { location: "/y", status: 302 }, "/y": { location: "/x", status: 302 } },
      true,
    ],
    ["a circle of 20", chain(20, "/0"), true],
    ["a chain of 19 with an end", chain(19, "/end"), false],
    [
      "a circle through another host",
      { "/a": { location: "https://other.example/b", status: 301 }, "/b": { location: "/a", status: 301 } },
      false,
    ],
    [
      "a circle through another host without a scheme",
      { "/a": { location: "//other.example/b", status: 301 }, "/b": { location: "/a", status: 301 } },
      false,
    ],
    ["a circle through a rewrite", { "/a": { location: "/b" }, "/b": { location: "/a", status: 301 } }, false],
  ];
  for (const [name, redirects, isLoop] of rows) {
    t.equal(codes({ redirects }).includes("config/redirect-loop"), isLoop, name);
  }
  t.end();
});

/** With the longest local part, and labels of a domain that are no longer than they may be. */
const address = (length: number) =>
  `${"a".repeat(64)}@${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(length - 197)}.com`;

const OPS = { name: "ops", type: "email", emails: ["ops@example.com"] };

t.test("prefixes, phone numbers, names", (t) => {
  const sms = (number: string) => ({ actions: [{ name: "ops", type: "sms", numbers: [number] }] });
  const rows: [name: string, config: object, expected: string[]][] = [
    ["a prefix", { static: { dir: "public", prefix: "/static/" } }, []],
    ...[":", "*", "?", "#", "\\", " "].map((one): [string, object, string[]] => [
      `${one} in a prefix`,
      { static: { dir: "public", prefix: `/a${one}b/` } },
      ["config/static-prefix"],
    ]),
    ["15 digits", sms("+123456789012345"), []],
    ["16 digits", sms("+1234567890123456"), ["config/phone-number"]],
    ["7 digits", sms("+1234567"), []],
    ["6 digits", sms("+123456"), ["config/phone-number"]],
    ["a zero first", sms("+0123456789"), ["config/phone-number"]],
    ["a period of a minute", { actions: [OPS], alerts: [alert("1m")] }, []],
    ["a period of 90 seconds", { actions: [OPS], alerts: [alert("90s")] }, ["config/whole-minutes"]],
    ["a period of nothing", { actions: [OPS], alerts: [alert("0m")] }, ["config/whole-minutes"]],
    ["40 letters", { name: "a".repeat(40) }, []],
    ["41 letters", { name: "a".repeat(41) }, ["config/name"]],
    ["a mail address of 254", { actions: [{ name: "m", type: "email", emails: [address(254)] }] }, []],
    ["a mail address of 255", { actions: [{ name: "m", type: "email", emails: [address(255)] }] }, ["config/email"]],
  ];
  for (const [name, config, expected] of rows) t.same(codes(config), expected, name);
  t.end();
});

function alert(period: string) {
  return { metric: "http.5xx", statistic: "sum", threshold: 5, period, action: "ops" };
}

t.test("the largest index", (t) => {
  const isValid = (source: string) => parseQuery(source).ok;
  t.equal(isValid("items[4294967294] = 1"), true, "the last index of an array");
  t.equal(isValid("items[4294967295] = 1"), false);
  t.end();
});

t.test("a part of an expression is marked if it is there once", (t) => {
  const marked = (source: string) => {
    const parsed = parseQuery(source);
    const { start, end } = parsed.ok ? { start: 0, end: 0 } : parsed.problems[0]!.span;
    return source.slice(start, end);
  };
  t.equal(marked("message ~ /a(?=b)c/"), "(?=");
  t.equal(marked("message ~ /a(?=b)c(?=d)/"), "/a(?=b)c(?=d)/");
  t.end();
});

t.test("a number with an exponent is left to the predicate", (t) => {
  const parsed = parseQuery("n > 50");
  t.ok(parsed.ok);
  if (!parsed.ok) return t.end();
  const [needle] = planScan(parsed.value, { nowMs: 0 }).needles!;
  const passes = (value: string) => needle!.accepts!(Buffer.from(`{"n":${value}}`), '{"n"'.length);
  t.strictSame(
    [passes("1"), passes("51"), passes("1e3"), passes("1E3"), passes("2.5E2")],
    [false, true, true, true, true],
  );
  t.end();
});

t.test("a redirect to another host leads out of the circle", (t) => {
  const redirects = (first: string) => ({
    redirects: { "/a": { location: first, status: 301 }, "/b": { location: "/a", status: 301 } },
  });
  t.same(codes(redirects("https://other.example.com/b")), []);
  t.not(codes(redirects("/b")).length, 0);
  t.end();
});

t.test("bytes of a path that are no character", (t) => {
  for (const bytes of ["%F4%90%80%80", "%F5%80%80%80", "%C1%81", "%E0%81%A1"]) {
    t.equal(normalizePath(`/${bytes}`).offsets?.length, bytes.length / 3 + 2, `${bytes}: each byte by itself`);
  }
  t.equal(normalizePath("/%F4%8F%BF%BF").text, "/\u{10ffff}", "the last character");
  t.end();
});
