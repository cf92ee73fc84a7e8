import type { Records } from "../records/open.ts";
import { addSignIn } from "../records/sign-ins.ts";
import { linkOf } from "./links.ts";
import type { PublicAddress } from "./public-address.ts";

/** How long a link that was printed can be used. */
const LASTS_MS = 3_600_000;

/**
 * Makes a link that signs a person in once, for whoever opens it: to be shown only to somebody who may do that. With `onlyTeam`
 * it is of no use once the person is in another team.
 */
export async function makeSignInLink(
  {
    records,
    account,
  }: {
    readonly records: Pick<Records, "db" | "seal">;
    readonly account: { readonly address: Pick<PublicAddress, "link"> };
  },
  { email, emailKey, onlyTeam = "" }: { readonly email: string; readonly emailKey: string; readonly onlyTeam?: string },
  nowMs: number,
): Promise<{ readonly link: string; readonly expires_at: string }> {
  const nobody = { secret_hash: "", code: "", device: "", address: "", team_id: onlyTeam, identity: "" };
  const unproven = Number(onlyTeam !== "");
  const { id, expires_at } = await addSignIn(
    records.db,
    { kind: "link", email, email_key: emailKey, ...nobody, unproven },
    { nowMs, lastsMs: LASTS_MS },
  );
  return { link: account.address.link(`/sign-in/link/${linkOf(records.seal, "sign-in", id)}`), expires_at };
}
