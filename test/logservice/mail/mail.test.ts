// Mail by SMTP: real servers on loopback, messages as a parser of mail reads them, addresses and settings as rows.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import t from "tap";
import { type Clock, systemClock } from "../../../grammar/units/clock.ts";
import { readEmailAddress } from "../../../logservice/mail/address.ts";
import { MailFailure } from "../../../logservice/mail/failure.ts";
import { type Mailer, type MailMessage, mailerTo, openMailer } from "../../../logservice/mail/mailer.ts";
import { inviteMessage, signInMessage } from "../../../logservice/mail/messages.ts";
import { MailSettingsError, readMailSettings } from "../../../logservice/mail/settings.ts";
import { root } from "../../support/cli.ts";
import { requires } from "../../support/require.ts";
import { TestClock } from "../../support/test-clock.ts";

interface Test {
  teardown(handler: () => unknown): void;
}

const run = promisify(execFile);

const FROM = "Logs <logs@example.com>";
/** Long enough for a busy machine; rows about one of them make it short. */
const TIMEOUTS = { connectMs: 20_000, greetingMs: 20_000, silenceMs: 20_000, sendMs: 40_000 };
const HOUR_MS = 3_600_000;
const HOURS = { connectMs: HOUR_MS, greetingMs: HOUR_MS, silenceMs: HOUR_MS, sendMs: HOUR_MS };
const PASSWORD = "s3cret pass/wörd";

const MESSAGE: MailMessage = { to: "ana@example.com", subject: "Hello", text: "Text\n", html: "<p>HTML</p>" };

interface Received {
  readonly raw: string;
  readonly isEncrypted: boolean;
  readonly from: string;
  readonly to: readonly string[];
}

/** A real SMTP server. Without other options it offers neither STARTTLS nor a login. */
async function startServer(t: Test, options: SMTPServerOptions = {}): Promise<{ port: number; received: Received[] }> {
  const received: Received[] = [];
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS", "AUTH"],
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 20,
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          raw: Buffer.concat(chunks).toString(),
          isEncrypted: session.secure,
          from: mailFrom === false ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
        });
        callback();
      });
    },
    ...options,
  });
  // Clients that refuse the certificate are errors here.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise<void>((resolve) => server.close(resolve)));
  return { port: (server.server.address() as AddressInfo).port, received };
}

/** A server that says what a test wants. */
async function startScript(t: Test, connected: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    connected(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Answers each line of a client by its first word. */
function answerLines(socket: Socket, answers: Readonly<Record<string, string>>): void {
  socket.write("220 here\r\n");
  socket.on("data", (data) => {
    for (const line of data.toString().trim().split("\r\n")) {
      const answer = answers[line.split(/[ :]/)[0]!.toUpperCase()];
      if (answer !== undefined) socket.write(`${answer}\r\n`);
    }
  });
}

function mailerAt(t: Test, url: string, timeouts = TIMEOUTS, clock: Clock = systemClock): Mailer {
  const mailer = mailerTo(readMailSettings({ url, from: FROM }), timeouts, clock);
  t.teardown(() => mailer.close());
  return mailer;
}

/** The failure of sending. Fails the test if the message is sent. */
async function failureOf(sending: Promise<void>): Promise<MailFailure> {
  const error = await sending.then(
    () => new Error("the message was sent"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof MailFailure)) throw error;
  return error;
}

/** A text as the name of a test. tap runs no test whose name has a line separator. */
const named = (text: string) =>
  JSON.stringify(text.slice(0, 60)).replace(/[^\x20-\x7e]/gu, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);

t.test("a message over a plain connection on loopback", async (t) => {
  const { port, received } = await startServer(t);
  const mailer = openMailer({ url: `smtp://localhost:${port}`, from: FROM }, systemClock);
  t.teardown(() => mailer.close());
  t.equal(mailer.host, "localhost");
  await mailer.send({ ...MESSAGE, id: "s-1" });
  const [{ raw, ...envelope }] = received as [Received];
  t.same(envelope, { isEncrypted: false, from: "logs@example.com", to: ["ana@example.com"] });
  const mail = await simpleParser(raw);
  t.equal(mail.messageId, "<s-1@example.com>");
  t.same(mail.from?.value, [{ address: "logs@example.com", name: "Logs" }]);
  t.same([mail.to].flat()[0]?.value, [{ address: "ana@example.com", name: "" }]);
  t.equal(mail.headers.get("auto-submitted"), "auto-generated");
  t.same([mail.subject, mail.text?.trim(), mail.html], ["Hello", "Text", "<p>HTML</p>"]);
  t.same(mail.attachments, []);
  t.notMatch(raw, /^X-Mailer:/im);
  t.end();
});

t.test("each message has an id of its own", async (t) => {
  const { port, received } = await startServer(t);
  const mailer = mailerAt(t, `smtp://127.0.0.1:${port}`);
  await Promise.all([mailer.send(MESSAGE), mailer.send(MESSAGE), mailer.send(MESSAGE)]);
  const ids = await Promise.all(received.map(async ({ raw }) => (await simpleParser(raw)).messageId));
  t.equal(new Set(ids).size, 3);
  for (const id of ids) t.match(id, /^<[0-9a-f-]{36}@example\.com>$/);
  await t.rejects(mailer.send({ ...MESSAGE, id: "x>\r\nBcc: eve@example.com" }), TypeError);
  t.equal(received.length, 3);
  t.end();
});

t.test("encryption", { skip: requires("openssl") }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tool-mail-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"];
  const names = ["-addext", "subjectAltName=DNS:mail.localhost,IP:127.0.0.1"];
  await run("openssl", [...words, ...names, "-keyout", keyFile, "-out", certFile]);
  const certificate = { key: readFileSync(keyFile), cert: readFileSync(certFile) };
  const kinds = {
    smtp: await startServer(t, { ...certificate, disabledCommands: ["AUTH"] }),
    smtps: await startServer(t, { ...certificate, disabledCommands: ["AUTH"], secure: true }),
  };

  for (const [scheme, { port, received }] of Object.entries(kinds)) {
    await t.test(`${scheme}: a certificate that nobody signed is refused`, async (t) => {
      const failure = await failureOf(mailerAt(t, `${scheme}://localhost:${port}`).send(MESSAGE));
      t.match(
        failure.message,
        new RegExp(
          `^the SMTP server localhost:${port} could not be spoken to over TLS: .*self-signed certificate; its certificate must be valid`,
        ),
      );
      t.equal(failure.isPermanent, false);
      t.equal(received.length, 0);
    });
    await t.test(`${scheme}: insecure=1 accepts it`, async (t) => {
      await mailerAt(t, `${scheme}://127.0.0.1:${port}?insecure=1`).send(MESSAGE);
      t.equal(received.pop()?.isEncrypted, true);
    });
    for (const host of ["mail.localhost", "127.0.0.1"]) {
      await t.test(`${scheme}: a certificate for ${host} that an authority signed is accepted`, async (t) => {
        const url = `${scheme}://${host}:${port}`;
        await sendWithAuthority(certFile, url);
        t.equal(received.pop()?.isEncrypted, true);
      });
    }
    await t.test(`${scheme}: a certificate for other names is refused`, async (t) => {
      await t.rejects(sendWithAuthority(certFile, `${scheme}://other.localhost:${port}`), /does not match certificate/);
      t.equal(received.length, 0);
    });
  }

  await t.test("smtp:// to a server that encrypts at once", async (t) => {
    const { message } = await failureOf(
      mailerAt(t, `smtp://localhost:${kinds.smtps.port}`, { ...TIMEOUTS, greetingMs: 500 }).send(MESSAGE),
    );
    t.match(
      message,
      /did not answer: Greeting never received; if it encrypts at once, as on port 465, use smtps:\/\/$/,
    );
  });
  await t.test("smtps:// to a server that does not encrypt at once", async (t) => {
    const { message } = await failureOf(mailerAt(t, `smtps://localhost:${kinds.smtp.port}`).send(MESSAGE));
    t.match(message, /could not be spoken to over TLS: .*; use smtp:\/\/ if it encrypts by STARTTLS$/);
  });
});

/** Sends a message in a process that trusts a certificate: Node reads the file when it starts. */
async function sendWithAuthority(certFile: string, url: string): Promise<void> {
  const code = `
    import { systemClock } from ${JSON.stringify(join(root, "dist/grammar/units/clock.js"))};
    import { openMailer } from ${JSON.stringify(join(root, "dist/logservice/mail/mailer.js"))};
    const mailer = openMailer(${JSON.stringify({ url, from: FROM })}, systemClock);
    await mailer.send(${JSON.stringify(MESSAGE)});`;
  await run(process.execPath, ["--input-type=module", "-e", code], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: certFile },
  });
}

t.test("a server without STARTTLS gets nothing if encryption is required", async (t) => {
  const { port, received } = await startServer(t, {
    disabledCommands: ["STARTTLS"],
    onAuth: (_, __, callback) => callback(null, { user: "u" }),
  });
  const server = readMailSettings({ url: `smtp://user:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`, from: FROM });
  const { message, isPermanent } = await failureOf(
    mailerTo({ ...server, encryption: "required" }, TIMEOUTS, systemClock).send(MESSAGE),
  );
  t.match(message, /does not encrypt by STARTTLS: .*; use smtps:\/\/ if it encrypts at once$/);
  t.equal(isPermanent, false);
  t.equal(received.length, 0);
  t.end();
});

for (const method of ["PLAIN", "LOGIN"] as const) {
  t.test(`login by ${method}`, async (t) => {
    const seen: string[] = [];
    const { port, received } = await startServer(t, {
      disabledCommands: ["STARTTLS"],
      authMethods: [method],
      authOptional: false,
      onAuth({ username, password, method }, _, callback) {
        seen.push(`${method} ${username} ${password}`);
        if (password === PASSWORD) callback(null, { user: "u" });
        else callback(new Error(`Wrong password ${password}`));
      },
    });
    const url = (password: string) => `smtp://us%40er:${encodeURIComponent(password)}@127.0.0.1:${port}`;
    await mailerAt(t, url(PASSWORD)).send(MESSAGE);
    t.equal(received.length, 1);
    t.same(seen, [`${method} us@er ${PASSWORD}`]);

    const failure = await failureOf(mailerAt(t, url("wr0ng pass")).send(MESSAGE));
    t.match(
      failure.message,
      /^the SMTP server 127\.0\.0\.1:\d+ refused the login: 535 Wrong password \*{4}; check the user and the password in the URL$/,
    );
    t.equal(failure.isPermanent, false);
    t.equal(failure.cause, undefined);
    t.notMatch(JSON.stringify(failure) + failure.stack, /wr0ng/);
    t.equal(received.length, 1);
    t.end();
  });
}

const refusal = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode });

const REFUSALS: readonly (readonly [
  name: string,
  options: SMTPServerOptions,
  message: RegExp,
  isPermanent: boolean,
])[] = [
  [
    "an unknown recipient",
    { onRcptTo: (_, __, callback) => callback(refusal(550, "5.1.1 no such user")) },
    /^the SMTP server 127\.0\.0\.1:\d+ refused the recipient: 550 5\.1\.1 no such user$/,
    true,
  ],
  [
    "a recipient that is deferred",
    { onRcptTo: (_, __, callback) => callback(refusal(450, "greylisted")) },
    /refused the recipient: 450 greylisted$/,
    false,
  ],
  [
    "a message that is refused",
    { onData: (stream, _, callback) => void stream.resume().on("end", () => callback(refusal(554, "spam"))) },
    /refused the message: 554 spam$/,
    true,
  ],
  [
    "a full disk",
    { onData: (stream, _, callback) => void stream.resume().on("end", () => callback(refusal(452, "no space"))) },
    /refused the message: 452 no space$/,
    false,
  ],
  [
    "a sender that is refused",
    { onMailFrom: (_, __, callback) => callback(refusal(553, "not yours")) },
    /refused the sender: 553 not yours; check the sender's address, and whether the server wants a login$/,
    false,
  ],
  [
    "a sender that is deferred",
    { onMailFrom: (_, __, callback) => callback(refusal(451, "try later")) },
    /could not take the message: 451 try later$/,
    false,
  ],
  [
    "a server that closes",
    { onConnect: (_, callback) => callback(refusal(421, "too busy")) },
    /could not take the message: .*421 .*too busy/,
    false,
  ],
];

for (const [name, options, message, isPermanent] of REFUSALS) {
  t.test(name, async (t) => {
    const { port } = await startServer(t, options);
    const failure = await failureOf(mailerAt(t, `smtp://127.0.0.1:${port}`).send(MESSAGE));
    t.match(failure.message, message);
    t.equal(failure.isPermanent, isPermanent);
    t.end();
  });
}

t.test("a long answer with control characters, over several lines", async (t) => {
  const answer = `550-\u001b[31m\u009b\u202e\tfirst\r\n550 ${"x".repeat(5000)}`;
  const port = await startScript(t, (socket) =>
    answerLines(socket, { EHLO: "250 here", MAIL: "250 ok", RCPT: answer }),
  );
  const { message } = await failureOf(mailerAt(t, `smtp://127.0.0.1:${port}`).send(MESSAGE));
  t.match(message, /refused the recipient: 550-\ufffd\[31m\ufffd\ufffd first 550 x+…$/);
  t.equal([...message.replace(/^.*?recipient: /, "")].length, 300);
  t.end();
});

t.test("an answer that repeats the login", async (t) => {
  const logins: string[] = [];
  const port = await startScript(t, (socket) => {
    answerLines(socket, { EHLO: "250-here\r\n250 AUTH PLAIN" });
    socket.on("data", (data) => {
      const line = data.toString().trim();
      if (!line.startsWith("AUTH")) return;
      logins.push(line);
      socket.write(`500 unknown command ${line}\r\n`);
    });
  });
  const url = `smtp://user:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`;
  const { message } = await failureOf(mailerAt(t, url).send(MESSAGE));
  t.same(logins, [`AUTH PLAIN ${Buffer.from(`\0user\0${PASSWORD}`).toString("base64")}`]);
  t.match(message, /refused the login: 500 unknown command AUTH PLAIN \*{4}; check/);
  t.end();
});

t.test("nobody listens", async (t) => {
  const port = await new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
  const failure = await failureOf(mailerAt(t, `smtp://127.0.0.1:${port}`).send(MESSAGE));
  t.match(failure.message, /^the SMTP server 127\.0\.0\.1:\d+ could not take the message: connect ECONNREFUSED/);
  t.equal(failure.isPermanent, false);
  t.end();
});

t.test("the greeting never comes", async (t) => {
  const port = await startScript(t, () => {});
  const failure = await failureOf(
    // No other limit could end it before the test's own.
    mailerAt(t, `smtp://127.0.0.1:${port}`, { ...HOURS, greetingMs: 200 }).send(MESSAGE),
  );
  t.match(failure.message, /did not answer: Greeting never received/);
  t.equal(failure.isPermanent, false);
  t.end();
});

t.test("a server that falls silent", async (t) => {
  const port = await startScript(t, (socket) => answerLines(socket, { EHLO: "250 here" }));
  const failure = await failureOf(
    mailerAt(t, `smtp://127.0.0.1:${port}`, { ...TIMEOUTS, silenceMs: 200 }).send(MESSAGE),
  );
  t.match(failure.message, /could not take the message: Timeout/);
  t.equal(failure.isPermanent, false);
  t.end();
});

t.test("a server that sends a byte now and then", async (t) => {
  const port = await startScript(t, (socket) => {
    answerLines(socket, { EHLO: "250 here" });
    const timer = setInterval(() => socket.write("2"), 50);
    socket.on("close", () => clearInterval(timer));
  });
  const clock = new TestClock();
  const failed = failureOf(mailerAt(t, `smtp://127.0.0.1:${port}`, { ...TIMEOUTS, sendMs: 400 }, clock).send(MESSAGE));
  await clock.advance(400);
  const failure = await failed;
  t.match(failure.message, /could not take the message: no end after 0\.4 s$/);
  t.end();
});

t.test("a connection that is cut in the middle of DATA", async (t) => {
  const port = await startScript(t, (socket) => {
    answerLines(socket, { EHLO: "250 here", MAIL: "250 ok", RCPT: "250 ok", DATA: "354 go" });
    socket.on("data", (data) => {
      if (data.includes("Subject:")) socket.destroy();
    });
  });
  const text = "x".repeat(5_000_000);
  const failure = await failureOf(mailerAt(t, `smtp://127.0.0.1:${port}`).send({ ...MESSAGE, text }));
  t.match(failure.message, /could not take the message: ./);
  t.equal(failure.isPermanent, false);
  t.end();
});

t.test("a signal ends a message that is being sent, with its reason", async (t) => {
  let closed: () => void = () => {};
  const isClosed = new Promise<void>((resolve) => (closed = resolve));
  const port = await startScript(t, (socket) => {
    socket.on("close", () => closed());
    socket.write("220 here\r\n");
    socket.once("data", () => aborting.abort(new Error("the reason")));
  });
  const aborting = new AbortController();
  const mailer = mailerAt(t, `smtp://127.0.0.1:${port}`);
  await t.rejects(mailer.send(MESSAGE, aborting.signal), new Error("the reason"));
  await isClosed;
  await t.rejects(mailer.send(MESSAGE, aborting.signal), new Error("the reason"), "and one that has not begun");
  t.end();
});

t.test("close() ends a message that is being sent", async (t) => {
  const port = await startScript(t, (socket) => {
    socket.write("220 here\r\n");
    socket.once("data", () => mailer.close());
  });
  const mailer = mailerAt(t, `smtp://127.0.0.1:${port}`);
  t.equal((await failureOf(mailer.send(MESSAGE))).isPermanent, false);
  t.end();
});

const asked = {
  to: "ana@example.com",
  url: "https://logs.example.com/sign-in/confirm/7f3a?a=1&b=2",
  device: "Firefox on Linux",
  address: "2001:db8::1",
  startedAt: new Date("2026-11-23T14:05:59Z"),
  expiresAt: new Date("2026-11-23T14:20:59Z"),
};
const invited = {
  to: "ana@example.com",
  url: "https://logs.example.com/invite/7f3a",
  team: "Shop",
  invitedBy: "bo@example.com",
  role: "admin",
  expiresAt: new Date("2026-11-30T14:05:59Z"),
};

t.test("the mail for signing in", async (t) => {
  const { port, received } = await startServer(t);
  await mailerAt(t, `smtp://127.0.0.1:${port}`).send(signInMessage(asked));
  const mail = await simpleParser(received[0]!.raw);
  t.equal(mail.subject, "Sign in to logs.example.com");
  t.equal(
    mail.text?.trim(),
    `Firefox on Linux at the network address 2001:db8::1 asked to sign in to logs.example.com as ana@example.com on 23 Nov 2026, 14:05 UTC.

Continue signing in:
https://logs.example.com/sign-in/confirm/7f3a?a=1&b=2

The page asks for the six-digit code that the asking terminal or window shows. It is not in this mail.

The link works until 23 Nov 2026, 14:20 UTC.

If you did not ask to sign in, do nothing, and type no code that somebody tells you: nobody can sign in without it.`,
  );
  const html = mail.html as string;
  t.match(html, `<a href="https://logs.example.com/sign-in/confirm/7f3a?a=1&amp;b=2"`);
  for (const words of mail
    .text!.trim()
    .split("\n\n")
    .filter((one) => !one.includes("Continue")))
    t.match(html, words);
  t.notMatch(html, /<img|<script|<link|src=|url\(|@import|<style/i);
  t.end();
});

t.test("the mail with an invitation", async (t) => {
  const { port, received } = await startServer(t);
  await mailerAt(t, `smtp://127.0.0.1:${port}`).send(inviteMessage(invited));
  const mail = await simpleParser(received[0]!.raw);
  t.equal(mail.subject, `An invitation to the team "Shop" on logs.example.com`);
  t.match(mail.text, /^"bo@example\.com" invites ana@example\.com to the team "Shop" as admin\./);
  t.match(mail.text, /\nhttps:\/\/logs\.example\.com\/invite\/7f3a\n/);
  t.match(mail.text, /until 30 Nov 2026, 14:05 UTC\./);
  t.end();
});

/** What each text of others may be; its markup, headers and reading order must not be. */
const HOSTILE = [
  "x\r\nBcc: eve@example.com\r\n\r\n<b>",
  "x\nSubject: other",
  "\u2028Bcc: eve@example.com",
  `"><img src=//evil.example/x>`,
  "<a href='https://evil.example/'>click</a>",
  "\u202ekcilc\u2066\u0000\u001b[2J\ud800",
  "y".repeat(5000),
  "Zoë 日本語 😀",
];

for (const hostile of HOSTILE) {
  t.test(`hostile texts: ${named(hostile)}`, async (t) => {
    const { port, received } = await startServer(t);
    const mailer = mailerAt(t, `smtp://127.0.0.1:${port}`);
    const messages = [
      [signInMessage({ ...asked, device: hostile, address: hostile }), signInMessage(asked)],
      [inviteMessage({ ...invited, team: hostile, invitedBy: hostile, role: hostile }), inviteMessage(invited)],
    ] as const;
    for (const [message, usual] of messages) {
      await mailer.send(message);
      const { raw, to } = received.pop()!;
      const mail = await simpleParser(raw);
      t.equal(mail.subject, message.subject);
      t.same(to, ["ana@example.com"]);
      t.same(
        [...mail.headers.keys()].sort(),
        [
          ..."auto-submitted x-auto-response-suppress from to subject message-id date mime-version content-type".split(
            " ",
          ),
        ].sort(),
      );
      t.notMatch(mail.text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/);
      const tagsOf = (html: string) => [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag);
      t.same(tagsOf(message.html), tagsOf(usual.html), "the HTML has the tags that it always has");
      t.equal(message.text.split("\n").length, usual.text.split("\n").length, "the text has as many lines");
      for (const line of raw.split("\r\n")) t.ok(Buffer.byteLength(line) <= 998, "a line that SMTP takes");
    }
    t.end();
  });
}

const SUBJECTS: readonly (readonly [team: string, subject: string, named?: string])[] = [
  ["Zoë & 日本語", `An invitation to the team "Zoë & 日本語" on logs.example.com`],
  ["evil.com", "An invitation to a team on logs.example.com", "evil com"],
  ["see https://evil.example/", "An invitation to a team on logs.example.com", "see https evil example"],
  ["eve@evil", "An invitation to a team on logs.example.com", "eve evil"],
  ["y".repeat(81), `An invitation to the team "${"y".repeat(79)}…" on logs.example.com`],
];

for (const [team, subject, named = team.slice(0, 79)] of SUBJECTS) {
  t.test(`the subject for the team ${team}`, async (t) => {
    const { port, received } = await startServer(t);
    const message = inviteMessage({ ...invited, team });
    t.equal(message.subject, subject);
    await mailerAt(t, `smtp://127.0.0.1:${port}`).send(message);
    t.equal((await simpleParser(received[0]!.raw)).subject, subject);
    t.match(message.text, `"${named}`, "the text names the team, and no link");
    t.end();
  });
}

t.test("long lines, lines of a dot, and what is not ASCII arrive as they were sent", async (t) => {
  const { port, received } = await startServer(t);
  const text = `${"日本語 ".repeat(1000)}\n.\n..\nFrom here\n${"x".repeat(5000)}\n`;
  const html = `<p>${"é".repeat(3000)}</p>`;
  await mailerAt(t, `smtp://127.0.0.1:${port}`).send({ ...MESSAGE, text, html });
  const mail = await simpleParser(received[0]!.raw);
  t.equal(mail.text?.trimEnd(), text.trimEnd());
  t.equal(mail.html, html);
  for (const line of received[0]!.raw.split("\r\n")) t.ok(line.length <= 78);
  t.end();
});

const domain = `${["a".repeat(60), "b".repeat(60), "c".repeat(61)].join(".")}.com`;
const LONGEST = `${"l".repeat(250 - domain.length - 1)}@${domain}`;

const SENT_TO: readonly (readonly [to: string, recipient: string])[] = [
  [LONGEST, LONGEST],
  ["o'brien+a=b@example.com", "o'brien+a=b@example.com"],
  ["  Ana@EXAMPLE.com ", "Ana@example.com"],
  ["ana@münchen.example", "ana@münchen.example"],
  ["zoë@example.com", "zoë@example.com"],
];

for (const [to, recipient] of SENT_TO) {
  t.test(`sent to ${to}`, async (t) => {
    const { port, received } = await startServer(t);
    await mailerAt(t, `smtp://127.0.0.1:${port}`).send({ ...MESSAGE, to });
    const { to: recipients, raw } = received[0]!;
    t.same(
      recipients.map((address) => address.replace("xn--mnchen-3ya", "münchen")),
      [recipient],
    );
    const header = [(await simpleParser(raw)).to].flat()[0]!.value;
    t.same(
      header.map(({ address }) => address?.replace("xn--mnchen-3ya", "münchen")),
      [recipient],
    );
    t.end();
  });
}

const NOT_SENT_TO = [
  "ana@example.com, eve@example.com",
  "ana@example.com\r\nBcc: eve@example.com",
  "",
  "Ana <ana@example.com>",
];

for (const to of NOT_SENT_TO) {
  t.test(`not sent to ${named(to)}`, async (t) => {
    const { port, received } = await startServer(t);
    const failure = await failureOf(mailerAt(t, `smtp://127.0.0.1:${port}`).send({ ...MESSAGE, to }));
    t.match(failure, { isPermanent: true, message: /^the recipient is not one email address: nothing was sent$/ });
    t.equal(received.length, 0);
    t.end();
  });
}

t.test("the id of a message is ASCII if the sender's domain is not", async (t) => {
  const { port, received } = await startServer(t);
  const mailer = openMailer({ url: `smtp://127.0.0.1:${port}`, from: "logs@münchen.example" }, systemClock);
  await mailer.send({ ...MESSAGE, id: "s-1" });
  t.match(received[0]!.raw, /^Message-ID: <s-1@xn--mnchen-3ya\.example>\r$/m);
  t.end();
});

t.test("a subject of several lines is one header", async (t) => {
  const { port, received } = await startServer(t);
  const subject = "a\r\nBcc: eve@example.com\u2028b";
  await mailerAt(t, `smtp://127.0.0.1:${port}`).send({ ...MESSAGE, subject });
  const mail = await simpleParser(received[0]!.raw);
  t.equal(mail.subject, "a Bcc: eve@example.com b");
  t.equal(mail.bcc, undefined);
  t.end();
});

const ADDRESSES: readonly (readonly [text: string, address: string, key: string])[] = [
  ["ana@example.com", "ana@example.com", "ana@example.com"],
  ["  Ana.B@Example.COM\n", "Ana.B@example.com", "ana.b@example.com"],
  ["o'brien+tag/x=y@example.com", "o'brien+tag/x=y@example.com", "o'brien+tag/x=y@example.com"],
  ["ana@localhost", "ana@localhost", "ana@localhost"],
  ["ana@münchen.de", "ana@münchen.de", "ana@münchen.de"],
  ["ana@xn--mnchen-3ya.de", "ana@münchen.de", "ana@münchen.de"],
  ["ana@MÜNCHEN.de", "ana@münchen.de", "ana@münchen.de"],
  ["ana@mu\u0308nchen.de", "ana@münchen.de", "ana@münchen.de"],
  ["ZOË@example.com", "ZOË@example.com", "zoë@example.com"],
  ["zoe\u0308@example.com", "zoë@example.com", "zoë@example.com"],
  ["用户@例子.广告", "用户@例子.广告", "用户@例子.广告"],
  // The sign of Kelvin is a K wherever it is sent to, so it is the same mailbox that is compared.
  ["mi\u212ae@example.com", "miKe@example.com", "mike@example.com"],
  ["ana@\uff45xample.com", "ana@example.com", "ana@example.com"],
  [LONGEST, LONGEST, LONGEST],
];

for (const [text, address, key] of ADDRESSES) {
  t.test(`an address: ${named(text)}`, (t) => {
    t.same(readEmailAddress(text), { address, key });
    t.end();
  });
}

const NO_ADDRESSES = [
  "",
  "ana",
  "@example.com",
  "ana@",
  "ana@@example.com",
  "a@b@example.com",
  "ana b@example.com",
  '"ana"@example.com',
  "ana@example.com,eve@example.com",
  "ana,eve@example.com",
  "team:ana@example.com;",
  "<ana@example.com>",
  "Ana <ana@example.com>",
  "ana(comment)@example.com",
  "ana@[127.0.0.1]",
  "ana@127.0.0.1",
  "ana@127.1",
  "ana@0x7f.1",
  "ana@::1",
  ".ana@example.com",
  "ana.@example.com",
  "a..na@example.com",
  "ana\\@example.com",
  "ana@example..com",
  "ana@-example.com",
  "ana@example-.com",
  "ana@exam_ple.com",
  "ana@example.com.",
  "ana@example.com/x",
  "ana@example.com:25",
  "ana@example.com?x",
  "ana@example.com#x",
  "ana@example%2ecom",
  "ana@exam\nple.com",
  "ana@exam\u00adple.com",
  "ana@exa mple.com",
  "ana\r\nBcc:eve@example.com",
  "ana\u0000@example.com",
  "ana\u200b@example.com",
  "ana\u202e@example.com",
  "ana\ud800@example.com",
  "ana\u3000b@example.com",
  "ana\ufe0f@example.com",
  `${"l".repeat(65)}@example.com`,
  `${"é".repeat(33)}@example.com`,
  `ana@${"d".repeat(64)}.com`,
  `${"l".repeat(60)}@${"d.".repeat(97)}com`,
  "a".repeat(1_000_000),
];

for (const text of NO_ADDRESSES) {
  t.test(`no address: ${named(text)}`, (t) => {
    t.equal(readEmailAddress(text), undefined);
    t.end();
  });
}

t.test("an address is read at once", (t) => {
  // Processor time, which other tests on the machine do not use up.
  const begin = process.cpuUsage();
  for (const text of [`${"a".repeat(500)}!`, `${"é.".repeat(240)}@`, `${"a.".repeat(32)} @example.com`]) {
    t.equal(readEmailAddress(text), undefined);
  }
  const { user, system } = process.cpuUsage(begin);
  t.ok(user + system < 200_000, `${user + system} µs`);
  t.end();
});

const SETTINGS: readonly (readonly [url: string, read: object])[] = [
  [
    "smtp://mail.example.com",
    { host: "mail.example.com", port: 587, encryption: "required", isVerified: true, login: undefined },
  ],
  ["smtp://mail.example.com:25/", { port: 25, encryption: "required" }],
  ["SMTPS://MAIL.Example.com", { host: "mail.example.com", port: 465, encryption: "at-once", isVerified: true }],
  ["smtps://münchen.example", { host: "xn--mnchen-3ya.example" }],
  ["smtp://u%40x:p%25%2F%3A@mail.example.com", { login: { user: "u@x", password: "p%/:" } }],
  ["smtp://192.0.2.1", { host: "192.0.2.1", dialedHost: "192.0.2.1", encryption: "required" }],
  ["smtp://[2001:db8::1]:2525", { host: "2001:db8::1", port: 2525, encryption: "required" }],
  ["smtp://localhost:1025", { host: "localhost", dialedHost: "127.0.0.1", encryption: "if-offered", isVerified: true }],
  ["smtp://mail.localhost", { host: "mail.localhost", dialedHost: "127.0.0.1", encryption: "if-offered" }],
  ["smtp://127.8.9.1", { dialedHost: "127.8.9.1", encryption: "if-offered" }],
  ["smtp://[::1]", { host: "::1", dialedHost: "::1", encryption: "if-offered" }],
  ["smtps://localhost", { encryption: "at-once", isVerified: true }],
  ["smtps://localhost?insecure=1", { encryption: "at-once", isVerified: false }],
  ["smtp://[::1]/?insecure=1", { encryption: "if-offered", isVerified: false }],
  // None of these is this machine.
  ["smtp://localhost.example.com", { encryption: "required" }],
  ["smtp://notlocalhost", { encryption: "required" }],
  ["smtp://127.0.0.1.example.com", { encryption: "required" }],
  ["smtp://[::ffff:127.0.0.1]", { encryption: "required" }],
];

for (const [url, read] of SETTINGS) {
  t.test(`settings: ${url}`, (t) => {
    t.match(readMailSettings({ url, from: FROM }), read);
    t.end();
  });
}

const NO_SETTINGS: readonly (readonly [url: string, message: string])[] = [
  ["", "the URL of the SMTP server cannot be read"],
  ["mail.example.com", "the URL of the SMTP server cannot be read"],
  ["smtp://u:s3cret@host name", "the URL of the SMTP server cannot be read"],
  ["smtp://u:s3cret@host:99999", "the URL of the SMTP server cannot be read"],
  ["mail.example.com:587", "the URL of the SMTP server begins with neither smtp:// nor smtps://"],
  ["https://u:s3cret@mail.example.com", "the URL of the SMTP server begins with neither smtp:// nor smtps://"],
  ["direct://u:s3cret@mail.example.com", "the URL of the SMTP server begins with neither smtp:// nor smtps://"],
  ["smtp:", "the URL of the SMTP server has no host"],
  ["smtp://", "the URL of the SMTP server has no host"],
  ["smtp://u:s3cret@:587", "the URL of the SMTP server cannot be read"],
  ["smtp://127.1", "the host in the URL of the SMTP server is neither a name nor an IP address"],
  ["smtp://a_b.example", "the host in the URL of the SMTP server is neither a name nor an IP address"],
  ["smtp://mail.example.com%2Fx", "the host in the URL of the SMTP server is neither a name nor an IP address"],
  ["smtp://-oX.example", "the host in the URL of the SMTP server is neither a name nor an IP address"],
  ["smtp://%E0%A4%A", "the host in the URL of the SMTP server is not percent-encoded"],
  ["smtp://mail.example.com:0", "the URL of the SMTP server has the port 0"],
  ["smtp://u@mail.example.com", "the URL of the SMTP server has a user without a password"],
  ["smtp://:s3cret@mail.example.com", "the URL of the SMTP server has a password without a user"],
  ["smtp://u:s3cret%@mail.example.com", "the password in the URL of the SMTP server is not percent-encoded"],
  ["smtp://u:s3cret@mail.example.com/path", "the URL of the SMTP server has a path or a fragment"],
  ["smtp://u:s3cret@mail.example.com#x", "the URL of the SMTP server has a path or a fragment"],
  ["smtp://u:s3cret#x@mail.example.com", "the URL of the SMTP server cannot be read"],
  ["smtp://u:s3cret@mail.example.com?pool=true", "the URL of the SMTP server has unknown parameters"],
  ["smtp://u:s3cret@mail.example.com?proxy=http://evil", "the URL of the SMTP server has unknown parameters"],
  [
    "smtp://u:s3cret@mail.example.com?tls.rejectUnauthorized=false",
    "the URL of the SMTP server has unknown parameters",
  ],
  ["smtp://localhost?insecure=1&insecure=1", "the URL of the SMTP server has unknown parameters"],
  ["smtp://localhost?insecure=true", "the URL of the SMTP server has unknown parameters"],
  ["smtp://u:s3cret@mail.example.com?insecure=1", "insecure=1 is for an SMTP server on this machine only"],
  ["smtps://localhost.example.com?insecure=1", "insecure=1 is for an SMTP server on this machine only"],
];

for (const [url, message] of NO_SETTINGS) {
  t.test(`no settings: ${url}`, (t) => {
    try {
      openMailer({ url, from: FROM }, systemClock);
      t.fail("the settings were accepted");
    } catch (error) {
      if (!(error instanceof MailSettingsError)) throw error;
      t.equal(error.message, message);
      t.ok((error.hint ?? "").length > 20);
      t.notMatch(`${error.stack} ${error.hint} ${JSON.stringify(error)}`, /s3cret/);
    }
    t.end();
  });
}

const SENDERS: readonly (readonly [from: string, name: string, address: string])[] = [
  ["logs@example.com", "", "logs@example.com"],
  ["<logs@example.com>", "", "logs@example.com"],
  ["Logs <logs@Example.com>", "Logs", "logs@example.com"],
  [`"Logs, of us" <logs@example.com>`, "Logs, of us", "logs@example.com"],
  ["日本語 <logs@example.com>", "日本語", "logs@example.com"],
];

for (const [from, name, address] of SENDERS) {
  t.test(`from ${from}`, async (t) => {
    const { port, received } = await startServer(t);
    const mailer = openMailer({ url: `smtp://127.0.0.1:${port}`, from }, systemClock);
    await mailer.send(MESSAGE);
    t.same((await simpleParser(received[0]!.raw)).from?.value, [{ name, address }]);
    t.end();
  });
}

const NO_SENDERS = [
  "",
  "Logs",
  "Logs <logs>",
  "a@example.com, b@example.com",
  "A <a@example.com>, B <b@example.com>",
  "Logs\r\nBcc: eve@example.com <logs@example.com>",
  "L\u202eogs <logs@example.com>",
  `${"x".repeat(81)} <logs@example.com>`,
];

for (const from of NO_SENDERS) {
  t.test(`not from ${named(from)}`, (t) => {
    t.throws(() => openMailer({ url: "smtp://localhost", from }, systemClock), { message: /sender of mail/ });
    t.end();
  });
}
