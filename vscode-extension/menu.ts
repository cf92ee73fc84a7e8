import * as vscode from "vscode";
import type { Apps } from "./apps.ts";
import type { CommandArguments, CommandId } from "./commands.ts";
import { configUri, type WorkspaceProjects } from "./projects.ts";

interface Row extends vscode.QuickPickItem {
  readonly run?: () => Thenable<unknown>;
}

/** Shows the list of a click on the status bar: the commands that make sense now. */
export async function showMenu(projects: WorkspaceProjects, apps: Apps): Promise<void> {
  const project = projects.current();
  const uri = project && configUri(project.folder);
  const own: CommandArguments = uri === undefined ? {} : { uri: uri.toString() };
  const command = (id: CommandId, more?: CommandArguments) => () =>
    vscode.commands.executeCommand(id, { ...own, ...more });
  const app = project && apps.in(project.folder);
  const url = app?.url;
  const rows: Row[] = [
    ...(app === undefined ? [{ label: "$(play) Start", run: command("tool.start") }] : []),
    ...(apps.all().length > 0 ? [{ label: "$(debug-stop) Stop", run: command("tool.stop") }] : []),
    ...(url === undefined
      ? []
      : [
          {
            label: "$(link-external) Open in Browser",
            description: url,
            run: () => vscode.env.openExternal(vscode.Uri.parse(url)),
          },
        ]),
    { label: "$(cloud-upload) Deploy", run: command("tool.deploy") },
    {
      label: "$(vm) Deploy to Sandbox",
      description: "this machine, no account",
      run: command("tool.deploy", { sandbox: true }),
    },
    { label: "$(globe) Open Stage", run: command("tool.open") },
    { label: "$(search) Show Logs", run: command("tool.logs") },
    { label: "$(tools) Run Hook", run: command("tool.run") },
    { label: "$(check-all) Validate Workspace", run: command("tool.validate") },
    { label: "", kind: vscode.QuickPickItemKind.Separator },
    ...(uri === undefined
      ? []
      : [{ label: "$(json) Open tool.json", run: () => vscode.window.showTextDocument(uri) as Thenable<unknown> }]),
    { label: "$(output) Show Output", run: command("tool.showOutput") },
  ];
  const chosen = await vscode.window.showQuickPick(rows, { title: project?.name ?? "tool" });
  await chosen?.run?.();
}
