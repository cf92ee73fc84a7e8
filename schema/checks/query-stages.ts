import { didYouMean } from "../../grammar/did-you-mean.ts";
import { type Problem, quote } from "../../grammar/problem.ts";
import type { NamedStage } from "../../grammar/query/index.ts";
import { memberOf, type Node } from "../json.ts";
import type { Meanings } from "../languages.ts";
import type { ProblemReport } from "../report.ts";
import { DEFAULT_STAGES } from "../stages.ts";

/** Saved queries that name a stage which the configuration does not have. */
export function checkQueryStages(report: ProblemReport, root: Node, { queryStages }: Meanings) {
  if (queryStages.size === 0) return;
  const stages = stageNames(root);
  for (const [node, named] of queryStages) report.inside(node, unknownStages(named, stages));
}

/** The stages of a configuration: those that every app has, and its own. */
export function stageNames(root: Node | undefined): string[] {
  const stages = memberOf(root, "stages")?.value;
  const own = stages?.type === "object" ? stages.members.map(({ key }) => key.value) : [];
  return [...new Set([...DEFAULT_STAGES, ...own])];
}

/** A warning for each stage that is not known: entries of a stage that was removed may still be there. */
export function unknownStages(named: readonly NamedStage[], stages: readonly string[]): Problem[] {
  return named
    .filter(({ name }) => !stages.includes(name))
    .map(({ name, span }): Problem => {
      const near = didYouMean(name, stages);
      return {
        code: "config/unknown-stage",
        severity: "warning",
        message: `there is no stage ${quote(name)}`,
        hint: near === undefined ? `the stages are ${stages.join(", ")}` : `did you mean ${quote(near)}?`,
        span,
        ...(near !== undefined && { fix: { title: `Change to ${near}`, edits: [{ span, text: near }] } }),
      };
    });
}
