import { visible } from "../../grammar/visible-text.ts";
import type { Config } from "../../schema/index.ts";
import {
  type AppliedPlan,
  appliedDocument,
  applyPlan,
  confirmRemovals,
  sayApplied,
  sayProblem,
} from "../alerts/apply-plan.ts";
import type { ServicePlan } from "../alerts/service-plan.ts";
import { changeNames, renderServicePlan, servicePlanDocument } from "../alerts/service-plan-text.ts";
import { sayUnseen, unlessUnseen } from "../alerts/unseen-stack.ts";
import { readConfigFile, readNeededConfig } from "../config-file.ts";
import { type Context, EXIT } from "../context.ts";
import { interruptible } from "../interruption.ts";
import { neededAccessPolicy, neededStreamPolicy, openLogTokens, openStack, openVariables } from "../open-platform.ts";
import { openSandbox, placed, usesSandbox } from "../open-sandbox.ts";
import { deployProgress } from "../output/deploy-progress.ts";
import { type StackProgress, stackProgress } from "../output/stack-progress.ts";
import { renderPlan, renderStatus, retentionLines, rotationText, unchangedText } from "../output/stack-text.ts";
import { PlatformError } from "../platform/error.ts";
import { ALL_OF_APP, KEY_IN_SANDBOX, type LogTokens, usesFirehose } from "../platform/log-tokens.ts";
import type { SandboxAccess } from "../platform/sandbox.ts";
import type { RemoveResult, Stack, StackChange, StackPlan, StackWatch } from "../platform/stack.ts";
import { resolveProject } from "../project/resolve-config.ts";
import { explainStage } from "../project/stage-word.ts";
import type { Options } from "../table.ts";

/** `tool stack`, `tool stack status`: prints stages with their endpoints, certificates, name servers, resources. */
export function status(context: Context, options: Options<"stack">): Promise<number> {
  return withStack(context, options, async ({ stack, name, place, watch, sandbox }) => {
    const state = await stack.status(watch);
    if (context.format === "json") await context.print(toJson({ stack: state }));
    else if (state === undefined) {
      await context.print(`${name} has no stack in ${place}: the first tool deploy makes it`);
    } else await context.print(renderStatus(state, context.io.stdout, sandbox));
    return EXIT.ok;
  });
}

/** `tool stack plan`: prints what `apply` would do. */
export function plan(context: Context, options: Options<"stack plan">): Promise<number> {
  return withStack(
    context,
    { ...options, appliesPro: true },
    async ({ stack, watch, sandbox, planLogs, ...opened }) => {
      const stackPlan = await unlessUnseen(planLogs, () => stack.plan(watch));
      const logs = await planLogs();
      if (stackPlan instanceof PlatformError) return planUnseen(context, opened, logs, stackPlan);
      if (context.format === "json") await context.print(toJson({ ...stackPlan, logs: servicePlanDocument(logs) }));
      else {
        const isAll = (logs?.changes.length ?? 0) === 0;
        await context.print(renderPlan(stackPlan, context.io.stdout, sandbox, isAll));
        const text = logs === undefined ? "" : renderServicePlan(logs, context.io.stdout);
        if (text !== "") await context.print(`\n${text}`);
        const isReady = logs?.problem === undefined && (logs?.changes.length ?? 0) > 0;
        if (logs?.problem !== undefined && hasWork(stackPlan))
          await context.say("\ntool stack apply changes the stack, but nothing of the log service:");
        else if (logs?.problem !== undefined && logs.changes.length > 0)
          await context.say("\ntool stack apply makes none of these changes:");
        else if (hasWork(stackPlan) || isReady) await context.say("\ntool stack apply makes these changes");
      }
      return sayProblem(context, logs?.problem);
    },
  );
}

/** The same without the stack, for the log service alone. */
async function planUnseen(
  context: Context,
  { config, name, place }: Pick<Opened, "config" | "name" | "place">,
  logs: ServicePlan | undefined,
  error: PlatformError,
): Promise<number> {
  const unseen = { name, region: place, isNew: undefined, changes: undefined, certificates: undefined };
  if (context.format === "json") await context.print(toJson({ ...unseen, logs: servicePlanDocument(logs) }));
  else if (logs !== undefined) {
    const text = renderServicePlan(logs, context.io.stdout);
    if (text !== "") await context.print(text);
    if (logs.problem === undefined && logs.changes.length > 0)
      await context.say("\ntool stack apply makes these changes");
  }
  const code = await sayUnseen(context, config, error);
  return (await sayProblem(context, logs?.problem)) || code;
}

/** `tool stack apply`: changes the stack to match tool.json. Asks before it removes or replaces what others rely on. */
export function apply(context: Context, options: Options<"stack apply">): Promise<number> {
  const opens = { ...options, deploys: true, appliesPro: true };
  return withStack(context, opens, async (opened) => {
    const { stack, name, progress, watch, sandbox, streamKey, endReplaced } = opened;
    // Before anything is changed: its removals are confirmed first, and a problem there holds up nothing of the stack.
    const logs = await opened.planLogs();
    const ask = (question: string) => confirmed(context, `${question}. Type ${name} to continue: `, name);
    if (!options.yes && !(await confirmRemovals(context, logs, isAsking(context) ? ask : undefined))) {
      return context.fail("nothing was changed");
    }
    let isRefused = false;
    let loss = "";
    const confirm = async (stackPlan: StackPlan) => {
      progress.pause();
      const changes = stackPlan.changes.filter((change) => change.needsConfirmation);
      if (changes.length === 0 || options.yes) return true;
      await context.say(renderPlan(stackPlan, context.io.stderr, sandbox));
      loss = lossOf(changes);
      isRefused = !isAsking(context);
      if (isRefused) return false;
      return ask(`This ${loss}`);
    };
    const result = await unlessUnseen(
      async () => logs,
      () => stack.apply({ confirm, streamKey }, watch),
    );
    if (result instanceof PlatformError) {
      progress.end();
      return applyUnseen(context, opened, logs, result);
    }
    if (result.outcome !== "cancelled") await endReplaced();
    progress.end();
    const isCancelled = result.outcome === "cancelled";
    const untouched = { plan: logs, done: [], problem: undefined, isUnchanged: true, isProjectMade: false };
    const applied = isCancelled ? untouched : await opened.applyLogs(logs);
    const isAll = applied.done.length === 0;
    if (context.format === "json") {
      const outcome = result.outcome === "unchanged" && !isAll ? "updated" : result.outcome;
      await context.print(toJson({ ...result, outcome, logs: appliedDocument(applied) }));
    }
    if (isRefused) {
      return context.misuse(`this ${loss}, and there is no terminal to confirm it`, "write --yes to agree");
    }
    if (isCancelled) {
      await context.say("nothing was changed");
      return EXIT.failed;
    }
    if (context.format !== "json") {
      if (result.outcome === "unchanged" && result.plan.certificates.length === 0) {
        await context.print(unchangedText(isAll));
      } else {
        // The stack, and so its status, has nothing of it.
        for (const line of retentionLines(result.plan.changes)) await context.print(line);
        await context.print(renderStatus(result.status!, context.io.stdout, sandbox));
      }
    }
    return sayApplied(context, applied);
  });
}

/** The same without the stack, for the log service alone. */
async function applyUnseen(
  context: Context,
  { config, applyLogs }: Opened,
  logs: ServicePlan | undefined,
  error: PlatformError,
): Promise<number> {
  const applied = await applyLogs(logs);
  const outcome = applied.done.length === 0 ? "unchanged" : "updated";
  if (context.format === "json") {
    await context.print(toJson({ outcome, plan: undefined, status: undefined, logs: appliedDocument(applied) }));
  }
  const code = await sayUnseen(context, config, error);
  return (await sayApplied(context, applied)) || code;
}

/** `removes stage of the gateway (beta); replaces a.example.com/`: the plan printed above has long lists whole. */
function lossOf(changes: readonly StackChange[]): string {
  const verbs: [verb: string, matches: (change: StackChange) => boolean][] = [
    ["removes", ({ action, isKept }) => action === "remove" && !isKept],
    ["no longer manages", ({ isKept }) => isKept],
    ["replaces", ({ replaced }) => replaced === "yes"],
    ["may replace", ({ replaced }) => replaced === "possibly"],
    ["shortens", ({ action, replaced }) => action === "change" && replaced === "no"],
  ];
  return verbs
    .flatMap(([verb, matches]) => {
      const names = changes.filter(matches).map(({ about, stage }) => (stage ? `${about} (${stage})` : about));
      const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
      return names.length === 0 ? [] : [`${verb} ${names.slice(0, MAX_NAMED).join(", ")}${more}`];
    })
    .join("; ");
}

/** Enough to recognize the change. */
const MAX_NAMED = 5;

/** `tool stack delete`: removes everything that deploying created, once the app's name is typed. */
export function remove(context: Context, options: Options<"stack delete">): Promise<number> {
  return withStack(context, { ...options, needsLittle: true }, async (opened) => {
    const { stack, name, place, progress, watch, endTokens } = opened;
    const logs = await opened.planLogs({ removesAll: true });
    const ofService = [
      ...(logs?.changes ?? []).map((change) => changeNames([change])),
      ...(await opened.stagesWithToken()).map((stage) => `token of ${stage}`),
    ];
    if (!options.yes) {
      if (!isAsking(context)) {
        return context.misuse(
          `this would remove everything of ${name} in ${place}, and there is no terminal to confirm it`,
          "write --yes to agree",
        );
      }
      const resources = await stack.inventory(options, watch);
      for (const one of leftInService(logs, logs?.problem)) await context.say(leftLine(one));
      if (resources.length + ofService.length === 0) {
        await context.print(`there is nothing of ${name} in ${place}`);
        return EXIT.ok;
      }
      const [going, staying] = [true, false].map((goes) =>
        resources.filter(({ stays }) => (stays === undefined) === goes),
      );
      if (going!.length > 0) await context.say(`This removes from ${place}:`);
      for (const owned of going!) await context.say(`  ${owned.kind} ${owned.name}`);
      if (staying!.length > 0) await context.say(going!.length > 0 ? "and leaves:" : `This stays in ${place}:`);
      for (const owned of staying!) await context.say(`  ${owned.kind} ${owned.name}: ${owned.stays}`);
      if (ofService.length > 0) {
        await context.say(`This removes from the log service ${logs?.service ?? "of npm start"}:`);
        for (const one of ofService) await context.say(`  ${one}`);
      }
      // There is nothing to confirm.
      if (going!.length + ofService.length === 0) return EXIT.ok;
      if (!(await confirmed(context, `Type ${name} to continue: `, name))) {
        await context.say("nothing was removed");
        return EXIT.failed;
      }
    }
    const untouched = await endTokens();
    const ofStack = await stack.remove(options, watch);
    const { done, problem } = await opened.applyLogs(logs);
    await opened.endTokensHere();
    progress.end();
    const removed = [
      ...ofStack.removed,
      ...done.map((change) => ({ kind: `log service ${change.kind}`, name: change.name })),
    ];
    const left = [...ofStack.left, ...leftInService(logs, problem), ...leftTokens(await opened.stagesWithToken())];
    if (context.format === "json") await context.print(toJson({ removed, left }));
    else if (removed.length === 0 && left.length === 0) await context.print(`there is nothing of ${name} in ${place}`);
    else {
      if (context.io.stdout.isTerminal) {
        // The progress lines above named them.
        if (left.length === 0) await context.print(`nothing of ${name} is left in ${place}`);
      } else
        await context.print(
          `removed: ${removed.map((one) => `${one.kind} ${visible(one.name)}`).join(", ") || "nothing"}`,
        );
      for (const one of left) await context.print(leftLine(one));
    }
    if (untouched.length > 0) {
      const where = untouched.join(" and ");
      await context.say(
        `tokens of ${name} are left at ${where}: an admin of the team removes them there, under Tokens`,
      );
    }
    return EXIT.ok;
  });
}

type Left = RemoveResult["left"][number];

const leftLine = ({ kind, name, reason }: Left) => `left: ${kind} ${name}: ${reason}`;

/** Things of a removed app that stay in its log service. */
function leftInService(plan: ServicePlan | undefined, problem: ServicePlan["problem"]): Left[] {
  if (plan === undefined) return [];
  const held = plan.held.map(({ kind, name, reason }) => ({
    kind: `log service ${kind}`,
    ...{ name: visible(name), reason: visible(reason) },
  }));
  if (problem === undefined) return held;
  // The sandbox has one at most, whose address is known while it runs.
  const name = plan.service ?? "of npm start";
  return [...held, { kind: "log service", name, reason: `${problem.message}: ${problem.hint}` }];
}

/** The tokens of stages in the sandbox that could not be ended. */
const leftTokens = (stages: readonly string[]): Left[] =>
  stages.map((stage) => ({
    kind: "log service token",
    name: `of ${stage}`,
    reason:
      "the log service of npm start could not be asked to end it: run tool stack delete --sandbox again while npm start runs",
  }));

/** `tool stack rotate-logs-token`: makes a new token for a stage's entries; the old one ends when no version needs it. */
export async function rotateLogsToken(context: Context, options: Options<"stack rotate-logs-token">): Promise<number> {
  const { config } = await readConfigFile(context);
  const { stage, now } = options;
  if (usesSandbox(context, false)) {
    return context.fail("the sandbox has no tokens to rotate", "unset TOOL_SANDBOX for those of the account");
  }
  if (usesFirehose(config)) return rotateStreamKey(context, options);
  const wrong = explainStage(stage, config);
  if (wrong !== undefined) return context.misuse(wrong.message, wrong.hint);
  const { config: resolved } = resolveProject(context, config, { development: false, stage });
  const progress = deployProgress(context);
  const interrupted = () => "interrupted: run this again";
  return interruptible(context, { progress, interrupted }, async ({ signal }) => {
    const { env, clock } = context.io;
    const tokens = await openLogTokens({ env, clock, config, resolved, sandbox: undefined });
    const watched = { signal, report: progress.report };
    const { rotateToken } = await import("../service/log-delivery.ts");
    const { versions, ended } = await rotateToken(context, { config, stage, tokens, watched }, { now });
    progress.end();
    if (context.format === "json") {
      await context.print(toJson({ stage, versions, ended }));
      return EXIT.ok;
    }
    await context.print(rotationText(stage, versions, now));
    return EXIT.ok;
  });
}

/** With Firehose there is one token for all stages, which the stack gives to the stream. */
function rotateStreamKey(context: Context, { stage }: Options<"stack rotate-logs-token">): Promise<number> {
  return withStack(context, { sandbox: false }, async ({ stack, name, progress, watch, openTokens, config }) => {
    const { rotateStreamToken } = await import("../service/log-delivery.ts");
    const request = { config, tokens: await openTokens(), watched: { signal: watch.signal, report: () => {} } };
    const change = (key: string) => stack.changeStreamKey(key, watch);
    const { isChanged, ended } = await rotateStreamToken(context, request, change);
    progress.end();
    if (context.format === "json") await context.print(toJson({ stage, versions: [], ended }));
    else if (isChanged) await context.print(`the stream of ${name}, which all stages have, sends with a new token`);
    else await context.print(`${name} has a new token, and no stream yet: tool stack apply makes it`);
    return EXIT.ok;
  });
}

/**
 * `tool stack policy`: prints the access policy that deploying this app needs, or what Firehose needs beside that; a JSON document
 * in either format.
 */
export async function policy(context: Context, options: Options<"stack policy">): Promise<number> {
  const file = await readConfigFile(context);
  const { config } = resolveProject(context, file.config, { development: false });
  const { function: settings, stages = {} } = file.config;
  const named = [settings, ...Object.values(stages).map((stage) => stage.function)].flatMap((one) => one?.role ?? []);
  const app = { name: config.name, region: config.regions[0]!, roles: [...new Set(named)] };
  const document = options.firehose ? await neededStreamPolicy(app) : await neededAccessPolicy(app);
  await context.print(JSON.stringify(document, null, 2));
  if (usesFirehose(file.config) && !options.firehose) {
    await context.say('"delivery": "firehose" needs a second policy: tool stack policy --firehose');
  }
  return EXIT.ok;
}

interface Opened {
  readonly stack: Stack;
  readonly name: string;
  /** The region, or the sandbox. */
  readonly place: string;
  readonly sandbox: SandboxAccess | undefined;
  readonly progress: StackProgress;
  readonly watch: StackWatch;
  /** Ends the tokens of the app at its log service. Returns the origins of those that are left. */
  endTokens(): Promise<readonly string[]>;
  /** The stages in the sandbox that have a token for the log service of `npm start`. */
  stagesWithToken(): Promise<readonly string[]>;
  /** Ends these tokens, as far as the service is there. */
  endTokensHere(): Promise<void>;
  /** tool.json as it is written. */
  readonly config: Config;
  openTokens(): Promise<LogTokens>;
  /** The token of the stream to the log service. */
  streamKey(): Promise<string>;
  /** Compares the app's log service with tool.json; undefined if the app has nothing to do with one. */
  planLogs(options?: { readonly removesAll: boolean }): Promise<ServicePlan | undefined>;
  applyLogs(plan: ServicePlan | undefined): Promise<AppliedPlan>;
  /** Ends tokens of the stream in whose place that is. */
  endReplaced(): Promise<void>;
}

/** Opens the stack of the project and runs a command on it. */
async function withStack(
  context: Context,
  options: {
    readonly sandbox: boolean;
    readonly deploys?: boolean;
    readonly appliesPro?: boolean;
    /** Needs little of tool.json: errors in the rest do not end the command. */
    readonly needsLittle?: boolean;
  },
  run: (opened: Opened) => Promise<number>,
): Promise<number> {
  const appliesPro = options.appliesPro === true;
  const isForCloud = appliesPro && !usesSandbox(context, options.sandbox);
  const file = options.needsLittle
    ? await readNeededConfig(context)
    : await readConfigFile(context, { appliesPro, isForCloud });
  const { config } = file;
  const { config: resolved } = resolveProject(context, config, { development: false });
  const progress = stackProgress(context);
  let hasBegun = false;
  const report: StackWatch["report"] = (event) => {
    hasBegun ||= event.kind === "resource";
    progress.report(event);
  };
  let done = 0;
  const interrupted = () =>
    done > 0
      ? `interrupted: at least ${done} of the changes to the log service were made; tool stack apply continues from there`
      : hasBegun
        ? "interrupted: the stack operation continues; tool stack status shows its progress"
        : "interrupted";
  return interruptible(context, { progress, interrupted }, async ({ signal }) => {
    const { deploys = false } = options;
    const sandbox = await openSandbox(context, options.sandbox, { app: config.name, deploys });
    const { env, clock } = context.io;
    const target = { env, clock, config, resolved: placed(resolved, sandbox), sandbox };
    const stack = await openStack(target);
    const openTokens = () => openLogTokens(target);
    const endTokens = async () => {
      if (sandbox !== undefined) return [];
      const { endAll } = await import("../service/log-delivery.ts");
      return endAll(context, { tokens: await openTokens(), watched: { signal, report: () => {} } });
    };
    const stagesWithToken = async () => {
      if (sandbox === undefined) return [];
      return (await import("../service/sandbox-delivery.ts")).stagesWithToken(env, config.name);
    };
    const endTokensHere = async () => {
      if (sandbox === undefined) return;
      await (await import("../service/sandbox-delivery.ts")).endTokensHere(context, config.name, signal);
    };
    let endReplaced = async () => {};
    const streamKey = async () => {
      if (sandbox !== undefined) return KEY_IN_SANDBOX;
      const { endRetired, requireStreamToken } = await import("../service/log-delivery.ts");
      const request = { tokens: await openTokens(), watched: { signal, report: () => {} } };
      const token = await requireStreamToken(context, { ...request, config });
      endReplaced = () => endRetired(context, { ...request, stage: ALL_OF_APP }, token);
      return token.token;
    };
    const planLogs: Opened["planLogs"] = async (options) => {
      const { planService } = await import("../alerts/service-plan.ts");
      return planService(context, { file, sandbox, openVariables: () => openVariables(target), signal, ...options });
    };
    const applyLogs: Opened["applyLogs"] = (plan) =>
      applyPlan(plan, signal, ({ length }) => {
        done = length;
      });
    const place = sandbox === undefined ? resolved.regions[0]! : "the sandbox";
    return run({
      ...{ stack, name: resolved.name, place, sandbox, progress, config, openTokens, endTokens, streamKey },
      ...{ planLogs, applyLogs, stagesWithToken, endTokensHere },
      endReplaced: () => endReplaced(),
      watch: { signal, report },
    });
  });
}

/** Absent values are null, so that all documents of a command have the same keys. */
const toJson = (document: object) => JSON.stringify(document, (_, value) => (value === undefined ? null : value), 2);

const hasWork = ({ changes, certificates }: StackPlan) =>
  changes.length > 0 || certificates.some(({ state }) => state !== "pending");

const isAsking = ({ io }: Context) => io.stdin.isTTY === true && io.stderr.isTerminal;

async function confirmed({ io }: Context, question: string, word: string): Promise<boolean> {
  return (await io.ask(question))?.trim() === word;
}
