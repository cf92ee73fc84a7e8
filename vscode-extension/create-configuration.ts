import * as vscode from "vscode";
import { appName } from "./app-name.ts";
import { configUri } from "./projects.ts";

/** The command "Create tool.json": opens a minimal one in a folder of the workspace, or the one that is there. */
export async function createConfiguration(): Promise<void> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    void vscode.window.showWarningMessage("Open your app's folder first: tool.json goes there.");
    return;
  }
  const folder = folders.length === 1 ? folders[0] : await vscode.window.showWorkspaceFolderPick();
  if (folder === undefined) return;
  const uri = configUri(folder.uri);
  const isThere = await vscode.workspace.fs.stat(uri).then(
    () => true,
    (error: unknown) => {
      // A file system may not answer just now, and a file that is there must not be replaced.
      if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") return false;
      throw error;
    },
  );
  if (!isThere) {
    const text = `${JSON.stringify({ name: appName(folder.name) }, null, 2)}\n`;
    await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
  }
  await vscode.window.showTextDocument(uri);
}
