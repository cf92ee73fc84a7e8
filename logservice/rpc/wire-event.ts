import type { Event as WireEvent } from "../../schema/rpc.generated.ts";
import { levelName } from "../events/level-names.ts";
import type { Event } from "../events/store.ts";

/** An event as clients read it, with the name of its level instead of the spelling that was sent. */
export function wireEvent({ id, timestamp, level, message, truncated, fields }: Event): WireEvent {
  return {
    id,
    timestamp,
    level: levelName(level),
    message,
    ...(truncated === true && { truncated }),
    fields: fields as WireEvent["fields"],
  };
}
