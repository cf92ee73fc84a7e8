import * as vscode from "vscode";
import { rulePage } from "../language-server/service/rule-page.ts";

/** Documents that explain a code, by the path of their address. */
const SCHEME = "tool-rule";

/** Serves the explanations of codes, which the link beside a problem opens. */
export function registerRulePages(): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
    provideTextDocumentContent: ({ path }) => rulePage(path.slice(1).replace(/\.md$/, "")),
  });
}

/** The command behind that link. */
export async function explainProblem(code: unknown): Promise<void> {
  if (typeof code !== "string") return;
  const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${code}.md` });
  await vscode.commands.executeCommand("markdown.showPreview", uri);
}
