// Hosts by their spelling: what is this machine itself, an IP address, or in a network.
import { isIP } from "node:net";
import fc from "fast-check";
import t from "tap";
import { parseIp, unmapped } from "../../../grammar/address/ip.ts";
import { isLoopback } from "../../../grammar/address/loopback.ts";
import { isIn, parseNetwork } from "../../../grammar/address/network.ts";

/** A host, and whether it is loopback. */
const HOSTS: readonly (readonly [host: string, isLoopback: boolean])[] = [
  // Names.
  ["localhost", true],
  ["LOCALHOST", true],
  ["LocalHost", true],
  ["x.localhost", true],
  ["a.b.localhost", true],
  ["a_b.localhost", true],
  ["xn--mnchen-3ya.localhost", true],
  ["X.LOCALHOST", true],
  ["localhost.", false],
  ["x.localhost.", false],
  ["localhost..", false],
  [".localhost", false],
  ["a..localhost", false],
  ["notlocalhost", false],
  ["localhost.evil.com", false],
  ["localhost.localdomain", false],
  ["localhost:80", false],
  ["user@localhost", false],
  ["[localhost]", false],
  [" localhost", false],
  ["localhost ", false],
  ["localhost\n", false],
  ["a b.localhost", false],
  ["a/b.localhost", false],
  [`${"a".repeat(63)}.localhost`, true],
  [`${"a".repeat(64)}.localhost`, false],
  // IDN: `URL` writes these in ASCII.
  ["münchen.localhost", false],
  ["ｌｏｃａｌｈｏｓｔ", false],
  ["localhoſt", false],
  ["x。localhost", false],
  // IPv4.
  ["127.0.0.1", true],
  ["127.0.0.0", true],
  ["127.0.0.2", true],
  ["127.255.255.255", true],
  ["126.255.255.255", false],
  ["128.0.0.0", false],
  ["0.0.0.0", false],
  ["10.0.0.1", false],
  ["127", false],
  ["127.1", false],
  ["127.0.1", false],
  ["0177.0.0.1", false],
  ["127.0.0.01", false],
  ["0x7f.0.0.1", false],
  ["0x7f000001", false],
  ["2130706433", false],
  ["127.0.0.256", false],
  ["127.0.0.1.", false],
  ["127.0.0.1.1", false],
  ["127.0.0.1.evil.com", false],
  ["127.evil.com", false],
  ["127.0.0.1:80", false],
  ["127.0.0.1%lo", false],
  ["[127.0.0.1]", false],
  ["１２７.0.0.1", false],
  // IPv6.
  ["::1", true],
  ["[::1]", true],
  ["0:0:0:0:0:0:0:1", true],
  ["[0:0:0:0:0:0:0:1]", true],
  ["::0001", true],
  ["0::1", true],
  ["::0.0.0.1", true],
  ["::", false],
  ["[::]", false],
  ["::2", false],
  ["1::", false],
  ["::1:1", false],
  ["::1%lo", false],
  ["[::1%lo]", false],
  ["[::1%25lo]", false],
  ["fe80::1%lo0", false],
  ["::ffff:127.0.0.1", false],
  ["[::ffff:127.0.0.1]", false],
  ["::ffff:7f00:1", false],
  ["::127.0.0.1", false],
  ["[::1", false],
  ["::1]", false],
  ["[[::1]]", false],
  ["[::1]:80", false],
  ["::00001", false],
  [":::1", false],
  ["::1::", false],
  // Nothing.
  ["", false],
  [".", false],
  ["[]", false],
  ["%", false],
];

t.test("loopback", (t) => {
  for (const [host, expected] of HOSTS) t.equal(isLoopback(host), expected, JSON.stringify(host));
  t.end();
});

t.test("as URL writes them", (t) => {
  for (const [host, expected] of [
    ["127.1", true],
    ["0177.0.0.1", true],
    ["0x7f000001", true],
    ["LOCALHOST", true],
    ["ｌｏｃａｌｈｏｓｔ", true],
    ["münchen.localhost", true],
    ["[0::1]", true],
    ["127.0.0.1.", true],
    ["localhost.", false],
    ["[::ffff:127.0.0.1]", false],
    ["127.0.0.1.evil.com", false],
    ["0", false],
  ] as const) {
    t.equal(isLoopback(new URL(`http://${host}/`).hostname), expected, host);
  }
  t.end();
});

t.test("IP addresses", (t) => {
  for (const [text, expected] of [
    ["0.0.0.0", { version: 4, bits: 0n, zone: undefined }],
    ["1.2.3.4", { version: 4, bits: 0x01020304n, zone: undefined }],
    ["255.255.255.255", { version: 4, bits: 0xffffffffn, zone: undefined }],
    ["::", { version: 6, bits: 0n, zone: undefined }],
    ["1::", { version: 6, bits: 1n << 112n, zone: undefined }],
    ["1:2:3:4:5:6:7::", { version: 6, bits: 0x0001_0002_0003_0004_0005_0006_0007_0000n, zone: undefined }],
    ["::FFFF:1.2.3.4", { version: 6, bits: 0xffff_0102_0304n, zone: undefined }],
    ["1:2:3:4:5:6:1.2.3.4", { version: 6, bits: 0x0001_0002_0003_0004_0005_0006_0102_0304n, zone: undefined }],
    ["fe80::1%eth0", { version: 6, bits: (0xfe80n << 112n) | 1n, zone: "eth0" }],
    ["1:2:3:4:5:6:7:8::", undefined],
    ["1:2:3:4:5:6:7:1.2.3.4", undefined],
    ["1.2.3.4::", undefined],
    ["1::2::3", undefined],
    [":1", undefined],
    ["1:", undefined],
    ["::g", undefined],
    ["::1%", undefined],
    ["1.2.3.4%eth0", undefined],
    ["1.2.3", undefined],
    ["1.2.3.4.", undefined],
    [".1.2.3.4", undefined],
    ["00.0.0.0", undefined],
    ["1.2.3.4\n", undefined],
    ["", undefined],
  ] as const) {
    t.same(parseIp(text), expected, JSON.stringify(text));
  }
  t.end();
});

t.test("an IP address is what Node takes for one", (t) => {
  const part = fc.constantFrom(
    "0",
    "1",
    "01",
    "127",
    "255",
    "256",
    "ffff",
    "FFFFF",
    "1.2.3.4",
    "",
    ":",
    "::",
    ".",
    "g",
  );
  const near = fc.array(fc.tuple(part, fc.constantFrom(":", ":", ".", "::", "")), { maxLength: 9 });
  const text = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    near.map((parts) => parts.flat().join("")),
  );
  fc.assert(
    fc.property(text, (text) => (parseIp(text)?.version ?? 0) === isIP(text)),
    { numRuns: 3_000 },
  );
  t.end();
});

t.test("mapped addresses", (t) => {
  for (const [text, expected] of [
    ["::ffff:127.0.0.1", "127.0.0.1"],
    ["::FFFF:1.2.3.4", "1.2.3.4"],
    ["::ffff:7f00:1", "127.0.0.1"],
    ["0:0:0:0:0:ffff:a00:1", "10.0.0.1"],
    ["::ffff:0:1.2.3.4", "::ffff:0:1.2.3.4"],
    ["::1.2.3.4", "::1.2.3.4"],
    ["::1", "::1"],
    ["1.2.3.4", "1.2.3.4"],
    ["::ffff:1.2.3.4%eth0", "::ffff:1.2.3.4%eth0"],
    ["nonsense", "nonsense"],
    ["", ""],
  ] as const) {
    t.equal(unmapped(text), expected, text);
  }
  t.end();
});

t.test("networks", (t) => {
  for (const [network, inside, outside] of [
    ["10.0.0.0/8", ["10.0.0.0", "10.255.255.255"], ["9.255.255.255", "11.0.0.0", "::a00:0", "::ffff:10.0.0.1"]],
    ["10.1.2.3/8", ["10.0.0.0"], ["11.0.0.0"]],
    ["192.0.2.1", ["192.0.2.1"], ["192.0.2.0", "192.0.2.2"]],
    ["0.0.0.0/0", ["255.255.255.255"], ["::"]],
    ["fd00::/8", ["fd00::", "fdff::1"], ["fc00::", "fe00::"]],
    ["::/0", ["ffff::", "::1"], ["0.0.0.0"]],
    ["::1/128", ["::1", "0:0::1"], ["::", "::2"]],
  ] as const) {
    const read = parseNetwork(network)!;
    for (const address of inside) t.ok(isIn(parseIp(address)!, read), `${address} is in ${network}`);
    for (const address of outside) t.notOk(isIn(parseIp(address)!, read), `${address} is not in ${network}`);
  }
  for (const text of [
    "",
    "10.0.0.0/33",
    "::/129",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10/8",
    "a/8",
    "fe80::1%lo/64",
  ])
    t.equal(parseNetwork(text), undefined, JSON.stringify(text));
  t.end();
});
