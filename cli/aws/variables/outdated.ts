import type { Config } from "../../../schema/index.ts";
import type { VariableValues } from "../../platform/variables.ts";
import { packVariables, readSnapshotName, SNAPSHOT_VARIABLE } from "./pack.ts";

interface Deployed {
  readonly stage: string;
  /** The variables of the version's configuration. */
  readonly environment: VariableValues;
  readonly config: Pick<Config, "environment">;
  /** The values that the stage has in the store. */
  readonly stored: VariableValues;
}

/** Whether a deploy would give the version other variables than it has. Pure. */
export function isOutdated({ stage, environment, config, stored }: Deployed): boolean {
  const { [SNAPSHOT_VARIABLE]: _, ...has } = environment;
  const own = Object.entries(has).filter(([name]) => /^TOOL_|^AWS_LAMBDA_EXEC_WRAPPER$/.test(name));
  try {
    const wanted = packVariables(stage, { ...config.environment, ...Object.fromEntries(own) }, stored);
    return wanted.snapshot?.hash !== readSnapshotName(environment)?.hash || sorted(wanted.environment) !== sorted(has);
  } catch {
    // More than can be deployed is not what the version has.
    return true;
  }
}

const sorted = (values: VariableValues) => JSON.stringify(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));
