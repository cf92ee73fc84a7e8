import { humanDuration } from "../../grammar/units/duration.ts";
import { visible } from "../../grammar/visible-text.ts";
import { forStage } from "../../schema/index.ts";
import { type Artifact, type BuildEvent, buildArtifact } from "../artifact/artifact.ts";
import { deliveryOf } from "../artifact/delivery.ts";
import { type Context, EXIT } from "../context.ts";
import { DEFAULT_STAGE } from "../default-stage.ts";
import { commandsForHook, type HookName, howItEnded, runCommands } from "../hooks/hooks.ts";
import { type Interruption, interruptible } from "../interruption.ts";
import { openLogTokens } from "../open-platform.ts";
import { type OpenedProject, openProjectTarget } from "../open-project.ts";
import { usesSandbox } from "../open-sandbox.ts";
import { buildProgress, failByBuild } from "../output/build-progress.ts";
import { type DeployProgress, deployProgress } from "../output/deploy-progress.ts";
import { KEY_IN_SANDBOX, usesFirehose } from "../platform/log-tokens.ts";
import type { Watched } from "../platform/progress.ts";
import type { Commit, DeployResult } from "../platform/target.ts";
import type { VariableValues } from "../platform/variables.ts";
import { hookEnvironment, withPackageBinaries } from "../project/app-environment.ts";
import { readCommit } from "../project/commit.ts";
import type { LogDelivery } from "../service/log-delivery.ts";
import { wantsFirstConfig, writeFirstConfig } from "../start/first-run.ts";
import type { Options } from "../table.ts";

/**
 * `tool deploy [stage]`: builds, uploads and activates, in the order prebuild, build, postbuild, predeploy, the deploy
 * itself, postdeploy, clean. Whether the stage can be deployed is checked before anything is built.
 */
export async function deploy(context: Context, options: Options<"deploy">): Promise<number> {
  const { io } = context;
  if (await wantsFirstConfig(context)) {
    await writeFirstConfig(context, { isSandbox: usesSandbox(context, options.sandbox) });
  }
  const beganMs = io.nowMs();
  const project = await openProjectTarget(context, options.stage ?? DEFAULT_STAGE, {
    sandbox: options.sandbox,
    deploys: true,
  });
  const { stage, target, inference } = project;
  await refuseForeign(project, context);
  const progress = deployProgress(context);
  const interrupted = () => interruptedText(stage, progress);
  return interruptible(context, { progress, interrupted }, async (stop) => {
    const watched = { signal: stop.signal, report: progress.report };
    // Both are slow and independent of each other.
    const [before, variables, commit] = await Promise.all([
      target.look(stage, watched),
      target.variables(stage, watched),
      readCommit(context.directory, io.env),
    ]);
    await target.prepare(deliveryOf(inference), watched);
    const work: Work = { context, project, variables, commit, stop };
    const { artifact, warnings } = await build(work, options.build);
    let code = await runHook("predeploy", work);
    if (code !== EXIT.ok) return code;
    const logs = await openDelivery(work, watched);
    const result = await target.deploy(
      {
        ...{ before, artifact, commit, variables, checks: options.check },
        logs: logs.delivery,
        streamKey: logs.streamKey,
      },
      watched,
    );
    await logs.endRetired();
    progress.end();
    const took = { durationMs: io.nowMs() - beganMs };
    const notes = await sayResult(context, result, { ...took, project });
    code = await runHook("postdeploy", work);
    // Without a build there is nothing to clean away.
    if (code === EXIT.ok && options.build) code = await runHook("clean", work);
    const ofLogs = [logs.remark(), ...(await logs.notes())].flatMap((remark) => remark ?? []);
    for (const remark of ofLogs) await context.say(remark);
    const remarks = [...warnings, ...result.remarks, ...notes, ...ofLogs];
    await printResult(context, { ...result, remarks }, artifact, took);
    return code;
  });
}

/** The archive is for the platform's machine, and the sandbox has this one. */
async function refuseForeign({ sandbox, inference, resolved, stage }: OpenedProject, context: Context): Promise<void> {
  if (sandbox === undefined) return;
  const { refusalHere } = await import("../sandbox/function/languages.ts");
  // A program that a command starts may be anything but a folder of files.
  const language = inference.runtime ?? (inference.type === "static" ? "static" : undefined);
  const refusal = refusalHere(context.io.platform, process.arch, language);
  if (refusal !== undefined) {
    const hint = `tool start runs ${resolved.name} here; tool deploy ${stage} deploys it to the cloud`;
    return context.fail(refusal, hint);
  }
}

/** The values that the steps around a deploy work with. */
interface Work {
  readonly context: Context;
  readonly project: OpenedProject;
  readonly variables: VariableValues;
  readonly commit: Commit | undefined;
  readonly stop: Interruption;
}

/** An artifact, and what was said of it, as remarks. */
interface Built {
  readonly artifact: Artifact;
  readonly warnings: readonly string[];
}

async function build({ context, project, variables, commit, stop }: Work, runsHooks: boolean): Promise<Built> {
  const { config, inference, stage } = project;
  const progress = buildProgress(context);
  const warnings: string[] = [];
  const report = (event: BuildEvent) => {
    if (event.kind === "warning")
      warnings.push(event.hint === undefined ? event.message : `${event.message}: ${event.hint}`);
    progress.report(event);
  };
  stop.pause();
  const result = await buildArtifact({
    context,
    config,
    inference,
    stage,
    runsHooks,
    variables,
    env: commitVariable(commit),
    report,
  });
  stop.resume();
  progress.end();
  if (!result.ok && !result.isInterrupted) return failByBuild(context, result.problems);
  if (!result.ok || stop.signal.aborted) {
    await context.say(`interrupted before anything was deployed: ${stage} is as it was`);
    return context.exit(EXIT.interrupted);
  }
  if (context.verbose) {
    for (const { path, reason } of result.artifact.leftOut)
      await context.say(`left out: ${visible(path)} (${visible(reason)})`);
  }
  return { artifact: result.artifact, warnings };
}

/** Runs a hook and returns an exit code. Its output is shown if it fails; with --verbose, as it is written. */
async function runHook(hook: HookName, { context, project, variables, commit, stop }: Work): Promise<number> {
  const { stage, inference } = project;
  const config = forStage(project.config, stage);
  const env = {
    ...hookEnvironment(context, config, stage, variables),
    ...commitVariable(commit),
    // Commands of the tool that a hook runs work on the same place.
    TOOL_SANDBOX: project.sandbox === undefined ? "0" : "1",
  };
  const progress = buildProgress(context);
  stop.pause();
  const done = await runCommands(context, commandsForHook(hook, config, inference), {
    env: withPackageBinaries(env, context.directory),
    output: context.verbose ? "shown-on-stderr" : "kept",
    onOutput: (text) => progress.report({ kind: "output", text }),
    onBegin: (command) => progress.report({ kind: "command", hook, command }),
    onEnd: ({ command, durationMs }) => progress.report({ kind: "commanded", hook, command, durationMs }),
  });
  stop.resume();
  progress.end();
  const last = done.at(-1);
  const isAfter = hook === "postdeploy" || hook === "clean";
  const again = `${project.sandbox === undefined ? "" : "TOOL_SANDBOX=1 "}tool run ${hook} -s ${stage}`;
  const state = isAfter ? `${stage} is deployed; ${again} runs the hook again` : undefined;
  if (last?.isInterrupted || stop.signal.aborted) {
    await context.say(`interrupted in ${hook}: ${state ?? `${stage} is as it was, deploy again when ready`}`);
    return EXIT.interrupted;
  }
  if (last === undefined || last.code === 0) return EXIT.ok;
  const output = last.output.trimEnd();
  if (output !== "") await context.say(output);
  await context.error(`${hook} failed: ${howItEnded(last)}`, state ?? `nothing was deployed: ${stage} is as it was`);
  return EXIT.failed;
}

interface OpenedDelivery {
  readonly delivery: LogDelivery | undefined;
  /** Finds the token for Firehose, if the deploy makes the stack. */
  readonly streamKey?: () => Promise<string | undefined>;
  /** Why there is none, and what to do, or where to look in the sandbox. To be called after the deploy. */
  remark(): string | undefined;
  /** Ends tokens that the deploy has replaced. */
  endRetired(): Promise<void>;
  /** Says that the service takes no entries, or has other searches, alerts or notifications than tool.json, if that is known. */
  notes(): Promise<readonly (string | undefined)[]>;
}

/** Finds the token for the log service of tool.json. The sandbox gives its functions that of the service that runs here. */
async function openDelivery({ context, project, variables }: Work, watched: Watched): Promise<OpenedDelivery> {
  const { config, resolved, stage, sandbox } = project;
  const none = { delivery: undefined, endRetired: async () => {}, notes: async () => [] };
  if (sandbox !== undefined) {
    const { joinLogService } = await import("../service/sandbox-delivery.ts");
    const page = await joinLogService(context, { config, stage, signal: watched.signal });
    const remark = page === undefined ? undefined : `its log in a browser: ${page}`;
    return { ...none, streamKey: async () => KEY_IN_SANDBOX, remark: () => remark };
  }
  if (config.logs?.service === undefined) return { ...none, remark: () => undefined };
  const { deliveryFor, endRetired, streamKeyFor, whyRefused } = await import("../service/log-delivery.ts");
  const { env, clock } = context.io;
  const tokens = await openLogTokens({ env, clock, config, resolved, sandbox });
  const request = { config, stage, tokens, watched };
  if (usesFirehose(config)) {
    let missing: string | undefined;
    const streamKey = async () => {
      const { key, remark } = await streamKeyFor(context, request, "tool stack apply");
      missing = remark;
      return key;
    };
    return { ...none, streamKey, remark: () => missing };
  }
  const { delivery, token, remark } = await deliveryFor(context, request);
  const end = async () => {
    if (token !== undefined) await endRetired(context, request, token);
  };
  const { serviceDifference } = await import("../alerts/service-difference.ts");
  const trustsOthers = variables.NODE_EXTRA_CA_CERTS !== undefined;
  const notes = () =>
    Promise.all([
      token === undefined ? undefined : whyRefused(context, { ...request, trustsOthers }, token),
      serviceDifference(context, { config, signal: watched.signal }),
    ]);
  return { delivery, remark: () => remark, endRetired: end, notes };
}

function commitVariable(commit: Commit | undefined): Record<string, string> {
  return commit === undefined ? {} : { TOOL_COMMIT: commit.ref };
}

/** Returns what it says beside the result's own remarks. */
async function sayResult(
  context: Context,
  result: DeployResult,
  { durationMs, project }: { readonly durationMs: number; readonly project: OpenedProject },
): Promise<string[]> {
  const { stage, version, commit, outcome, previousVersion } = result;
  const what = `version ${version}${commit === undefined ? "" : ` (${commit})`}`;
  const { sandbox, config } = project;
  const where = sandbox !== undefined ? " in the sandbox" : "";
  const line =
    outcome === "unchanged"
      ? `${stage} is unchanged${where}: ${what} is already active, nothing was uploaded`
      : `${stage} is deployed${where}: ${what}${previousVersion === undefined ? "" : `, previously ${previousVersion}`}`;
  await context.say(`${line} (${humanDuration(durationMs)})`);
  for (const remark of result.remarks) await context.say(remark);
  const { runtime, needsLayer } = deliveryOf(project.inference);
  const note = needsLayer ? await sandbox?.noteOn(runtime) : undefined;
  if (note !== undefined) await context.say(note);
  const inBrowser = sandbox?.browserUrlOf(config.name, stage) ?? result.url;
  if (inBrowser !== result.url) await context.say(`in a browser: ${inBrowser}`);
  return note === undefined ? [] : [note];
}

async function printResult(
  context: Context,
  result: DeployResult,
  { bytes, unpackedBytes, files, sha256Base64 }: Artifact,
  { durationMs }: { readonly durationMs: number },
): Promise<void> {
  if (context.format !== "json") return context.print(result.url);
  const { previousVersion, ...others } = result;
  const document = {
    ...others,
    commit: result.commit ?? null,
    previousVersion: previousVersion ?? null,
    artifact: { sha256: sha256Base64, bytes, unpackedBytes, files: files.length },
    durationMs,
  };
  await context.print(JSON.stringify(document, null, 2));
}

/** Says what was done so far, and what the next run does. */
function interruptedText(stage: string, { done, current }: DeployProgress): string {
  const phase = current();
  const isActive = done.includes("activate");
  const state = isActive
    ? `${stage} runs the new version`
    : phase === "activate"
      ? `whether ${stage} runs the new version is unknown: run tool deploys`
      : `${stage} is as it was`;
  const left = phase === undefined ? "" : ` while ${PHASES[phase] ?? phase}`;
  const so = done.length === 0 ? "" : `\n  done: ${done.map((name) => PHASES[name] ?? name).join(", ")}`;
  return `interrupted${left}: ${state}${so}\n  tool deploy ${stage} continues from there`;
}

/** Phases as they read after "while". */
const PHASES: Readonly<Record<string, string>> = {
  "runtime for Python and Java": "building the runtime for Python and Java",
  role: "setting up the function's role",
  runtime: "uploading the runtime",
  variables: "storing variables",
  publish: "publishing the version",
  tags: "tagging the function",
  check: "checking that the version runs",
  activate: "activating the version",
  stack: "creating the gateway",
};
