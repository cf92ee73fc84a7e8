// A real SMTP server on loopback: the mails as a parser reads them, and recipients that it refuses.
import type { AddressInfo } from "node:net";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer } from "smtp-server";
import { systemClock } from "../../../grammar/units/clock.ts";
import { openMailer } from "../../../logservice/mail/mailer.ts";

export interface ReceivedMail {
  readonly to: string;
  readonly mail: ParsedMail;
}

interface Test {
  teardown(handler: () => unknown): void;
}

/** Ends with the test. */
export async function startMailServer(t: Test) {
  const mails: ReceivedMail[] = [];
  const refused = new Map<string, number>();
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS", "AUTH"],
    authOptional: true,
    disableReverseLookup: true,
    closeTimeout: 20,
    onRcptTo({ address }, _session, callback) {
      const responseCode = refused.get(address);
      callback(responseCode === undefined ? null : Object.assign(new Error("secret-reason"), { responseCode }));
    },
    onData(stream, session, callback) {
      void simpleParser(stream).then((mail) => {
        mails.push({ to: session.envelope.rcptTo[0]!.address, mail });
        callback();
      }, callback);
    },
  });
  // A sender that is killed is no failure of the server.
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise<void>((resolve) => server.close(resolve)));
  const url = `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  const mailer = openMailer({ url, from: "Logs <logs@example.com>" }, systemClock);
  t.teardown(() => mailer.close());
  return {
    url,
    mailer,
    mails: mails as readonly ReceivedMail[],
    /** From now on this code of SMTP answers an address; without one it is accepted. */
    answer(address: string, code?: number) {
      if (code === undefined) refused.delete(address);
      else refused.set(address, code);
    },
  };
}
