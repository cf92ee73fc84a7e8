/** The data that a CI token is kept with. The command reads them as `team ci` prints them. */
export interface CiCredential {
  readonly team: string;
  readonly email: string;
  readonly url: string;
  readonly token: string;
}

/** The value of TOOL_CONFIG: JSON in Base64, as settings of CI may change quotes and line breaks. */
export function toolConfigOf({ team, email, url, token }: CiCredential): string {
  const text = `${JSON.stringify({ team, teams: { [team]: { team, email, url, token } } }, null, 2)}\n`;
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
