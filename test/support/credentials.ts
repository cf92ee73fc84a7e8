// The credentials by which requests to the service can say who asks, and tails that are read with them.
import { get, type IncomingMessage } from "node:http";
import { addToken } from "../../logservice/access/tokens.ts";
import { openSession } from "../../logservice/account/sign-in.ts";
import { userOf } from "../../logservice/records/people.ts";
import type { Answer, TestService } from "./service.ts";

/** The headers that say who asks. */
export type Credential = Readonly<Record<string, string>>;

export const bearer = (token: string): Credential => ({ authorization: `Bearer ${token}` });

/** The cookie of a new session of a person who is there, as a page of the service sends it. */
export async function session(service: TestService, email: string, nowMs = Date.now()): Promise<Credential> {
  const { db } = service.records;
  const user = await userOf(db, email);
  const secret = await openSession(db, user!, { device: "a test", address: "127.0.0.1", nowMs });
  const { port, url } = service.running;
  return { cookie: `tool_session_${port}=${secret}`, origin: url };
}

/** A token of CI in a team. */
export async function ciToken({ records }: TestService, team: string, expiresAt = "2100-01-01T00:00:00Z") {
  const scopes = ["projects:read", "events:write"] as const;
  return addToken(records.db, { team, kind: "ci", scopes, expiresAt }, new Date().toISOString());
}

/** Calls an operation with a credential. */
export function ask(service: TestService, name: string, body: unknown, credential: Credential): Promise<Answer> {
  const headers = { "content-type": "application/json", ...credential };
  return service.send({ path: `/${name}`, headers, body: JSON.stringify(body) });
}

/** Sends a line of text with a credential. */
export function ingest(service: TestService, project: string, line: string, credential: Credential): Promise<Answer> {
  return service.send({
    path: `/ingest/${project}`,
    headers: { "content-type": "text/plain", ...credential },
    body: line,
  });
}

export interface OpenTail {
  readonly status: number;
  /** Returns the text that came until now. */
  text(): string;
  /** Whether the answer has ended. */
  isEnded(): boolean;
  close(): void;
}

/** Opens a tail; resolves when it is answered, and if it is refused, when that has come whole. */
export function openTail({ running }: TestService, project: string, headers: Credential): Promise<OpenTail> {
  return new Promise((resolve, reject) => {
    let text = "";
    let isEnded = false;
    const options = {
      host: "127.0.0.1",
      port: running.port,
      path: `/tail?project_id=${project}`,
      agent: false,
      headers,
    };
    const request = get(options, (response: IncomingMessage) => {
      const status = response.statusCode!;
      const tail = { status, text: () => text, isEnded: () => isEnded, close: () => void request.destroy() };
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("error", () => {});
      response.once("close", () => {
        isEnded = true;
        resolve(tail);
      });
      if (status === 200) resolve(tail);
    });
    request.on("error", reject);
  });
}
