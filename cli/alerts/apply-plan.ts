import { RpcFailure } from "../../schema/rpc-client.ts";
import { type Context, EXIT } from "../context.ts";
import { TeamError } from "../team/error.ts";
import type { ServiceChange } from "./plan-records.ts";
import { madeFirst, type ServicePlan, saidOf } from "./service-plan.ts";
import { changeNames, renderServicePlan, servicePlanDocument } from "./service-plan-text.ts";

/** How far a plan was carried out. */
export interface AppliedPlan {
  readonly plan: ServicePlan | undefined;
  /** In their order. */
  readonly done: readonly ServiceChange[];
  /** Why the rest was not done, and what to do. */
  readonly problem: ServicePlan["problem"];
  /** Whether nothing of the service was changed for sure: a request whose answer is lost may have been carried out. */
  readonly isUnchanged: boolean;
  readonly isProjectMade: boolean;
}

/**
 * Asks before things of the log service are removed; without a terminal it ends the command. Returns whether to go on.
 */
export async function confirmRemovals(
  context: Context,
  plan: ServicePlan | undefined,
  ask: ((question: string) => Promise<boolean>) | undefined,
): Promise<boolean> {
  const removed = plan?.problem === undefined ? (plan?.changes.filter(({ action }) => action === "remove") ?? []) : [];
  if (plan === undefined || removed.length === 0) return true;
  await context.say(renderServicePlan(plan, context.io.stderr));
  const loss = `This removes ${changeNames(removed)} from the log service`;
  if (ask === undefined) {
    return context.misuse(`${loss.replace(/^T/, "t")}, and there is no terminal to confirm it`, "write --yes to agree");
  }
  return ask(loss);
}

/** Carries out a plan, as far as it goes: `onDone` hears of each change. What fails is the problem of the result. */
export async function applyPlan(
  plan: ServicePlan | undefined,
  signal: AbortSignal,
  onDone: (done: readonly ServiceChange[]) => void,
): Promise<AppliedPlan> {
  if (plan === undefined || plan.problem !== undefined) {
    return { plan, done: [], problem: plan?.problem, isUnchanged: true, isProjectMade: false };
  }
  const done: ServiceChange[] = [];
  let isProjectMade = false;
  // Before the first one, the project is made for it.
  let current = plan.changes[0]!;
  try {
    await plan.apply({
      onProject() {
        isProjectMade = true;
      },
      onBegin(change) {
        current = change;
      },
      onDone(change) {
        done.push(change);
        onDone(done);
      },
    });
    return { plan, done, problem: undefined, isUnchanged: done.length === 0, isProjectMade };
  } catch (error) {
    if (!(error instanceof TeamError) || signal.aborted) throw error;
    const { message, hint } = saidOf(error);
    const again = hint.includes("run tool stack apply again") ? [] : ["tool stack apply continues from there"];
    const problem = { message: `${changeNames([current])}: ${message}`, hint: [hint, ...again].join("\n") };
    const isUnchanged = done.length === 0 && !isProjectMade && isRefusal(error);
    return { plan, done, problem, isUnchanged, isProjectMade };
  }
}

/** Whether the service has said that it did not do what it was asked. */
const isRefusal = ({ cause }: TeamError) =>
  cause === undefined || (cause instanceof RpcFailure && cause.status >= 400 && cause.status < 500);

/** Says what was done and what was not. Returns the exit code. */
export async function sayApplied(context: Context, applied: AppliedPlan): Promise<number> {
  const { plan, done, problem, isUnchanged, isProjectMade } = applied;
  if (plan === undefined) return EXIT.ok;
  const { service, project, changes } = plan;
  if (context.format !== "json") {
    const place = `the log service ${service}, project ${project}`;
    if (changes.length === 0) {
      const text = renderServicePlan(plan, context.io.stdout);
      if (text !== "") await context.print(text);
    } else {
      for (const line of doneLines(done)) await context.print(line);
      if (done.length === changes.length) await context.print(`${place}, matches tool.json`);
      for (const remark of plan.remarks) {
        if (remark !== madeFirst(project)) await context.say(remark);
        else if (isProjectMade) await context.say(`the project ${project} was not there yet: it was made first`);
      }
    }
  }
  return sayProblem(context, problem, isUnchanged ? "nothing of the log service was changed: " : "");
}

/** `added: notification ops, alert errors` */
function doneLines(done: readonly ServiceChange[]): string[] {
  return (
    [
      ["add", "added"],
      ["change", "changed"],
      ["remove", "removed"],
    ] as const
  ).flatMap(([action, verb]) => {
    const some = done.filter((change) => change.action === action);
    return some.length === 0 ? [] : [`${verb} in the log service: ${changeNames(some)}`];
  });
}

/** Returns the exit code: the part of tool.json that is the service's is not as it should be. */
export async function sayProblem(context: Context, problem: ServicePlan["problem"], so = ""): Promise<number> {
  if (problem === undefined) return EXIT.ok;
  const lines = problem.message.split("\n");
  for (const [at, line] of lines.entries()) {
    await context.error(`${at === 0 ? so : ""}${line}`, at === lines.length - 1 ? problem.hint : undefined);
  }
  return EXIT.failed;
}

/** As `--format json` has it: the plan with the number of its changes that were made. */
export function appliedDocument({ plan, done, problem }: AppliedPlan): object | null {
  const document = servicePlanDocument(plan);
  return document === null ? null : { ...document, problem: problem ?? null, done: done.length };
}
