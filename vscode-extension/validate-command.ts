import { execFile } from "node:child_process";
import * as vscode from "vscode";
import { locateTool } from "./installation.ts";
import { explanationUri } from "./rule-pages.ts";
import { mayStartProcesses } from "./trust.ts";
import { problemsByFile, type ReportedProblem } from "./validation-report.ts";

/** Beyond that a command line becomes too long for some systems. */
const MAX_FILES = 500;

/** Many times what the most files take; a program that is not tool may wait for ever. */
const LIMIT_MS = 120_000;

/** Many times what the most files have. */
const MAX_REPORT_BYTES = 64 * 1024 * 1024;

/**
 * The command "Validate Workspace": `tool validate` with every configuration of the workspace, as CI would run it. Its
 * problems are listed with those of the open files, which the language server reports.
 */
export class Validation implements vscode.Disposable {
  readonly #output: vscode.LogOutputChannel;
  readonly #diagnostics = vscode.languages.createDiagnosticCollection("tool validate");
  readonly #subscriptions: readonly vscode.Disposable[];
  #running: AbortController | undefined;

  constructor(output: vscode.LogOutputChannel) {
    this.#output = output;
    this.#subscriptions = [
      this.#diagnostics,
      vscode.workspace.onDidOpenTextDocument(({ uri }) => reportsOpenFiles() && this.#diagnostics.delete(uri)),
      // Without the server's problems those of an open file stay until they may be wrong.
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#diagnostics.delete(document.uri)),
    ];
  }

  async run(): Promise<void> {
    if (!mayStartProcesses("run tool validate")) return;
    const configs = await vscode.workspace.findFiles(
      "**/{tool.json,*.tool.json}",
      "**/{node_modules,.git,.tool,dist}/**",
      MAX_FILES,
    );
    if (configs.length === 0) {
      void vscode.window.showInformationMessage("There is no tool.json in this workspace.");
      return;
    }
    const tool = await locateTool();
    if (tool === undefined) return;
    // Changes that are not saved would not be validated.
    await vscode.workspace.saveAll(false);
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    const progress = { location: vscode.ProgressLocation.Window, title: "tool validate" };
    try {
      const problems = await vscode.window.withProgress(progress, () => problemsIn(tool, configs, running.signal));
      await this.#show(problems);
    } catch (error) {
      // Ended for the sake of a later one, or with the window.
      if (!running.signal.aborted) await this.#sayThatItFailed(error as Error);
    }
  }

  dispose(): void {
    this.#running?.abort();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  async #show(problems: ReadonlyMap<vscode.Uri, readonly ReportedProblem[]>): Promise<void> {
    this.#diagnostics.clear();
    for (const [uri, ofFile] of problems) {
      if (!(reportsOpenFiles() && isOpen(uri))) this.#diagnostics.set(uri, ofFile.map(toDiagnostic));
    }
    if ([...problems.values()].some((ofFile) => ofFile.length > 0)) {
      await vscode.commands.executeCommand("workbench.panel.markers.view.focus", { preserveFocus: true });
      return;
    }
    const files = problems.size === 1 ? "One file is" : `${problems.size} files are`;
    void vscode.window.showInformationMessage(`${files} valid.`);
  }

  async #sayThatItFailed(error: Error): Promise<void> {
    this.#output.error(error);
    const show = "Show Output";
    const chosen = await vscode.window.showErrorMessage("tool validate failed. The output says why.", show);
    if (chosen === show) this.#output.show();
  }
}

async function problemsIn(tool: string, files: readonly vscode.Uri[], signal: AbortSignal) {
  const problems = new Map<vscode.Uri, readonly ReportedProblem[]>();
  for (const scope of vscode.workspace.workspaceFolders ?? []) {
    const names = files
      .filter((uri) => vscode.workspace.getWorkspaceFolder(uri)?.index === scope.index)
      .map((uri) => uri.path.slice(scope.uri.path.length).replace(/^\//, ""))
      .sort();
    if (names.length === 0 || !mayStartProcesses("run tool validate", scope.uri)) continue;
    const report = await validate(tool, names, scope.uri.fsPath, signal);
    for (const [name, fileProblems] of problemsByFile(report))
      problems.set(vscode.Uri.joinPath(scope.uri, name), fileProblems);
  }
  return problems;
}

/**
 * Returns the report of `tool validate`. Not a task with the problem matcher: VS Code gives a matcher 100 ms after the
 * end of the process, and on a busy machine it then loses problems without a word.
 */
function validate(tool: string, names: readonly string[], cwd: string, signal: AbortSignal): Promise<string> {
  const words = ["validate", "--format", "json", "--", ...names];
  const options = { cwd, signal, timeout: LIMIT_MS, maxBuffer: MAX_REPORT_BYTES };
  return new Promise((resolve, reject) => {
    execFile(tool, words, options, (error, stdout, stderr) => {
      // With problems it ends with 1.
      if (error === null || error.code === 1) resolve(stdout);
      else reject(new Error(stderr || error.message, { cause: error }));
    });
  });
}

function toDiagnostic({ line, column, endLine, endColumn, severity, message, code }: ReportedProblem) {
  const range = new vscode.Range(line - 1, column - 1, endLine - 1, endColumn - 1);
  const diagnostic = new vscode.Diagnostic(range, message, SEVERITIES[severity]);
  diagnostic.source = "tool";
  diagnostic.code = { value: code, target: explanationUri(code) };
  return diagnostic;
}

const SEVERITIES = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
} as const;

/** Whether the language server reports the problems of open files. */
const reportsOpenFiles = () => vscode.workspace.getConfiguration("tool").get("diagnostics.enabled", true);

const isOpen = (uri: vscode.Uri) =>
  vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri.toString());
