import { visible } from "../../grammar/visible-text.ts";
import { displayWidth } from "../output/display-width.ts";
import { painters, roomOf, type TextOptions } from "../output/stack-text.ts";
import type { RecordProperty, ServiceChange } from "./plan-records.ts";
import type { ServicePlan } from "./service-plan.ts";

/** The changes that `apply` would make in the log service, for people. Its problem is an error of its own. */
export function renderServicePlan(plan: ServicePlan, options: TextOptions): string {
  const { bold, green, yellow, red } = painters(options);
  const { service, project, changes, remarks, problem } = plan;
  const notes = remarks.map(visible).join("\n");
  const place = `the log service ${service}, project ${project}`;
  if (changes.length === 0) {
    const isSame = service !== undefined && problem === undefined;
    return blocks([notes, isSame ? `nothing to do: ${place}, matches tool.json` : ""]);
  }
  const lines = changes.flatMap(({ action, kind, name, properties }) => {
    const mark = action === "add" ? green("+") : action === "remove" ? red("-") : yellow("~");
    const note = action === "remove" ? `  ${red("REMOVED")}` : "";
    return [
      `  ${mark} ${kind} ${visible(name)}${note}`,
      ...properties.flatMap((property) => propertyLines(property, action, roomOf(options))),
    ];
  });
  const title = `${bold("Changes")} to ${place}`;
  return blocks([[title, ...lines].join("\n"), notes, totalOf(changes)]);
}

const blocks = (texts: readonly string[]) => texts.filter((text) => text !== "").join("\n\n");

/** Whole, as two queries may differ at their ends alone: what is too long for a line has one for each value. */
function propertyLines(property: RecordProperty, action: ServiceChange["action"], room: number): string[] {
  const { path, before, after, isSecret } = property;
  if (isSecret) return [`      ${path}: a secret${action === "change" ? ", which has changed" : ""}`];
  const [from, to] = [before, after].map((value) => (value === undefined ? "the default" : visible(value)));
  if (action === "add") return [`      ${path}: ${to}`];
  const line = `      ${path}: ${from} -> ${to}`;
  return displayWidth(line) <= room ? [line] : [`      ${path}: ${from}`, `      ${" ".repeat(path.length)}-> ${to}`];
}

function totalOf(changes: readonly ServiceChange[]): string {
  return (["add", "change", "remove"] as const)
    .flatMap((action) => {
      const count = changes.filter((change) => change.action === action).length;
      return count === 0 ? [] : [`${count} to ${action}`];
    })
    .join(", ");
}

/** `notification ops, alert errors`: for sentences about what was done. */
export const changeNames = (changes: readonly ServiceChange[]) =>
  changes.map(({ kind, name }) => `${kind} ${visible(name)}`).join(", ");

/** As `--format json` has it; null if the app has nothing to do with a log service. */
export function servicePlanDocument(plan: ServicePlan | undefined): object | null {
  if (plan === undefined) return null;
  const { service, project, changes, remarks, problem } = plan;
  return {
    service: service ?? null,
    project,
    changes: changes.map(({ action, kind, name, properties }) => ({
      ...{ action, kind, name },
      properties: properties.map(({ path, before, after, isSecret }) => {
        return { path, before: before ?? null, after: after ?? null, isSecret };
      }),
    })),
    remarks,
    problem: problem ?? null,
  };
}
