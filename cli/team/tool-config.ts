import { TeamError } from "./error.ts";
import { readTeamConfig, type TeamConfig } from "./team-config.ts";

/**
 * Reads the value of TOOL_CONFIG: the JSON of config.json, or base64 or base64url of it, with line breaks anywhere, as
 * settings of CI add them. Messages quote nothing of it.
 */
export function readToolConfig(value: string): TeamConfig {
  const text = value.trim().startsWith("{") ? value : decoded(value);
  const read = text === undefined ? undefined : readTeamConfig(text);
  if (read?.ok) return read.value;
  const why = read === undefined ? "is neither JSON nor base64 of it" : `is not valid: it ${read.problems[0].message}`;
  throw new TeamError(`TOOL_CONFIG ${why}`, "set it to what tool team ci prints, or unset it");
}

function decoded(value: string): string | undefined {
  const text = value.replace(/\s/g, "");
  if (!/^[\w+/-]+={0,2}$/.test(text)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(text, "base64"));
  } catch {
    return undefined;
  }
}
