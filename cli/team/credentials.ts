import type { Context } from "../context.ts";
import { CredentialsFile } from "./credentials-file.ts";
import { TeamError } from "./error.ts";
import { LOGIN, loginCommand } from "./login-command.ts";
import type { KeyedCredential, TeamConfig } from "./team-config.ts";
import { readToolConfig } from "./tool-config.ts";

/** Where the credentials are from: TOOL_CONFIG wins, and the file is then neither read nor written. */
export type TeamCredentials =
  | { readonly source: "TOOL_CONFIG"; readonly config: TeamConfig }
  | { readonly source: "file"; readonly config: TeamConfig; readonly file: CredentialsFile };

/** The credentials of this person, or of this run of CI. Throws a TeamError if they cannot be read. */
export function readCredentials(context: Context): TeamCredentials {
  const { env } = context.io;
  const value = env.TOOL_CONFIG ?? "";
  // CI sets a secret that is not there to nothing.
  if (value.trim() !== "") return { source: "TOOL_CONFIG", config: readToolConfig(value) };
  const file = new CredentialsFile({ env, clock: context.io.clock, say: (text) => void context.say(text) });
  return { source: "file", config: file.read(), file };
}

/** The file, for a command that changes it. Throws a TeamError if TOOL_CONFIG is set, which would win over the change. */
export function changeableCredentials(context: Context): Extract<TeamCredentials, { source: "file" }> {
  const credentials = readCredentials(context);
  if (credentials.source === "file") return credentials;
  throw new TeamError(
    "TOOL_CONFIG is set, and wins over who is signed in on this machine",
    "unset TOOL_CONFIG, then run this again; tool team shows what it holds",
  );
}

/** The credential of the current team. Throws a TeamError if there is none. */
export function currentCredential({ source, config }: TeamCredentials): KeyedCredential {
  if (config.current !== undefined) return config.current;
  if (source === "TOOL_CONFIG") {
    throw new TeamError("TOOL_CONFIG names no current team", TOOL_CONFIG_REMEDY);
  }
  if (config.credentials.length === 0) throw new TeamError("nobody is signed in", LOGIN);
  const keys = config.credentials.map(({ key }) => key).join(", ");
  throw new TeamError("no team is chosen", `choose one of ${keys}: tool team switch ${config.credentials[0]!.key}`);
}

/** The command to type if the service does not know the token of a credential. */
export function remedyOf(source: TeamCredentials["source"], credential: KeyedCredential): string {
  return source === "file" ? loginCommand(credential) : TOOL_CONFIG_REMEDY;
}

/** Nobody signs in while TOOL_CONFIG is set. */
export const TOOL_CONFIG_REMEDY = "set TOOL_CONFIG to what tool team ci prints, or unset it";
