import * as vscode from "vscode";

/**
 * Whether processes may be started, in a folder if one is known; says so if not. The commands are disabled without
 * trust, but lenses, keys and other extensions call them all the same.
 */
export function mayStartProcesses(what: string, folder?: vscode.Uri): boolean {
  if (!vscode.workspace.isTrusted) {
    void askForTrust(what);
    return false;
  }
  if (folder === undefined || folder.scheme === "file") return true;
  // A repository that is browsed without a clone.
  const message = `Cannot ${what}: the folder is not on a disk, where a process could run in it. Clone the repository first.`;
  void vscode.window.showWarningMessage(message);
  return false;
}

async function askForTrust(what: string): Promise<void> {
  const manage = "Manage Workspace Trust";
  const message = `Cannot ${what}: this workspace is not trusted, so no process is started in it. Trust it first.`;
  const chosen = await vscode.window.showWarningMessage(message, manage);
  if (chosen === manage) await vscode.commands.executeCommand("workbench.trust.manage");
}
