import * as vscode from "vscode";
import { type Client, EXPLANATION } from "./client.ts";

/** Documents that explain a code, by the path of their address. */
const SCHEME = "tool-rule";

/** Serves the explanations of codes, which the link of a problem's code opens. */
export function registerRulePages(client: Client): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
    async provideTextDocumentContent({ path }) {
      const code = path.slice(1).replace(/\.md$/, "");
      return (await client.request<string>("tool/rule", { code })) ?? code;
    },
  });
}

/** The link of a problem's code. */
export const explanationUri = (code: string) =>
  vscode.Uri.parse(EXPLANATION.replace("{code}", encodeURIComponent(code)), true);

/** The command of that link. */
export async function explainProblem(code: unknown): Promise<void> {
  if (typeof code !== "string") return;
  const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${code}.md` });
  await vscode.commands.executeCommand("markdown.showPreview", uri);
}
