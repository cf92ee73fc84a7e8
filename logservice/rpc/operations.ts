import type { Operations } from "../../schema/rpc.generated.ts";
import { isProOperation, refuseWithoutPro } from "../billing/require-pro.ts";
import { account } from "./account.ts";
import { alerts } from "./alerts.ts";
import { audit } from "./audit.ts";
import type { Call, Handlers } from "./call.ts";
import { ciTokens } from "./ci-tokens.ts";
import { deliveries } from "./deliveries.ts";
import { events } from "./events.ts";
import { exports } from "./exports.ts";
import { instance } from "./instance.ts";
import { members } from "./members.ts";
import { notifications } from "./notifications.ts";
import { projects } from "./projects.ts";
import { searches } from "./searches.ts";
import { subscriptions } from "./subscriptions.ts";
import { teams } from "./teams.ts";
import { tokens } from "./tokens.ts";

/** Every operation of schema/rpc.schema.json. The compiler reports one that is missing. */
const handlers: Handlers = {
  ...projects,
  ...events,
  ...exports,
  ...alerts,
  ...notifications,
  ...deliveries,
  ...searches,
  ...tokens,
  ...instance,
  ...audit,
  ...account,
  ...teams,
  ...members,
  ...ciTokens,
  ...subscriptions,
};

/** The operations, each of which tells its handler its name. */
export const operations = Object.fromEntries(
  Object.keys(handlers).map((name) => [name, named(name as keyof Operations)]),
) as Handlers<keyof Operations, Call>;

function named<Name extends keyof Operations>(name: Name): Handlers<Name, Call>[Name] {
  const handler = handlers[name];
  if (!isProOperation(name)) return (service, input, call) => handler(service, input, { ...call, operation: name });
  return async (service, input, call) => {
    await refuseWithoutPro(service, name, call.grant);
    return handler(service, input, { ...call, operation: name });
  };
}
