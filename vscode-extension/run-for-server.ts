import type { MessagePort } from "node:worker_threads";
import * as vscode from "vscode";
import type { AskTraffic, LookUp, RunResult, RunTool } from "../language-server/host.ts";
import { programOutput, runProgram } from "../language-server/node-program.ts";
import { askForStage } from "./deploy-command.ts";
import { findTool, locateTool } from "./installation.ts";
import { SANDBOX } from "./task-words.ts";
import { mayStartProcesses } from "./trust.ts";

/** A run that the thread of the server asks for: `server-worker.ts` sends it. */
export interface RunRequest {
  readonly run: Parameters<RunTool>[0];
  readonly answers: MessagePort;
}

/** Names of the AWS account that the thread asks for. */
export interface LookUpRequest {
  readonly lookUp: Parameters<LookUp>[0];
  readonly answers: MessagePort;
}

/** The traffic of a project that the thread asks for. */
export interface TrafficRequest {
  readonly traffic: Parameters<AskTraffic>[0];
  readonly answers: MessagePort;
}

export type TrafficAnswer = Awaited<ReturnType<AskTraffic>> | undefined;

/** Undefined if nobody could be asked, for whatever reason. */
export type LookUpAnswer = Awaited<ReturnType<LookUp>> | undefined;

export type { AskTraffic, LookUp, RunResult, RunTool };

/** Runs `tool` for a command of the server, and answers how it ended; undefined if it did not run. */
export function answer(request: RunRequest | LookUpRequest | TrafficRequest): void {
  const { answers } = request;
  if ("lookUp" in request) {
    void lookUpForServer(request.lookUp)
      .catch(() => undefined)
      .then((names) => answers.postMessage(names as LookUpAnswer));
    return;
  }
  if ("traffic" in request) {
    const { folder, question } = request.traffic;
    void lookUpForServer({ folder, question: { kind: "traffic", ...question } })
      .catch(() => undefined)
      .then((traffic) => answers.postMessage(traffic as TrafficAnswer));
    return;
  }
  const { run } = request;
  const failed = (error: Error): RunResult => ({ isDone: false, said: error.message, place: "" });
  void runForServer(run)
    .catch(failed)
    .then((result) => answers.postMessage(result));
}

/** Says nothing if there is no trust or no tool: the user is typing. */
async function lookUpForServer({ folder, question }: { folder: string; question: object }): Promise<unknown> {
  const uri = vscode.Uri.parse(folder);
  if (!vscode.workspace.isTrusted || uri.scheme !== "file") return undefined;
  const tool = await findTool();
  if (tool === undefined) return undefined;
  const input = JSON.stringify(question);
  return JSON.parse(await programOutput([tool, "lsp", "--look-up"], { cwd: uri.fsPath, env: process.env, input }));
}

/** Asks first where: on AWS or in the sandbox. Undefined if there is no trust, no tool or no answer. */
async function runForServer({
  folder,
  words,
  input,
  title,
  stages,
}: RunRequest["run"]): Promise<RunResult | undefined> {
  const uri = vscode.Uri.parse(folder);
  if (!mayStartProcesses("run tool", uri)) return undefined;
  const chosen = await askForStage(title, [stages]);
  const tool = chosen && (await locateTool());
  if (tool === undefined) return undefined;
  const command = [tool, ...words, ...(chosen!.sandbox ? [SANDBOX] : [])];
  const place = chosen!.sandbox ? " in the sandbox" : "";
  const progress = { location: vscode.ProgressLocation.Notification, title };
  const options = { cwd: uri.fsPath, env: process.env, input, place };
  return vscode.window.withProgress(progress, () => runProgram(command, options));
}
