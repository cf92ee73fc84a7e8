import { type Outcome, tool } from "./cli.ts";

/** Makes a data directory whose first team is called `owner`, with its first owner, who gets a link that signs in. */
export const initService = (data: string, email: string, publicUrl: string): Promise<Outcome> =>
  tool(["service", "init", "--data", data, "--team", "owner", "--owner", email, "--public-url", publicUrl]);
