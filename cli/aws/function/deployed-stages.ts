import type { Lambda } from "@aws-sdk/client-lambda";
import type { VariableValues } from "../../platform/variables.ts";
import { functionName } from "../names.ts";
import { aliasesOf, isNotFound } from "./aliases.ts";
import { numbered, readRecord } from "./record.ts";

export interface DeployedStage {
  readonly stage: string;
  /** The variables of the version that it runs. */
  readonly environment: VariableValues;
}

/** The stages of an app that are deployed. */
export async function deployedStages(lambda: Lambda, app: string, signal: AbortSignal): Promise<DeployedStage[]> {
  const name = functionName(app);
  const aliases = await aliasesOf(lambda, name, signal)
    .list()
    .catch((error: unknown) => {
      // An app that was never deployed has none.
      if (isNotFound(error)) return [];
      throw error;
    });
  const stages = aliases.map(async ({ Name, FunctionVersion, Description }): Promise<DeployedStage[]> => {
    const version = numbered(FunctionVersion);
    // Other aliases name the previous deployment and commits.
    if (version === undefined || readRecord(Description, version)?.stack === undefined) return [];
    const { Environment } = await lambda.getFunctionConfiguration(
      { FunctionName: name, Qualifier: version },
      { abortSignal: signal },
    );
    const environment = Environment?.Variables ?? {};
    return environment.TOOL_STAGE === Name ? [{ stage: environment.TOOL_STAGE!, environment }] : [];
  });
  return (await Promise.all(stages)).flat();
}
