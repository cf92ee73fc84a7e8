import type { Operations } from "../../schema/rpc.generated.ts";
import { rpcSchema } from "../../schema/rpc-schema.generated.ts";
import type { Grant } from "../access/grant.ts";
import { RpcError } from "../error.ts";
import { teamsOf } from "../records/people.ts";
import { type BillingService, getSubscription } from "./subscriptions.ts";

/** The operations that need Pro: those of the commands that do. */
const PRO: ReadonlySet<string> = new Set(
  Object.entries(rpcSchema.operations).flatMap(([name, { pro }]) => (pro === true ? [name] : [])),
);

export const isProOperation = (name: keyof Operations): boolean => PRO.has(name);

const GET_PRO = "tool team subscribe gets it, as does Subscribe on the page Members";

/**
 * Throws `forbidden` if an operation needs Pro and the team has none. A new team needs it of one of the teams that the person
 * is in; the first team of a person needs nothing, as it is what they subscribe for. Nobody is refused by a service that takes
 * no payments.
 */
export async function refuseWithoutPro(
  service: BillingService,
  operation: keyof Operations,
  { team, person }: Pick<Grant, "team" | "person">,
): Promise<void> {
  if (service.billing.stripe === undefined || !isProOperation(operation)) return;
  if (operation !== "add_team") {
    if (!(await hasPro(service, team)))
      throw forbidden(`${WHAT[operation] ?? operation} needs Pro, which the team ${team} does not have`);
    return;
  }
  const teams = await teamsOf(service.records.db, person!.id);
  for (const { id } of teams) if (await hasPro(service, id)) return;
  if (teams.length > 0) throw forbidden("another team needs Pro, which none of your teams has");
}

/** The work of a person by an operation. */
const WHAT: Readonly<Partial<Record<keyof Operations, string>>> = { add_member: "inviting others" };

const hasPro = async (service: BillingService, team: string) =>
  (await getSubscription(service, team)).edition === "pro";

const forbidden = (why: string) => new RpcError("forbidden", `${why}: ${GET_PRO}`);
