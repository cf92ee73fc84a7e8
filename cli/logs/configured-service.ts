import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Query, stagesNamed } from "../../grammar/query/index.ts";
import type { Context } from "../context.ts";
import type { ServiceAddress } from "../service/service-address.ts";

/** The log service that has an app's entries, as tool.json or the sandbox says. */
export interface ConfiguredService {
  readonly app: string;
  readonly address: ServiceAddress;
  /** A condition on top of each query: the sandbox's service has the entries of `tool start`, too. */
  readonly condition?: string;
}

/** `remark` says why a service that tool.json names is not asked. */
export type ConfiguredServiceResult =
  | { readonly service: ConfiguredService }
  | { readonly service: undefined; readonly remark?: string };

const NONE: ConfiguredServiceResult = { service: undefined };

/**
 * The service of `logs.service`, if there is a token for its very origin; for the sandbox, that of `npm start`, if the app's
 * stages there send their entries to it. A query of the stage `development` alone is of the development log. tool.json is not
 * checked: what is wrong elsewhere in it keeps nobody from the log.
 */
export async function configuredService(
  context: Context,
  { query, sandbox }: { readonly query: Query; readonly sandbox: boolean },
): Promise<ConfiguredServiceResult> {
  const stages = stagesNamed(query);
  if (stages.length > 0 && stages.every(({ name }) => name === "development")) return NONE;
  const text = configText(context);
  if (text === undefined) return NONE;
  const { usesSandbox } = await import("../open-sandbox.ts");
  const isSandbox = usesSandbox(context, sandbox);
  if (!isSandbox && !text.includes('"service"')) return NONE;
  const { memberOf, parseByLines } = await import("../../schema/json.ts");
  const { root } = parseByLines(text);
  const name = memberOf(root, "name")?.value;
  if (name?.type !== "string") return NONE;
  const app = name.value;
  if (isSandbox) return serviceOfSandbox(context, app);
  const { trafficQuestionOf } = await import("../../language-server/service/traffic-question.ts");
  const question = trafficQuestionOf(root);
  if (question === undefined) return NONE;
  const { NoTokenError, tokenForFile } = await import("../team/token-for-service.ts");
  const { TeamError } = await import("../team/error.ts");
  const { service: url, project } = question;
  try {
    const advice = {
      absent: "a deploy by an admin of the team adds it: tool deploy",
      otherwise: "or add --cloud, which asks CloudWatch",
    };
    return { service: { app, address: { url, project, ...tokenForFile(context, url), ...advice } } };
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    const remark =
      error instanceof NoTokenError
        ? `${url} is not asked, as there is no token for it${error.ownToken === undefined ? `: ${error.signIn}` : `. To ask it, ${error.ownToken}`}`
        : `${url} is not asked: ${error.message}: ${error.hint.replaceAll("\n", "; ")}`;
    return { service: undefined, remark };
  }
}

/** Undefined if there is none, or one that cannot be read: whoever needs it says so. */
function configText({ directory }: Context): string | undefined {
  const path = join(directory, "tool.json");
  try {
    // Opening a FIFO would wait for its writer.
    return statSync(path).isFile() ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

async function serviceOfSandbox(context: Context, app: string): Promise<ConfiguredServiceResult> {
  const { logServiceOfSandbox } = await import("../service/sandbox-delivery.ts");
  const address = await logServiceOfSandbox(context, app);
  return address === undefined ? NONE : { service: { app, address, condition: "not stage = development" } };
}
