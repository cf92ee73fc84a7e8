import type { PrintedLink } from "../../logservice/admin.ts";
import type { Context } from "../context.ts";

/** Prints a link for one use, alone on its line of stdout. `whose` says who uses it: `ann@example.com signs in`. */
export async function printLink(context: Context, { link, expires_at }: PrintedLink, whose: string): Promise<void> {
  await context.say(`${whose} once by this link, until ${expires_at.slice(0, 16).replace("T", " ")} UTC:`);
  await context.print(link);
}
