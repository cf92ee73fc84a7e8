/** The commands that the extension carries out itself; the server announces its own (`tool.migrate`, `tool.sort`). */
export const COMMANDS = [
  "tool.start",
  "tool.stop",
  "tool.deploy",
  "tool.open",
  "tool.logs",
  "tool.run",
  "tool.validate",
  "tool.restartServer",
  "tool.showOutput",
  "tool.createConfiguration",
  "tool.checkInstallation",
  "tool.changeQuery",
  "tool.saveQuery",
  "tool.revealQuery",
  "tool.completeQuery",
  "tool.menu",
  "tool.explainProblem",
] as const;

export type CommandId = (typeof COMMANDS)[number];

/** The commands that VS Code for the Web has, too: they start no process, and are of use where none runs. */
export const WEB_COMMANDS = [
  "tool.restartServer",
  "tool.showOutput",
  "tool.createConfiguration",
  "tool.explainProblem",
] as const satisfies readonly CommandId[];

export type WebCommandId = (typeof WEB_COMMANDS)[number];

export const isWebCommand = (id: CommandId): id is WebCommandId => (WEB_COMMANDS as readonly string[]).includes(id);

/** The arguments that a lens passes: its document, and what it is about. The palette passes none. */
export interface CommandArguments {
  readonly uri?: string;
  readonly stage?: string;
  /** Only the sandbox on this machine is offered. */
  readonly sandbox?: boolean;
  readonly hook?: string;
  readonly query?: string;
}
