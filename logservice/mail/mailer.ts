import { randomUUID } from "node:crypto";
import { createTransport } from "nodemailer";
import type { Clock } from "../../grammar/units/clock.ts";
import { asciiDomain, readEmailAddress } from "./address.ts";
import { MailFailure, mailFailureOf } from "./failure.ts";
import { type MailSettings, readMailSettings, type SmtpServer } from "./settings.ts";

export interface MailMessage {
  /** One email address, without a name. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The first part of the Message-ID, of letters, digits, `.`, `_` and `-`. The same for each attempt of one message. */
  readonly id?: string;
}

export interface Mailer {
  /** The SMTP server's host. */
  readonly host: string;
  /**
   * Hands a message to the SMTP server. Throws MailFailure, or the reason of the signal if that is aborted first; the
   * server may have taken the message then.
   */
  send(message: MailMessage, signal?: AbortSignal): Promise<void>;
  /** Ends what is being sent. */
  close(): void;
}

export interface MailTimeouts {
  readonly connectMs: number;
  readonly greetingMs: number;
  /** Without any byte from the server. */
  readonly silenceMs: number;
  /** A whole message: a server that sends a byte now and then is never silent. */
  readonly sendMs: number;
}

const TIMEOUTS: MailTimeouts = { connectMs: 10_000, greetingMs: 10_000, silenceMs: 20_000, sendMs: 60_000 };

/** Makes a sender of mail. Nothing is connected before the first message. Throws MailSettingsError. */
export function openMailer(settings: MailSettings, clock: Clock): Mailer {
  return mailerTo(readMailSettings(settings), TIMEOUTS, clock);
}

/** A sender by settings that were read. */
export function mailerTo(server: SmtpServer, timeouts: MailTimeouts, clock: Clock): Mailer {
  const closing = new AbortController();
  // A connection for each message, as there are few. Every option is named here: see readMailSettings.
  const transport = createTransport({
    host: server.dialedHost,
    port: server.port,
    secure: server.encryption === "at-once",
    requireTLS: server.encryption === "required",
    ...(server.dialedHost !== server.host && { servername: server.host }),
    tls: { rejectUnauthorized: server.isVerified },
    ...(server.login && { auth: { user: server.login.user, pass: server.login.password } }),
    dnsTimeout: timeouts.connectMs,
    connectionTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.greetingMs,
    socketTimeout: timeouts.silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { name, address: sender } = server.from;

  return {
    host: server.host,
    async send({ to, subject, text, html, id = randomUUID() }, signal) {
      signal?.throwIfAborted();
      const recipient = readEmailAddress(to);
      if (recipient === undefined)
        throw new MailFailure("the recipient is not one email address: nothing was sent", true);
      if (!/^[\w.-]{1,100}$/.test(id)) throw new TypeError(`not the first part of a Message-ID: ${JSON.stringify(id)}`);
      const late = new AbortController();
      const timer = clock.after(timeouts.sendMs, () => late.abort());
      try {
        await transport.sendMail({
          from: { name, address: sender.address },
          to: { name: "", address: recipient.address },
          subject: subject.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " "),
          text,
          html,
          messageId: `<${id}@${asciiDomain(sender.address.split("@")[1]!)}>`,
          headers: HEADERS,
          xMailer: false,
          disableFileAccess: true,
          disableUrlAccess: true,
          signal: AbortSignal.any([closing.signal, late.signal, ...(signal === undefined ? [] : [signal])]),
        });
      } catch (error) {
        signal?.throwIfAborted();
        if (late.signal.aborted) throw mailFailureOf(new Error(`no end after ${timeouts.sendMs / 1000} s`), server);
        throw mailFailureOf(error, server);
      } finally {
        timer.stop();
      }
    },
    close() {
      closing.abort();
      transport.close();
    },
  };
}

/** Answering machines are asked for silence: RFC 3834, and the header that Exchange reads instead. */
const HEADERS = { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" };
