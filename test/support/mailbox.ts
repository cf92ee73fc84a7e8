// A real SMTP server on loopback, and the mails that it was given, as a parser of mail reads them.
import type { AddressInfo } from "node:net";
import { simpleParser } from "mailparser";
import { SMTPServer } from "smtp-server";
import { until } from "./until.ts";

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The Message-ID header. */
  readonly id: string;
  /** The link in it. */
  readonly link: string;
}

export interface Mailbox {
  /** The address of the server, for `--smtp`. */
  readonly url: string;
  /** All mails that arrived, also those that were sent twice. */
  readonly mails: readonly Mail[];
  /** The next mail to an address: each is given once, also if it was sent twice. */
  next(to: string): Promise<Mail>;
  /** From now on mails arrive, and the sender is not told so before `release`. */
  hold(): void;
  release(): void;
}

interface Test {
  teardown(handler: () => unknown): void;
}

/** Ends with the test. */
export async function startMailbox(t: Test): Promise<Mailbox> {
  const mails: Mail[] = [];
  const takenIds = new Set<string>();
  let held: (() => void)[] | undefined;
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS", "AUTH"],
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 20,
    onData(stream, session, callback) {
      void simpleParser(stream).then((mail) => {
        const text = mail.text ?? "";
        const link = /https?:\/\/\S+/.exec(text)?.[0] ?? "";
        const { subject = "", messageId: id = "" } = mail;
        mails.push({ to: session.envelope.rcptTo[0]!.address, subject, text, id, link });
        if (held === undefined) callback();
        else held.push(callback);
      }, callback);
    },
  });
  // A sender that is killed is no failure of the server.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise<void>((resolve) => server.close(resolve)));
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    mails,
    async next(to) {
      const mail = await until(`a mail to ${to}`, () => mails.find((one) => one.to === to && !takenIds.has(one.id)));
      takenIds.add(mail.id);
      return mail;
    },
    hold() {
      held ??= [];
    },
    release() {
      const callbacks = held ?? [];
      held = undefined;
      for (const callback of callbacks) callback();
    },
  };
}
