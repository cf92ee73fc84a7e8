// The extension's front door: its parts, and what they share.
import * as vscode from "vscode";
import { Client } from "./client.ts";

let client: Client | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("tool", { log: true });
  client = new Client(context, output);
  context.subscriptions.push(
    output,
    vscode.commands.registerCommand("tool.restartServer", () => client?.restart()),
    vscode.commands.registerCommand("tool.showOutput", () => output.show()),
  );
  await client.start();
}

export async function deactivate(): Promise<void> {
  await client?.dispose();
}
