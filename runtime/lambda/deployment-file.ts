import type { Config } from "../../schema/index.ts";

/** The folder of the runtime's own files in a deployment. Never served, like every dotfile. */
export const RUNTIME_FOLDER = ".tool";

/** The content of `RUNTIME_FOLDER/deployment.json`: decided when the deployment is built, nothing is checked here. */
export interface DeploymentFile {
  /** tool.json, checked, with the stage's overrides applied and the type that was inferred written. */
  readonly config: Config;
  readonly stage: string;
  /** Run by a shell in the deployment's folder; absent for a static site. */
  readonly command?: string;
  /** Variables that the command needs besides the function's own, such as PYTHONPATH. */
  readonly environment?: Readonly<Record<string, string>>;
}
