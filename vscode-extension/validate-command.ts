import * as vscode from "vscode";
import type { Apps } from "./apps.ts";
import { locateTool } from "./installation.ts";
import { toTask } from "./tasks.ts";
import { mayStartProcesses } from "./trust.ts";

/** Beyond that a command line becomes too long for some systems. */
const MAX_FILES = 500;

/**
 * The command "Validate Workspace": `tool validate` with every configuration of the workspace, as CI would run it. Its
 * problems are listed with those of the open files.
 */
export async function validateWorkspace(apps: Apps): Promise<void> {
  if (!mayStartProcesses("run tool validate")) return;
  const found = await vscode.workspace.findFiles(
    "**/{tool.json,*.tool.json}",
    "**/{node_modules,.git,.tool,dist}/**",
    MAX_FILES,
  );
  if (found.length === 0) {
    void vscode.window.showInformationMessage("There is no tool.json in this workspace.");
    return;
  }
  if ((await locateTool()) === undefined) return;
  // What was changed and not saved would not be what is validated.
  await vscode.workspace.saveAll(false);
  for (const scope of vscode.workspace.workspaceFolders ?? []) {
    const files = found
      .filter((uri) => vscode.workspace.getWorkspaceFolder(uri)?.index === scope.index)
      .map((uri) => uri.path.slice(scope.uri.path.length).replace(/^\//, ""))
      .sort();
    if (files.length === 0) continue;
    const [task] = (await toTask({ command: "validate", args: ["--", ...files] }, scope, apps)) ?? [];
    if (task !== undefined) await vscode.tasks.executeTask(task);
  }
}
