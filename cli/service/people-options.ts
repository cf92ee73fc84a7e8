import type { PeopleOptions } from "../../logservice/admin.ts";
import type { Options } from "../table.ts";

type Flags = Options<"service start">;

/** Flags of the OpenID provider that are of no use alone; undefined if they go together. */
export function wrongPeopleFlags(flags: Flags): { readonly message: string; readonly hint: string } | undefined {
  const hasIssuer = flags["oidc-issuer"] !== undefined;
  if (hasIssuer === (flags["oidc-client"] !== undefined)) {
    const isAlone = !hasIssuer && (flags["oidc-name"] !== undefined || flags["oidc-domain"].length > 0);
    return isAlone
      ? { message: "the OpenID provider is not named", hint: "add --oidc-issuer and --oidc-client" }
      : undefined;
  }
  const message = hasIssuer ? "--oidc-client is missing" : "--oidc-issuer is missing";
  return { message, hint: "write both: --oidc-issuer https://login.example.com --oidc-client <id>" };
}

/**
 * The options of signing in, from flags and the environment. Secrets may be in the latter, which `ps` does not show.
 */
export function peopleOptions(flags: Flags, env: NodeJS.ProcessEnv): PeopleOptions {
  const issuer = flags["oidc-issuer"];
  return {
    publicUrl: flags["public-url"] ?? (env.TOOL_PUBLIC_URL || undefined),
    signUp: flags["sign-up"],
    smtp: flags.smtp ?? (env.TOOL_SMTP_URL || undefined),
    mailFrom: flags["mail-from"],
    oidc:
      issuer === undefined
        ? undefined
        : {
            issuer,
            clientId: flags["oidc-client"] ?? "",
            clientSecret: env.TOOL_OIDC_SECRET || undefined,
            name: flags["oidc-name"],
            domains: flags["oidc-domain"],
          },
    trusted: flags["trust-proxy"],
  };
}
