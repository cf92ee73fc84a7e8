import { humanDuration } from "../../grammar/units/duration.ts";
import { forStage, type Inference } from "../../schema/index.ts";
import { type Artifact, buildArtifact, deliveryOf } from "../artifact/index.ts";
import { type Context, EXIT } from "../context.ts";
import { commandsOf, type HookName, howItEnded, runCommands } from "../hooks/hooks.ts";
import { interruption } from "../interruption.ts";
import { type Opened, openProjectTarget } from "../open-project.ts";
import { buildProgress, sayBuildProblems } from "../output/build-progress.ts";
import { type DeployProgress, deployProgress } from "../output/deploy-progress.ts";
import { sayPlatformError } from "../output/platform-error.ts";
import type { Commit, DeployResult } from "../platform/target.ts";
import { appEnvironment, withPackageBinaries } from "../project/app-environment.ts";
import { readCommit } from "../project/commit.ts";
import { resolveProject } from "../project/resolve-config.ts";
import { wantsFirstConfig, writeFirstConfig } from "../start/first-run.ts";
import { DEFAULT_STAGE, type Options } from "../table.ts";

/**
 * `tool deploy [stage]`: builds, uploads and puts in force, in the order prebuild, build, postbuild, predeploy, the deploy
 * itself, postdeploy, clean. Whether it can be deployed at all is asked before anything is built.
 */
export async function deploy(context: Context, options: Options<"deploy">): Promise<number> {
  const { io } = context;
  if (await wantsFirstConfig(context)) {
    const code = await writeFirstConfig(context, {});
    if (code !== undefined) return code;
  }
  const beganMs = io.nowMs();
  const opened = await openProjectTarget(context, options.stage ?? DEFAULT_STAGE, { sizes: true });
  if (!opened.ok) return opened.code;
  const { stage, target } = opened;
  const stop = interruption(context);
  const progress = deployProgress(context);
  const watched = { signal: stop.signal, report: progress.report };
  try {
    // Both take their time, and neither waits for the other.
    const [before, commit] = await Promise.all([target.look(stage, watched), readCommit(context.directory, io.env)]);
    const { inference } = resolveProject(context, forStage(opened.config, stage), { development: false });
    await target.prepare(deliveryOf(inference), watched);
    const hooks = hookRunner(context, opened, commit, stop);
    const built = await build(context, opened, { inference, commit, runsHooks: options.build, stop });
    if (built.code !== undefined) return built.code;
    const { artifact } = built;
    let code = await hooks.run("predeploy");
    if (code !== EXIT.ok) return code;
    const result = await target.deploy({ before, artifact, commit }, watched);
    progress.end();
    const took = { durationMs: io.nowMs() - beganMs };
    await sayResult(context, result, took.durationMs);
    code = await hooks.run("postdeploy");
    // Nothing was built that could be cleaned away.
    if (code === EXIT.ok && options.build) code = await hooks.run("clean");
    await printResult(context, result, artifact, took);
    return code;
  } catch (error) {
    progress.end();
    if (!stop.signal.aborted) return await sayPlatformError(context, error);
    await sayInterrupted(context, stage, progress);
    return EXIT.interrupted;
  } finally {
    stop.release();
  }
}

type Project = Extract<Opened, { ok: true }>;

interface BuildStep {
  readonly inference: Inference;
  readonly commit: Commit | undefined;
  readonly runsHooks: boolean;
  readonly stop: ReturnType<typeof interruption>;
}

async function build(
  context: Context,
  { config, stage }: Project,
  { inference, commit, runsHooks, stop }: BuildStep,
): Promise<{ readonly code: undefined; readonly artifact: Artifact } | { readonly code: number }> {
  const progress = buildProgress(context);
  stop.pause();
  const result = await buildArtifact({
    context,
    config,
    inference,
    stage,
    runsHooks,
    env: commitVariable(commit),
    report: progress.report,
  });
  stop.resume();
  progress.end();
  if (result.ok) {
    if (stop.signal.aborted) return { code: await sayNothingDone(context, stage) };
    if (context.verbose) {
      for (const { path, reason } of result.artifact.leftOut) await context.say(`left out: ${path} (${reason})`);
    }
    return { code: undefined, artifact: result.artifact };
  }
  if (result.isInterrupted) return { code: await sayNothingDone(context, stage) };
  return { code: await sayBuildProblems(context, result.problems) };
}

/** The hooks around a deploy. What they write is shown when they fail, all of it with --verbose. */
function hookRunner(
  context: Context,
  { config: written, stage }: Project,
  commit: Commit | undefined,
  stop: ReturnType<typeof interruption>,
) {
  const config = forStage(written, stage);
  const { inference } = resolveProject(context, config, { development: false });
  const env = withPackageBinaries(
    { ...appEnvironment(context, config, stage), ...commitVariable(commit) },
    context.directory,
  );
  return {
    async run(hook: HookName): Promise<number> {
      const progress = buildProgress(context);
      stop.pause();
      const done = await runCommands(context, commandsOf(hook, config, inference), {
        env,
        output: context.verbose ? "shown-on-stderr" : "kept",
        onBegin: (command) => progress.report({ kind: "command", hook, command }),
        onEnd: ({ command, durationMs }) => progress.report({ kind: "commanded", hook, command, durationMs }),
      });
      stop.resume();
      progress.end();
      const last = done.at(-1);
      const isAfter = hook === "postdeploy" || hook === "clean";
      const state = isAfter ? `${stage} is deployed; tool run ${hook} -s ${stage} runs the hook again` : undefined;
      if (last?.isInterrupted || stop.signal.aborted) {
        await context.say(`interrupted in ${hook}: ${state ?? `${stage} is as it was, deploy again when ready`}`);
        return EXIT.interrupted;
      }
      if (last === undefined || last.code === 0) return EXIT.ok;
      const output = last.output.trimEnd();
      if (output !== "") await context.say(output);
      return context.fail(
        `${hook} failed: ${howItEnded(last)}`,
        state ?? `nothing was deployed: ${stage} is as it was`,
      );
    },
  };
}

function commitVariable(commit: Commit | undefined): Record<string, string> {
  return commit === undefined ? {} : { TOOL_COMMIT: commit.ref };
}

async function sayResult(context: Context, result: DeployResult, durationMs: number): Promise<void> {
  const { stage, version, commit, outcome, previousVersion } = result;
  const what = `version ${version}${commit === undefined ? "" : ` (${commit})`}`;
  const line =
    outcome === "unchanged"
      ? `${stage} is unchanged: ${what} is already active, nothing was uploaded`
      : `${stage} is deployed: ${what}${previousVersion === undefined ? "" : `, before it ${previousVersion}`}`;
  await context.say(`${line} (${humanDuration(durationMs)})`);
  for (const remark of result.remarks) await context.say(remark);
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

async function sayNothingDone(context: Context, stage: string): Promise<number> {
  await context.say(`interrupted before anything was deployed: ${stage} is as it was`);
  return EXIT.interrupted;
}

/** What was done so far, and what the next run does. */
async function sayInterrupted(context: Context, stage: string, { done, current }: DeployProgress): Promise<void> {
  const phase = current();
  const isActive = done.includes("activate");
  const state = isActive
    ? `${stage} runs the new version`
    : phase === "activate"
      ? `whether ${stage} runs the new version is unknown: run tool deploys`
      : `${stage} is as it was`;
  const left = phase === undefined ? "" : ` while ${PHASES[phase] ?? phase}`;
  const so = done.length === 0 ? "" : `\n  done: ${done.map((name) => PHASES[name] ?? name).join(", ")}`;
  const next = `\n  tool deploy ${stage} continues from there`;
  await context.say(`interrupted${left}: ${state}${so}${next}`);
}

/** Phases as they read behind "while". */
const PHASES: Readonly<Record<string, string>> = {
  "runtime for Python and Java": "building the runtime for Python and Java",
  role: "setting up the function's role",
  runtime: "uploading the runtime",
  publish: "publishing the version",
  tags: "tagging the function",
  activate: "activating the version",
  stack: "creating the gateway",
};
