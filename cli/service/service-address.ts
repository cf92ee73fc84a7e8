import { isLoopback } from "../../grammar/address/loopback.ts";
import type { Context } from "../context.ts";
import { type FailedResult, refused } from "../refused.ts";
import { TeamError } from "../team/error.ts";
import { type ServiceToken, tokenForService } from "../team/token-for-service.ts";

export interface ServiceAddress {
  readonly url: string;
  readonly token: string;
  /** The advice if the service refuses the token. */
  readonly remedy: string;
  readonly project: string;
  /** The team whose project it is; undefined if only the service knows. */
  readonly team: string | undefined;
  /** The advice if the service has no such project. */
  readonly absent?: string;
  /** Another way, for the advice if the service does not answer, or refuses. */
  readonly otherwise?: string;
}

/** The project that is read or written, for people: `project api of the team night at https://logs.example.com`. */
export function placeText({ project, team, url }: Pick<ServiceAddress, "project" | "team" | "url">): string {
  return `project ${project}${team === undefined ? " of" : ` of the team ${team} at`} ${url}`;
}

/**
 * The address of a log service, with the token for it, which is never an argument (`ps` would show that to everybody), and
 * the project: the one that is named, else the one with the name in tool.json. Where the token would be read on the way, it says so.
 */
export async function serviceAddress(
  context: Context,
  url: string,
  project: string,
): Promise<({ readonly ok: true } & ServiceAddress) | FailedResult> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return refused(
      `${JSON.stringify(url)} is not an address of a log service`,
      "write http://localhost:5000 or https://...",
    );
  }
  let token: ServiceToken;
  try {
    token = tokenForService(context, url);
  } catch (error) {
    if (error instanceof TeamError) return refused(error.message, error.hint);
    throw error;
  }
  const { protocol, hostname, host } = new URL(url);
  if (protocol === "http:" && !isLoopback(hostname)) {
    await context.say(
      `warning: plain HTTP shows the token and the log to everybody between here and ${host}\n  write https://${host}`,
    );
  }
  if (project !== "") return { ok: true, url, ...token, project };
  const { projectIdOf } = await import("../../schema/project-id.ts");
  const id = projectIdOf((await nameHere(context)) ?? "");
  if (id === undefined) {
    return refused(
      "the project of the log service is not known",
      "name it with --project, or run this in the folder of tool.json",
    );
  }
  return { ok: true, url, ...token, project: id };
}

async function nameHere(context: Context): Promise<string | undefined> {
  const { existsSync } = await import("node:fs");
  const { join } = await import("node:path");
  if (!existsSync(join(context.directory, "tool.json"))) return undefined;
  const { readConfigFile } = await import("../config-file.ts");
  return (await context.attempt(readConfigFile(context)))?.config.name;
}
