import { type Problem, quote } from "../../grammar/problem.ts";
import type { NamedStage } from "../../grammar/query/index.ts";
import { memberOf, type Node } from "../json.ts";
import type { Meanings } from "../languages.ts";
import { nearName } from "../near-name.ts";
import type { ProblemReport } from "../report.ts";
import { DEFAULT_STAGES } from "../stages.ts";

/** Saved queries that name a stage which the configuration does not have, or are doubtful in themselves. */
export function checkQueryStages(report: ProblemReport, root: Node, { queries }: Meanings) {
  if (queries.size === 0) return;
  const names = stageNames(root);
  for (const [node, { stages, warnings }] of queries) {
    report.inside(node, [...unknownStages(stages, names), ...warnings]);
  }
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
      const near = nearStage(name, stages);
      return {
        code: "config/unknown-stage",
        severity: "warning",
        message: `there is no stage ${quote(name)}`,
        hint: near === undefined ? `the stages are ${stages.join(", ")}` : `did you mean ${quote(near.name)}?`,
        span,
        ...(near !== undefined && {
          fix: {
            title: `Change to ${near.name}`,
            edits: [{ span, text: near.name }],
            ...(!near.isSlip && { isSuggestion: true }),
          },
        }),
      };
    });
}

function nearStage(name: string, stages: readonly string[]) {
  const usual = Object.hasOwn(SHORT_NAMES, name) ? SHORT_NAMES[name]! : undefined;
  return usual !== undefined && stages.includes(usual) ? { name: usual, isSlip: false } : nearName(name, stages);
}

/** Short names of the stages that every app has. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  dev: "development",
  devel: "development",
  live: "production",
  local: "development",
  prd: "production",
  prod: "production",
  stage: "staging",
  stg: "staging",
};
