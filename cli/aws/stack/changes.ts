import type { Change as CloudChange, ResourceChangeDetail } from "@aws-sdk/client-cloudformation";
import type { PropertyChange, StackChange } from "../../platform/stack.ts";
import { needsConfirmation } from "./confirmation.ts";
import type { TemplateDocument, TemplateResource } from "./resource.ts";

/** The resources that creating the stack adds. */
export function additions(template: TemplateDocument): StackChange[] {
  return order(
    Object.entries(template.Resources).map(([id, resource]) => ({
      action: "add",
      id,
      ...factsOf(resource),
      replaced: "no",
      isKept: false,
      needsConfirmation: false,
      properties: [],
    })),
    stagesIn(template),
  );
}

/**
 * A change set in the user's terms. The platform tells which resources change and which are replaced. The values come from
 * the two templates, as a change set has literal values only.
 */
export function stackChanges(
  set: readonly CloudChange[],
  before: TemplateDocument,
  after: TemplateDocument,
): StackChange[] {
  const changes = set.flatMap(({ ResourceChange }): StackChange[] => {
    const {
      LogicalResourceId: id,
      ResourceType,
      Action,
      Replacement,
      PolicyAction,
      Details = [],
    } = ResourceChange ?? {};
    if (id === undefined || Action === undefined) return [];
    const [old, now] = [before.Resources[id], after.Resources[id]];
    const resource = now ?? old;
    const facts =
      resource === undefined ? { type: ResourceType ?? "", about: id, stage: undefined } : factsOf(resource);
    const action = Action === "Add" ? "add" : Action === "Remove" ? "remove" : "change";
    const differing = action === "change" ? propertyChanges(old?.Properties ?? {}, now?.Properties ?? {}) : [];
    const said = Details.flatMap(({ Target }) => (Target?.Name === undefined ? [] : [Target.Name]));
    // Changes that follow from another resource or from a parameter are not in the templates.
    const followed = [...new Set(said)].filter((name) => !differing.some(({ path }) => path.split(".")[0] === name));
    const replaced = action === "change" ? replacementOf(Replacement, Details, differing) : "no";
    return [
      {
        action,
        id,
        ...facts,
        replaced,
        isKept: action === "remove" && (PolicyAction === "Retain" || (old?.DeletionPolicy ?? "").startsWith("Retain")),
        needsConfirmation: needsConfirmation({ action, type: facts.type, replaced }),
        properties: [
          ...differing,
          ...followed.filter(() => action === "change").map((path) => ({ path, before: undefined, after: undefined })),
        ],
      },
    ];
  });
  return order(changes.sort(byTemplate(before, after)), [...stagesIn(after), ...stagesIn(before)]);
}

/**
 * If a property depends on a reference, the platform leaves open whether it changes. If it now refers to another resource,
 * it certainly does.
 */
function replacementOf(
  replacement: string | undefined,
  details: readonly ResourceChangeDetail[],
  differing: readonly PropertyChange[],
): StackChange["replaced"] {
  if (replacement === "True") return "yes";
  if (replacement !== "Conditional") return "no";
  const isCertain = details.some(
    ({ Target }) =>
      Target?.RequiresRecreation === "Always" && differing.some(({ path }) => path.split(".")[0] === Target.Name),
  );
  return isCertain ? "yes" : "possibly";
}

/** Properties that differ, by path: `Target.Input`. Lists and references are compared as a whole. */
function propertyChanges(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  prefix = "",
): PropertyChange[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key): PropertyChange[] => {
    const [a, b] = [before[key], after[key]];
    if (JSON.stringify(a) === JSON.stringify(b)) return [];
    if (isPlain(a) && isPlain(b)) return propertyChanges(a, b, `${prefix}${key}.`);
    const text = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value));
    return [{ path: `${prefix}${key}`, before: text(a), after: text(b) }];
  });
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !Object.keys(value).some((key) => key === "Ref" || key.startsWith("Fn::"));
}

/** Sorts in the order of the templates; a change set has its own order. */
function byTemplate(before: TemplateDocument, after: TemplateDocument) {
  const ids = [...new Set([...Object.keys(after.Resources), ...Object.keys(before.Resources)])];
  const rank = new Map(ids.map((id, i) => [id, i]));
  return (a: StackChange, b: StackChange) => (rank.get(a.id) ?? ids.length) - (rank.get(b.id) ?? ids.length);
}

function factsOf({ Type, Metadata }: TemplateResource) {
  return { type: Type, about: Metadata?.tool?.about ?? Type, stage: Metadata?.tool?.stage };
}

/** Resources of the app first, then stage by stage; each group in the order of the template. */
function order(changes: readonly StackChange[], stages: readonly (string | undefined)[]): StackChange[] {
  return [...new Set([undefined, ...stages])].flatMap((stage) => changes.filter((change) => change.stage === stage));
}

const stagesIn = ({ Resources }: TemplateDocument) =>
  Object.values(Resources).map(({ Metadata }) => Metadata?.tool?.stage);
