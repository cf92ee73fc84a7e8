import { alerts } from "./alerts.ts";
import { audit } from "./audit.ts";
import type { Handlers } from "./call.ts";
import { events } from "./events.ts";
import { instance } from "./instance.ts";
import { notifications } from "./notifications.ts";
import { projects } from "./projects.ts";
import { searches } from "./searches.ts";
import { tokens } from "./tokens.ts";

/** Every operation of schema/rpc.schema.json. The compiler reports one that is missing. */
export const operations: Handlers = {
  ...projects,
  ...events,
  ...alerts,
  ...notifications,
  ...searches,
  ...tokens,
  ...instance,
  ...audit,
};
