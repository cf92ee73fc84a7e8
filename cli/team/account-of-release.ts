import type { ReleaseAccount } from "../edition.ts";
import { currentCredential, type TeamCredentials, TOOL_CONFIG_REMEDY } from "./credentials.ts";
import { TeamError } from "./error.ts";
import { loginCommand } from "./login-command.ts";
import type { KeyedCredential } from "./team-config.ts";

/**
 * The credential for what is paid: in a release with an account service, that of whoever is signed in there, as the current
 * team may be one of another service; else the current one. Throws a TeamError if there is none.
 */
export function payingCredential(credentials: TeamCredentials, account: ReleaseAccount | undefined): KeyedCredential {
  const { source, config } = credentials;
  if (account === undefined || config.current?.url === account.url) return currentCredential(credentials);
  const some = config.credentials.filter(({ url }) => url === account.url);
  if (some.length === 1) return some[0]!;
  if (some.length > 1) {
    throw new TeamError(
      `you are in several teams at ${account.url}, and none of them is the current one`,
      `choose one of ${some.map(({ key }) => key).join(", ")}: tool team switch ${some[0]!.key}`,
    );
  }
  if (source === "TOOL_CONFIG") throw new TeamError(`TOOL_CONFIG has no token of ${account.url}`, TOOL_CONFIG_REMEDY);
  const signIn = loginCommand({ url: account.url, email: config.current?.email ?? "you@example.com" });
  throw new TeamError(`nobody is signed in at ${account.url}`, signIn);
}
