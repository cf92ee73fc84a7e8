// Which targets may be connected to. A row of vectors/ssrf.json has a URL, the addresses that its name leads to, and its
// reach: public, private (with --allow-private-targets alone) or never.

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import t from "tap";
import { systemClock } from "../../../grammar/units/clock.ts";
import { reachOf } from "../../../logservice/notify/addresses.ts";
import { PostFailure, post } from "../../../logservice/notify/post.ts";
import {
  checkTarget,
  type Resolve,
  refusalOf,
  TargetNotFound,
  TargetRefused,
} from "../../../logservice/notify/target-guard.ts";
import { root } from "../../support/cli.ts";
import { startReceiver } from "../../support/notify/receiver.ts";
import { requires } from "../../support/require.ts";

interface Row {
  readonly url: string;
  readonly resolves?: readonly string[];
  readonly reach: "public" | "private" | "never";
}

const rows: readonly Row[] = JSON.parse(readFileSync(join(root, "test/vectors/ssrf.json"), "utf8"));

const resolvingTo = (addresses: readonly string[]): Resolve => {
  return async () => addresses.map((address) => ({ address, family: isIP(address) }));
};

t.test("targets", async (t) => {
  t.ok(rows.length >= 60);
  for (const { url, resolves = [], reach } of rows) {
    await t.test(`${url} ${resolves.join(" ")}: ${reach}`, async (t) => {
      for (const allowsPrivate of [false, true]) {
        const check = checkTarget(url, { allowsPrivate, resolve: resolvingTo(resolves) });
        if (reach === "public" || (reach === "private" && allowsPrivate)) {
          const { lookup } = await check;
          await t.resolves(check);
          if (resolves.length > 0) t.same(await lookedUp(lookup), resolves, "connected to is what was checked");
          continue;
        }
        const error: unknown = await check.then(
          () => undefined,
          (error: unknown) => error,
        );
        if (!(error instanceof TargetRefused)) return t.fail(`allowsPrivate: ${allowsPrivate}: ${error}`);
        for (const address of resolves) {
          if (!url.includes(address)) t.notOk(error.message.includes(address), `${error.message} names no address`);
        }
        t.notMatch(error.message, /pw|passwd|computeMetadata/, "nothing of the URL's secrets");
      }
    });
  }
});

function lookedUp(lookup: Awaited<ReturnType<typeof checkTarget>>["lookup"]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    lookup("other.example", { all: true }, (error, addresses) => {
      if (error) reject(error);
      else resolve((addresses as { address: string }[]).map(({ address }) => address));
    });
  });
}

t.test("sentences", async (t) => {
  const sentence = async (url: string, address: string, allowsPrivate = false) => {
    const error = await checkTarget(url, { allowsPrivate, resolve: resolvingTo([address]) }).catch(
      (error: Error) => error,
    );
    return error instanceof Error ? error.message : "sent";
  };
  const rows = [
    ["nonsense", "1.1.1.1", "the target's URL cannot be read: set it again"],
    ["http://hooks.example.com/s3cret", "1.1.1.1", "the target's URL does not begin with https://: use one that does"],
    [
      "https://a:b@hooks.example.com/s3cret",
      "1.1.1.1",
      "the target's URL has a user or a password, which is not supported: use a URL without them",
    ],
    [
      "https://hooks.example.com/s3cret",
      "10.1.2.3",
      "hooks.example.com leads to an address of a private network: use a public one, or let the operator of the service start it with --allow-private-targets",
    ],
    [
      "https://hooks.example.com/s3cret",
      "169.254.169.254",
      "hooks.example.com leads to an address that no target may have: use a public one",
    ],
    [
      "https://0x7f.1/s3cret",
      "",
      "the target is an address of a private network: use a public one, or let the operator of the service start it with --allow-private-targets",
    ],
    ["https://metadata/s3cret", "1.1.1.1", "metadata is a name of the network of a cloud: use another target"],
  ] as const;
  for (const [url, address, expected] of rows) t.equal(await sentence(url, address), expected);
  const nowhere = checkTarget("https://gone.example/", {
    allowsPrivate: false,
    resolve: () => Promise.reject(new Error("ENOTFOUND gone.example at 10.0.0.53")),
  });
  await t.rejects(nowhere, new TargetNotFound("gone.example has no address: check the name in the target's URL"));
});

t.test("what is refused when it is set, whatever its name leads to", (t) => {
  const isPrivate =
    "the target is an address of a private network: use a public one, or let the operator of the service start it with --allow-private-targets";
  const isPlain = "the target's URL does not begin with https://: use one that does";
  const isNobody = "the target is an address that no target may have: use a public one";
  const rows: readonly (readonly [url: string, usually: string | undefined, privately: string | undefined])[] = [
    ["https://hooks.example.com/a", undefined, undefined],
    ["http://hooks.example.com/a", isPlain, undefined],
    ["http://127.0.0.1:8080/a", isPrivate, undefined],
    ["https://127.1/a", isPrivate, undefined],
    ["http://localhost:8080/a", isPrivate, undefined],
    ["https://hook.localhost./a", isPrivate, undefined],
    ["http://[::1]/a", isPrivate, undefined],
    ["https://[::ffff:10.0.0.1]/a", isPrivate, undefined],
    ["https://192.168.1.5/a", isPrivate, undefined],
    ["https://1.1.1.1/a", undefined, undefined],
    ["https://169.254.169.254/a", isNobody, isNobody],
    ["http://[fe80::1]/a", isPlain, isNobody],
    [
      "https://metadata.google.internal/a",
      "metadata.google.internal is a name of the network of a cloud: use another target",
      "metadata.google.internal is a name of the network of a cloud: use another target",
    ],
  ];
  for (const [url, usually, privately] of rows) {
    t.equal(refusalOf(url, { allowsPrivate: false }), usually, url);
    t.equal(refusalOf(url, { allowsPrivate: true }), privately, `${url} with --allow-private-targets`);
  }
  t.end();
});

t.test("what is not an address reaches nothing", (t) => {
  for (const text of ["", "localhost", "1.2.3", "1.2.3.4.5", "fe80::1%lo", "::1%lo", "2606:4700::1%lo"]) {
    t.equal(reachOf(text), "never", text);
  }
  t.end();
});

const SENT = { headers: { "Content-Type": "application/json" }, body: "{}" };
const signal = new AbortController().signal;

t.test("a name that leads elsewhere the second time is connected to where it led first", async (t) => {
  const first = await startReceiver(t);
  let lookups = 0;
  const resolve: Resolve = async () => {
    lookups++;
    return [{ address: lookups === 1 ? "127.0.0.1" : "169.254.169.254", family: 4 }];
  };
  const url = `http://rebind.example:${first.port}/`;
  t.match(await post({ ...SENT, url }, { clock: systemClock, signal, guard: { allowsPrivate: true, resolve } }), {
    status: 200,
  });
  t.equal(lookups, 1, "looked up once for the check and the connection");
  t.match(first.requests, [{ headers: { host: `rebind.example:${first.port}` } }]);
  await t.rejects(
    post({ ...SENT, url }, { clock: systemClock, signal, guard: { allowsPrivate: true, resolve } }),
    TargetRefused,
  );
  t.equal(first.requests.length, 1, "each request is checked by itself, and no connection is used again");
});

t.test("TLS", { skip: requires("openssl") }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tool-notify-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=hooks.example.com"];
  const names = ["-addext", "subjectAltName=DNS:hooks.example.com"];
  await promisify(execFile)("openssl", [...words, ...names, "-keyout", keyFile, "-out", certFile]);
  const [key, cert] = [readFileSync(keyFile, "utf8"), readFileSync(certFile, "utf8")];
  const { port, requests } = await startReceiver(t, { status: 200 }, { key, cert });
  const guard = { allowsPrivate: true, resolve: resolvingTo(["127.0.0.1"]) };
  const send = (name: string, ca?: string) =>
    post({ ...SENT, url: `https://${name}:${port}/` }, { clock: systemClock, signal, guard, ca });
  t.match(
    await send("hooks.example.com", cert),
    { status: 200 },
    "the name is the target's, the address the checked one",
  );
  t.match(requests, [{ headers: { host: `hooks.example.com:${port}` } }]);
  const failure = new PostFailure("could not be spoken to over TLS: check its certificate");
  await t.rejects(send("other.example.com", cert), failure, "a certificate for another name");
  await t.rejects(send("hooks.example.com"), failure, "a certificate that nobody signed");
  t.equal(requests.length, 1);
});

t.test("redirects are answers", async (t) => {
  const inner = await startReceiver(t);
  const outer = await startReceiver(t, { status: 307, headers: { Location: inner.url } });
  const answer = await post(
    { ...SENT, url: outer.url },
    { clock: systemClock, signal, guard: { allowsPrivate: true } },
  );
  t.equal(answer.status, 307);
  t.equal(inner.requests.length, 0);
});

t.test("bounds", async (t) => {
  const guard = { allowsPrivate: true };
  const failure = async (url: string, timeoutMs?: number) => {
    const error = await post({ ...SENT, url }, { clock: systemClock, signal, guard, timeoutMs }).catch(
      (error: unknown) => error,
    );
    return error instanceof PostFailure ? error.message : error;
  };
  await t.test("a target that hangs", async (t) => {
    const { url } = await startReceiver(t, "hang");
    t.equal(await failure(url, 200), "gave no answer within 0.2 s");
  });
  await t.test("a name whose lookup hangs", async (t) => {
    const resolve = () => new Promise<never>(() => {});
    const sent = post(
      { ...SENT, url: "https://a.example/" },
      { clock: systemClock, signal, guard: { ...guard, resolve }, timeoutMs: 100 },
    );
    await t.rejects(sent, new PostFailure("gave no answer within 0.1 s"));
  });
  await t.test("a target that closes early", async (t) => {
    const { url } = await startReceiver(t, "close");
    t.equal(await failure(url), "closed the connection before it answered");
  });
  await t.test("nothing listens", async (t) => {
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    t.equal(await failure(`http://127.0.0.1:${port}/`), "refused the connection");
  });
  await t.test("a change of the protocol is no answer", async (t) => {
    const { url } = await startReceiver(t, { status: 101, headers: { Connection: "Upgrade", Upgrade: "websocket" } });
    t.equal(await failure(url), "closed the connection before it answered");
  });
  await t.test("what is not HTTP", async (t) => {
    const { url } = await startReceiver(t, "garbage");
    t.equal(await failure(url), "gave an answer that is not HTTP");
  });
  await t.test("a head that is too long", async (t) => {
    const { url } = await startReceiver(t, { status: 200, headers: { "X-Long": "x".repeat(20_000) } });
    t.equal(await failure(url), "gave an answer that is not HTTP");
  });
  await t.test("an answer that does not end is cut", async (t) => {
    const receiver = await startReceiver(t, "endless");
    t.match(await post({ ...SENT, url: receiver.url }, { clock: systemClock, signal, guard }), { status: 200 });
    await receiver.closed();
    t.ok(receiver.sentBytes() < 8 * 1024 * 1024, `${receiver.sentBytes()}`);
  });
  await t.test("whoever waits may stop", async (t) => {
    const { url } = await startReceiver(t, "hang");
    const stop = new AbortController();
    const sent = post({ ...SENT, url }, { clock: systemClock, signal: stop.signal, guard });
    stop.abort(new Error("stopped"));
    await t.rejects(sent, new Error("stopped"));
    await t.rejects(post({ ...SENT, url }, { clock: systemClock, signal: stop.signal, guard }), new Error("stopped"));
  });
});
