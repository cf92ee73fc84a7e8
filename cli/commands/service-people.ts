import { addOwner, signInLinks } from "../../logservice/admin.ts";
import { type Context, EXIT } from "../context.ts";
import { onDataDirectory } from "../service/data-flag.ts";
import { printLink } from "../service/print-link.ts";
import type { Options } from "../table.ts";

/** `tool service owner add`: makes a person an owner, also while the service runs, and prints a link for signing in. */
export async function owner(context: Context, options: Options<"service owner">): Promise<number> {
  const { do: action, email } = options;
  if (action !== "add") {
    return context.misuse(`tool service owner has no action ${JSON.stringify(action)}`, "write tool service owner add");
  }
  return onDataDirectory(context, options, async (folder, records) => {
    const made = await addOwner(folder, email, { team: options.team, records, ...linkOptions(context, options) });
    const { team, link, expires_at } = made;
    if (context.format === "json") {
      await context.print(JSON.stringify({ team, email, sign_in_url: link, expires_at }));
    } else {
      await context.say(`${email} is an owner of the team ${team}.`);
      await printLink(context, made, `${email} signs in`);
    }
    return EXIT.ok;
  });
}

/** `tool service sign-in`: prints links for a person who has no other way to get them. */
export async function signIn(context: Context, options: Options<"service sign-in">): Promise<number> {
  const { email } = options;
  return onDataDirectory(context, options, async (folder, records) => {
    const { own, waiting } = await signInLinks(folder, email, { records, ...linkOptions(context, options) });
    if (context.format === "json") {
      const requests = waiting.map(({ link, ...one }) => ({ ...one, confirm_url: link }));
      await context.print(
        JSON.stringify({ email, sign_in_url: own.link, expires_at: own.expires_at, waiting: requests }),
      );
      return EXIT.ok;
    }
    for (const { device, address, at, link } of waiting) {
      const time = `${at.slice(11, 16)} UTC`;
      await context.say(`${device} at ${address} asked at ${time}: open this link and type the code that it shows`);
      await context.print(link);
    }
    await printLink(context, own, `${waiting.length === 0 ? "" : "Or: "}A browser signs in as ${email}`);
    return EXIT.ok;
  });
}

function linkOptions({ io }: Context, flags: { readonly "public-url": string | undefined }) {
  return { publicUrl: flags["public-url"] ?? (io.env.TOOL_PUBLIC_URL || undefined), nowMs: io.nowMs() };
}
