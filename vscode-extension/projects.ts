import * as vscode from "vscode";
import { configName } from "./config-text.ts";
import { nearestFolder } from "./nearest-folder.ts";

/** A folder with a tool.json. */
export interface WorkspaceProject {
  readonly folder: vscode.Uri;
  /** The name in tool.json; without one, the folder's own name. */
  readonly name: string;
}

const CONFIG = "tool.json";
const EXCLUDED = "**/{node_modules,.git,.tool,dist}/**";

/** More apps than anybody keeps in a window; a search of a huge workspace ends here. */
const MAX_PROJECTS = 200;

/** The projects of the window: the folders below the workspace's that have a tool.json, and those of one that is open. */
export class WorkspaceProjects implements vscode.Disposable {
  readonly onDidChange: vscode.Event<void>;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[] = [this.#changed];
  #configs: readonly vscode.Uri[] = [];
  /** The app's name in each tool.json on disk, by the address of its folder. */
  readonly #names = new Map<string, string>();

  constructor() {
    this.onDidChange = this.#changed.event;
    const watcher = vscode.workspace.createFileSystemWatcher(`**/${CONFIG}`);
    const search = () => void this.search();
    this.#subscriptions.push(
      watcher,
      watcher.onDidCreate(search),
      watcher.onDidDelete(search),
      watcher.onDidChange(async (uri) => {
        await this.#readName(uri);
        this.#changed.fire();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(search),
      vscode.workspace.onDidOpenTextDocument((document) => isConfig(document) && this.#tell()),
      vscode.workspace.onDidCloseTextDocument((document) => isConfig(document) && this.#tell()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => isConfig(document) && this.#changed.fire()),
    );
  }

  /** Looks for them on disk. */
  async search(): Promise<void> {
    this.#configs = await vscode.workspace.findFiles(`**/${CONFIG}`, EXCLUDED, MAX_PROJECTS);
    await Promise.all(this.#configs.map((uri) => this.#readName(uri)));
    this.#tell();
  }

  all(): readonly WorkspaceProject[] {
    const open = vscode.workspace.textDocuments.filter(isConfig).map(({ uri }) => uri);
    const byFolder = new Map<string, WorkspaceProject>();
    for (const uri of [...this.#configs, ...open]) {
      const folder = vscode.Uri.joinPath(uri, "..");
      byFolder.set(folder.toString(), this.#projectAt(folder));
    }
    return [...byFolder.values()].sort((a, b) => (a.folder.path < b.folder.path ? -1 : 1));
  }

  /** The project of the lens's document. Without a lens the nearest around the active editor, or the only one. */
  current(uri?: string): WorkspaceProject | undefined {
    const all = this.all();
    const file = uri ?? vscode.window.activeTextEditor?.document.uri.toString();
    const folders = all.map(({ folder }) => folder.toString());
    const nearest = file === undefined ? undefined : nearestFolder(folders, file);
    if (nearest !== undefined) return all.find(({ folder }) => folder.toString() === nearest);
    if (uri !== undefined) return this.#projectAt(vscode.Uri.joinPath(vscode.Uri.parse(uri), ".."));
    return all.length === 1 ? all[0] : undefined;
  }

  /** The same, but asks the person if it is not certain. Undefined if they do not answer, or there is none. */
  async choose(what: string, uri?: string): Promise<WorkspaceProject | undefined> {
    const current = this.current(uri);
    if (current !== undefined) return current;
    const all = this.all();
    if (all.length === 0) {
      void sayThatThereIsNone();
      return undefined;
    }
    const items = all.map((project) => ({ label: project.name, description: projectLocation(project), project }));
    return (await vscode.window.showQuickPick(items, { title: what, placeHolder: "Which app?" }))?.project;
  }

  /** The text of a project's tool.json: as it is in the editor, else as it is saved; empty if it cannot be read. */
  async configText({ folder }: WorkspaceProject): Promise<string> {
    const uri = configUri(folder);
    const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    if (open !== undefined) return open.getText();
    return vscode.workspace.fs.readFile(uri).then(
      (bytes) => new TextDecoder().decode(bytes),
      () => "",
    );
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #projectAt(folder: vscode.Uri): WorkspaceProject {
    const uri = configUri(folder).toString();
    const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri);
    const name = open === undefined ? this.#names.get(folder.toString()) : configName(open.getText());
    return { folder, name: name ?? (folder.path.split("/").at(-1) || folder.path) };
  }

  async #readName(uri: vscode.Uri): Promise<void> {
    const folder = vscode.Uri.joinPath(uri, "..").toString();
    const name = await vscode.workspace.fs.readFile(uri).then(
      (bytes) => configName(new TextDecoder().decode(bytes)),
      () => undefined,
    );
    if (name === undefined) this.#names.delete(folder);
    else this.#names.set(folder, name);
  }

  #tell(): void {
    void vscode.commands.executeCommand("setContext", "tool.hasProject", this.all().length > 0);
    this.#changed.fire();
  }
}

/** Where a project is, to tell it from others; empty where its name says that. */
export function projectLocation({ folder, name }: WorkspaceProject): string {
  const path = vscode.workspace.asRelativePath(folder);
  return path === name ? "" : path;
}

export const configUri = (folder: vscode.Uri) => vscode.Uri.joinPath(folder, CONFIG);

/** The schemes of the workspace's folders: "file", or that of a file system of another extension. */
export const workspaceSchemes = () => (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.scheme);

const isConfig = ({ uri }: vscode.TextDocument) =>
  ["file", ...workspaceSchemes()].includes(uri.scheme) && uri.path.endsWith(`/${CONFIG}`);

async function sayThatThereIsNone(): Promise<void> {
  const create = "Create tool.json";
  const chosen = await vscode.window.showWarningMessage("There is no tool.json in this window.", create);
  if (chosen === create) await vscode.commands.executeCommand("tool.createConfiguration");
}
