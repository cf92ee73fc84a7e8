// The messages that a function of the tool would send out to the network: from here nothing leaves, and they are kept
// as mails are.
import { randomUUID } from "node:crypto";
import { AwsError } from "../protocol/error.ts";
import type { World } from "../world.ts";

/** Keeps a message that the Node runtime here hands over in place of the network. */
export async function keepMessage(
  world: World,
  region: string,
  request: Buffer,
): Promise<{ status: number; body: object }> {
  const { url, body } = JSON.parse(request.toString()) as { readonly url: string; readonly body: string };
  // Its path is the secret of a webhook.
  const { host: to } = new URL(url);
  const mail = {
    id: randomUUID(),
    at: world.clock.date(),
    protocol: "chat",
    to,
    subject: "",
    text: textOf(body),
  } as const;
  try {
    await world.run("SendMessage", () => world.service("sns", region).keep(mail));
    return { status: 200, body: {} };
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    return { status: error.status ?? 400, body: { code: error.code, message: error.message } };
  }
}

/** The text that a chat shows; the whole if there is none. */
function textOf(body: string): string {
  try {
    const { text } = JSON.parse(body) as { readonly text?: unknown };
    return typeof text === "string" ? text : body;
  } catch {
    return body;
  }
}
