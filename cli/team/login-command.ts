import { shellWord } from "../shell-word.ts";

/** The command that signs in where nothing is known of who does. */
export const LOGIN = "tool team login --email you@example.com --url https://logs.example.com";

/** The command that signs in, to be copied. */
export function loginCommand(as: { readonly url: string; readonly email: string; readonly team?: string | undefined }) {
  const team = as.team === undefined ? "" : ` --team ${shellWord(as.team)}`;
  return `tool team login --email ${shellWord(as.email)}${team} --url ${as.url}`;
}
