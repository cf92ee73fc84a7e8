import type { Lambda } from "@aws-sdk/client-lambda";
import type { DeployedStage } from "../../platform/variables.ts";
import { functionName } from "../names.ts";
import { aliasesOf, isNotFound } from "./aliases.ts";
import { numbered, readRecord } from "./record.ts";

/** The stages of an app that run a version, and when that was published. */
export async function deployedStages(lambda: Lambda, app: string, signal: AbortSignal): Promise<DeployedStage[]> {
  const name = functionName(app);
  const aliases = await aliasesOf(lambda, name, signal)
    .list()
    .catch((error: unknown) => {
      // An app that was never deployed has none.
      if (isNotFound(error)) return [];
      throw error;
    });
  const found = aliases.map(async ({ Name, FunctionVersion, Description }): Promise<DeployedStage[]> => {
    const version = numbered(FunctionVersion);
    // Other aliases name the previous deployment and commits.
    if (version === undefined || readRecord(Description, version)?.asked === undefined) return [];
    const { LastModified, Environment } = await lambda.getFunctionConfiguration(
      { FunctionName: name, Qualifier: version },
      { abortSignal: signal },
    );
    const stage = Environment?.Variables?.TOOL_STAGE;
    if (stage === undefined || stage !== Name) return [];
    return [{ stage, version, publishedAt: new Date(LastModified ?? 0).toISOString() }];
  });
  return (await Promise.all(found)).flat();
}
