import { shellWord } from "../shell-word.ts";

/** The command that signs in, to be copied. */
export function loginCommand(as: { readonly url: string; readonly email: string; readonly team?: string | undefined }) {
  const team = as.team === undefined ? "" : ` --team ${shellWord(as.team)}`;
  return `tool team login --email ${shellWord(as.email)}${team} --url ${as.url}`;
}
