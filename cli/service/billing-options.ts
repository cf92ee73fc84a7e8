import { resolve } from "node:path";
import type { BillingOptions } from "../../logservice/admin.ts";
import type { Options } from "../table.ts";

type Flags = Options<"service start">;

/** Flags of Stripe without it; undefined if they go together. */
export function wrongBillingFlags(flags: Flags): { readonly message: string; readonly hint: string } | undefined {
  if (flags.billing === "stripe") return undefined;
  const alone = (["stripe-price", "stripe-url"] as const).find((name) => flags[name] !== undefined);
  return alone && { message: `--${alone} is for services that are paid by Stripe`, hint: "add --billing stripe" };
}

/** The options of payments. Secrets come from the environment alone, which `ps` does not show. */
export function billingOptions(flags: Flags, env: NodeJS.ProcessEnv, directory: string): BillingOptions {
  const file = flags["statement-key"];
  return {
    provider: flags.billing ?? "none",
    stripeKey: env.TOOL_STRIPE_KEY || undefined,
    webhookSecret: env.TOOL_STRIPE_WEBHOOK_SECRET || undefined,
    price: flags["stripe-price"],
    stripeUrl: flags["stripe-url"],
    statementKeyFile: file === undefined ? undefined : resolve(directory, file),
  };
}
