// A real SMTP server on loopback, and what it was sent, as a parser of mail reads it.
import type { AddressInfo } from "node:net";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer } from "smtp-server";
import type { Test } from "tap";
import { systemClock } from "../../../grammar/units/clock.ts";
import { type Mailer, openMailer } from "../../../logservice/mail/mailer.ts";
import { until } from "../until.ts";

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The message as it came. */
  readonly raw: string;
  readonly headers: ParsedMail["headers"];
  /** The address that it leads to, which is the only one in it. */
  readonly link: string;
}

export interface MailServer {
  readonly port: number;
  /** Every mail that it took. */
  readonly mails: readonly Mail[];
  mailer(): Mailer;
  /** Waits for the mail of this number to an address, the first one unless told otherwise. */
  mailTo(email: string, number?: number): Promise<Mail>;
  /** How many connections are open. */
  connections(): number;
  stop(): Promise<void>;
}

export interface MailServerOptions {
  readonly port?: number;
  /** Gives the answer to a recipient that is not taken, perhaps late or never. */
  readonly refuse?: (to: string) => string | undefined | Promise<string | undefined>;
}

export async function startMailServer(
  t: Test,
  { port = 0, refuse = () => undefined }: MailServerOptions = {},
): Promise<MailServer> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS", "AUTH"],
    disableReverseLookup: true,
    closeTimeout: 20,
    onRcptTo({ address }, _session, callback) {
      void Promise.resolve(refuse(address)).then((refusal) =>
        callback(refusal === undefined ? null : Object.assign(new Error(refusal), { responseCode: 451 })),
      );
    },
    onData(stream, { envelope }, callback) {
      void readAll(stream).then(async (raw) => {
        const { subject = "", text = "", html, headers } = await simpleParser(raw);
        const to = envelope.rcptTo.map(({ address }) => address).join();
        mails.push({
          to,
          subject,
          text,
          html: html || "",
          raw,
          headers,
          link: /https?:\/\/\S+/.exec(text)?.[0] ?? "",
        });
        callback();
      }, callback);
    },
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= new Promise((resolve) => server.close(resolve));
    return stopping;
  };
  t.teardown(stop);
  const { port: actual } = server.server.address() as AddressInfo;
  return {
    port: actual,
    mails,
    mailer: () => openMailer({ url: `smtp://127.0.0.1:${actual}`, from: "Logs <logs@example.com>" }, systemClock),
    mailTo: (email, number = 1) =>
      until(`mail ${number} to ${email}`, () => mails.filter(({ to }) => to === email)[number - 1]),
    connections: () => (server as unknown as { readonly connections: ReadonlySet<unknown> }).connections.size,
    stop,
  };
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
