// The registration that makes the platform say before it ends a function: each way in which a Runtime API may answer.
import { type AddressInfo, createServer } from "node:net";
import t, { type Test } from "tap";
import { registerExtension } from "../../../runtime/lambda/register-extension.ts";
import { until, within } from "../../support/until.ts";

const ID = "Lambda-Extension-Identifier: abc";
const REGISTER = "POST /2020-01-01/extension/register HTTP/1.1";
/** The answers after which the connection ends. */
const ENDS = /^HTTP\/1\.0|connection:.*close|x-ends/i;
const NEXT = "GET /2020-01-01/extension/event/next HTTP/1.1";

/** `requests` are the first lines that come, each with the number of its connection. */
async function api(t: Test, answer: string) {
  const requests: string[] = [];
  const heads: string[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    const connection = ++connections;
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      const text = String(bytes);
      heads.push(text);
      const [line] = text.split("\r\n") as [string];
      requests.push(`${connection} ${line}`);
      if (!line.startsWith("POST") || answer === "nothing") return;
      if (answer === "" || ENDS.test(answer)) socket.end(answer);
      else socket.write(answer);
    });
    t.teardown(() => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, requests, heads };
}

for (const [name, answer, expected] of [
  ["with a length", `HTTP/1.1 200 OK\r\n${ID}\r\nContent-Length: 2\r\n\r\n{}`, [`1 ${REGISTER}`, `1 ${NEXT}`]],
  [
    "in chunks",
    `HTTP/1.1 200 OK\r\n${ID}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    [`1 ${REGISTER}`, `1 ${NEXT}`],
  ],
  [
    "over a connection that ends",
    `HTTP/1.1 200 OK\r\n${ID}\r\nConnection: close\r\n\r\n{}`,
    [`1 ${REGISTER}`, `2 ${NEXT}`],
  ],
  [
    "over a connection that ends, in a list",
    `HTTP/1.1 200 OK\r\n${ID}\r\nconnection: x-a, CLOSE\r\n\r\n{}`,
    [`1 ${REGISTER}`, `2 ${NEXT}`],
  ],
  ["of HTTP/1.0", `HTTP/1.0 200 OK\r\n${ID}\r\n\r\n{}`, [`1 ${REGISTER}`, `2 ${NEXT}`]],
  [
    "over a connection that ends without a word of it",
    `HTTP/1.1 200 OK\r\n${ID}\r\nX-Ends: yes\r\nContent-Length: 2\r\n\r\n{}`,
    [`1 ${REGISTER}`, `1 ${NEXT}`, `2 ${NEXT}`],
  ],
  [
    "after interim ones",
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\n${ID}\r\nContent-Length: 2\r\n\r\n{}`,
    [`1 ${REGISTER}`, `1 ${NEXT}`],
  ],
  [
    "without a reason, with tabs",
    `HTTP/1.1 200\r\n${ID.replace(" ", "\t")}\t\r\nContent-Length: 2\r\n\r\n{}`,
    [`1 ${REGISTER}`, `1 ${NEXT}`],
  ],
  ["without an identifier", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", [`1 ${REGISTER}`]],
  ["with a refusal", `HTTP/1.1 403 Forbidden\r\n${ID}\r\nContent-Length: 2\r\n\r\n{}`, [`1 ${REGISTER}`]],
  ["without extensions", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", [`1 ${REGISTER}`]],
  ["with no HTTP", "SSH-2.0-x\r\n\r\n", [`1 ${REGISTER}`]],
  ["with nothing but an end", "", [`1 ${REGISTER}`]],
] as const) {
  t.test(`an answer ${name}`, async (t) => {
    const { address, requests } = await api(t, answer);
    await within("the registration", registerExtension(address));
    await until(
      "its requests",
      () => requests.length >= expected.length,
      () => requests.join(),
    );
    t.same(requests, expected);
  });
}

t.test("what is sent", async (t) => {
  const { address, heads } = await api(t, `HTTP/1.1 200 OK\r\n${ID}\r\nContent-Length: 2\r\n\r\n{}`);
  await registerExtension(`${address}/sandbox`);
  await until("both requests", () => heads.length === 2);
  t.same(heads, [
    [
      ...["POST /sandbox/2020-01-01/extension/register HTTP/1.1", `Host: ${address}`, "Lambda-Extension-Name: tool"],
      ...["Content-Type: application/json", "Content-Length: 13", "", '{"events":[]}'],
    ].join("\r\n"),
    ["GET /sandbox/2020-01-01/extension/event/next HTTP/1.1", `Host: ${address}`, `${ID}`, "", ""].join("\r\n"),
  ]);
});

t.test("nobody to ask", async (t) => {
  const { address } = await api(t, "");
  for (const nobody of ["", "no host:1", address.replace(/\d+$/, "1")]) {
    await within("the registration", registerExtension(nobody));
    t.pass(nobody);
  }
});
