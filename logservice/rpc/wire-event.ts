import type { Event as WireEvent } from "../../schema/rpc.generated.ts";
import { levelName } from "../events/level-names.ts";
import type { Event } from "../events/store.ts";

/** An event as clients read it, with the name of its level, and the word that was sent if that is another one. */
export function wireEvent({ id, timestamp, level, message, truncated, fields }: Event): WireEvent {
  const name = levelName(level);
  const word = level.toLowerCase();
  return {
    id,
    timestamp,
    level: name,
    // Not for what is only shorter, such as `warn`.
    ...(!name.startsWith(word) && { sent_level: word }),
    message,
    ...(truncated === true && { truncated }),
    fields: fields as WireEvent["fields"],
  };
}
