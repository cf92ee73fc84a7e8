import * as vscode from "vscode";

/**
 * Whether processes may be started here; says so where not. The commands are disabled without trust, but lenses, keys and
 * other extensions call them all the same.
 */
export function mayStartProcesses(what: string): boolean {
  if (vscode.workspace.isTrusted) return true;
  void say(what);
  return false;
}

async function say(what: string): Promise<void> {
  const manage = "Manage Workspace Trust";
  const message = `Cannot ${what}: this workspace is not trusted, so no process is started in it. Trust it first.`;
  const chosen = await vscode.window.showWarningMessage(message, manage);
  if (chosen === manage) await vscode.commands.executeCommand("workbench.trust.manage");
}
