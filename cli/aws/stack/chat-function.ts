/**
 * The code of the function that posts alarms to a chat's webhook: text with bold in Markdown, an optional channel, and an
 * attachment with a picture. It throws if the chat refuses, so that the topic retries.
 */
export const CHAT_SOURCE = `const GIFS = {
  ALARM: "https://upload.wikimedia.org/wikipedia/commons/d/d3/Newtons_cradle_animation_book_2.gif",
  OK: "https://upload.wikimedia.org/wikipedia/commons/2/2c/Rotating_earth_%28large%29.gif",
};
exports.handler = async ({ Records }) => {
  for (const { Sns } of Records) {
    const message = messageOf(Sns);
    const response = await fetch(process.env.WEBHOOK_URL, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(message),
    });
    // Not the address: it is the secret.
    if (!response.ok) throw new Error("the webhook answered " + response.status);
  }
};
function messageOf({ Subject, Message }) {
  const { CHANNEL, GIFS: gifs } = process.env;
  const base = CHANNEL === undefined ? {} : { channel: CHANNEL };
  let alarm;
  try {
    alarm = JSON.parse(Message);
  } catch {
    return { ...base, text: [Subject, Message].filter(Boolean).join("\\n") };
  }
  const { AlarmName, AlarmDescription, NewStateValue, NewStateReason } = alarm;
  const state = { ALARM: "Triggered", OK: "Resolved" }[NewStateValue] ?? NewStateValue;
  const text = "*" + state + "*: " + AlarmName + "\\n" + [AlarmDescription, NewStateReason].filter(Boolean).join("\\n");
  const gif = gifs === "true" ? GIFS[NewStateValue] : undefined;
  return {
    ...base,
    text,
    ...(gif && { attachments: [{ fallback: state, image_url: gif }] }),
  };
}
`;
