import * as vscode from "vscode";
import { findProgram } from "./find-program.ts";

/** The file of the command `tool`; undefined if there is none, after saying so and what to do. */
export async function locateTool(): Promise<string | undefined> {
  const path = await findTool();
  if (path !== undefined) return path;
  const settings = "Open Settings";
  const install = "How to Install";
  const message = `There is no program ${JSON.stringify(toolPath())}: install tool so that it is on the PATH, or write where it is into the setting "tool.path".`;
  // Not waited for: the caller continues without the tool.
  void vscode.window.showErrorMessage(message, install, settings).then((chosen) => {
    if (chosen === settings) return vscode.commands.executeCommand("workbench.action.openSettings", "tool.path");
    if (chosen === install) return vscode.commands.executeCommand("workbench.action.openWalkthrough", WALKTHROUGH);
    return undefined;
  });
  return undefined;
}

/** The command "Check Installation": says where the tool is. Looks for the file only, so it needs no trust. */
export async function checkInstallation(): Promise<void> {
  const path = await locateTool();
  if (path === undefined) return;
  await vscode.commands.executeCommand("setContext", "tool.isInstalled", true);
  void vscode.window.showInformationMessage(`tool is ${path}.`);
}

const WALKTHROUGH = { category: "tool.tool#tool.start", step: "install" };

export const findTool = () => findProgram(toolPath(), process.env);

const toolPath = () => vscode.workspace.getConfiguration("tool").get<string>("path")?.trim() || "tool";
