import type { SmtpServer } from "./settings.ts";

/** A message could not be sent. The text is for operators: which server, what happened, what to do. */
export class MailFailure extends Error {
  override readonly name = "MailFailure";
  /** Whether the server refused this message or its recipient for good: sending it again gets the same answer. */
  readonly isPermanent: boolean;

  constructor(message: string, isPermanent: boolean) {
    super(message);
    this.isPermanent = isPermanent;
  }
}

/** The members of nodemailer's errors. */
interface SmtpError {
  readonly message?: string;
  readonly code?: string;
  /** The command that the server answered with an error. */
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number;
}

/**
 * The failure of an attempt. The error of nodemailer is not its cause: it carries what the server wrote, which may be long
 * and may repeat the password.
 */
export function mailFailureOf(error: unknown, server: SmtpServer): MailFailure {
  const { message = "", code = "", command = "", response, responseCode = 0 } = error as SmtpError;
  const where = `${server.host.includes(":") ? `[${server.host}]` : server.host}:${server.port}`;
  const reply = harmless((response ?? message).replace(NODE_ADVICE, ""), server.login);
  const detail = reply === "" ? "" : `: ${reply}`;
  const text = (what: string, remedy = "") => `the SMTP server ${where} ${what}${detail}${remedy && `; ${remedy}`}`;

  if (code === "EAUTH") {
    return new MailFailure(text("refused the login", "check the user and the password in the URL"), false);
  }
  if (responseCode !== 0 && (command === "RCPT TO" || command === "DATA")) {
    const what = command === "DATA" ? "message" : "recipient";
    return new MailFailure(text(`refused the ${what}`), isPermanentReply(responseCode));
  }
  if (command === "MAIL FROM" && responseCode >= 500) {
    const remedy = "check the sender's address, and whether the server wants a login";
    return new MailFailure(text("refused the sender", remedy), false);
  }
  if (command === "STARTTLS" && response !== undefined) {
    return new MailFailure(text("does not encrypt by STARTTLS", "use smtps:// if it encrypts at once"), false);
  }
  if (code === "ETLS" || /certificate|SSL|TLS/.test(message)) {
    return new MailFailure(text("could not be spoken to over TLS", tlsRemedy(message, server)), false);
  }
  if (code === "EDNS") return new MailFailure(text("was not found", "check the host in the URL"), false);
  if (/^Greeting never/.test(message) && server.encryption !== "at-once") {
    return new MailFailure(text("did not answer", "if it encrypts at once, as on port 465, use smtps://"), false);
  }
  return new MailFailure(text("could not take the message"), false);
}

/** Node 24 says how to start Node, which operators do not do; the remedy is for them. */
const NODE_ADVICE = /; if the root CA is installed locally, try running Node\.js with --use-system-ca$/;

/** RFC 5321 makes every 5xx permanent. 503 is about the order of commands, so another connection may get another answer. */
const isPermanentReply = (code: number) => code >= 500 && code < 600 && code !== 503;

function tlsRemedy(message: string, server: SmtpServer): string {
  if (/wrong version number|packet length too long/i.test(message)) return "use smtp:// if it encrypts by STARTTLS";
  return server.isVerified ? "its certificate must be valid for the host in the URL" : "";
}

/** Returns the text of a server for one line of a log: bounded, without control characters and without our password. */
function harmless(text: string, login: SmtpServer["login"]): string {
  let line = text.slice(0, MAX_READ);
  for (const secret of secretsOf(login)) line = line.replaceAll(secret, "****");
  line = line.replace(/\s+/g, " ").replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");
  const characters = [...line.trim()];
  return characters.length > MAX_SHOWN ? `${characters.slice(0, MAX_SHOWN - 1).join("")}…` : characters.join("");
}

/** The password and the forms in which the login sends it: a server may repeat a command that it does not understand. */
function secretsOf(login: SmtpServer["login"]): string[] {
  if (login === undefined) return [];
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const { user, password } = login;
  return [base64(`\0${user}\0${password}`), base64(password), password, encodeURIComponent(password)];
}

/** Characters of an answer that are kept: the server decides how long it is. */
const MAX_SHOWN = 300;

/** More than is shown, since a secret at the cut would keep its first half. */
const MAX_READ = 10_000;
