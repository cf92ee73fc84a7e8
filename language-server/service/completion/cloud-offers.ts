import { REGIONS } from "../../../schema/index.ts";
import { memberOf } from "../../../schema/json.ts";
import type { ClientOptions } from "../client-options.ts";
import { type CloudAnswer, type CloudKind, NO_NAMES } from "../cloud.ts";
import type { ToolDocument } from "../document.ts";
import type { Project } from "../project.ts";
import { type CompletionCandidate, KIND } from "./candidate.ts";
import { memberText, regionOf } from "./good-values.ts";
import type { CursorContext } from "./place.ts";

/** The names of a kind in the app's AWS account; none unless the user has agreed that it is asked. */
export function cloudNamesOf(
  kind: CloudKind,
  config: ToolDocument | undefined,
  project: Project,
  client: ClientOptions,
): CloudAnswer {
  if (!client.settings.awsNames || project.cloudNames === undefined || config === undefined) return NO_NAMES;
  const regions = config.section("regions")?.value;
  const [first] = regions?.type === "array" ? regions.items : [];
  const region = first?.type === "string" && REGIONS.includes(first.value) ? first.value : undefined;
  // A glob is a region, too, which may not be the one that is asked. Networks do not tell theirs.
  if (isOfNetwork(kind) && first !== undefined && region === undefined) return NO_NAMES;
  const app = kind === "stages" ? memberText(config.root, "name") : undefined;
  if (kind === "stages" && app === undefined) return NO_NAMES;
  return project.cloudNames({ kind, app, profile: memberText(config.root, "profile"), region });
}

/** The addresses of the stages that were deployed with the app's account, as far as it was asked. */
export function stageUrls(
  document: ToolDocument,
  project: Project,
  client: ClientOptions,
): ReadonlyMap<string, string> {
  const { names } = cloudNamesOf("stages", document, project, client);
  return new Map(names.flatMap(({ name, url }) => (url === undefined ? [] : [[name, url] as const])));
}

const isOfNetwork = (kind: CloudKind | undefined) => kind === "subnets" || kind === "security-groups";

/** The kind of names that a string at a place of tool.json is one of. */
function kindAt({ path, key, kind }: CursorContext): CloudKind | undefined {
  if (path[0] === "stages" && path.length === 2 && key === "zone") return "zones";
  if (path[0] === "stages" && path.length === 2 && key === "domain") return "certificates";
  if (path[0] === "function" || (path[0] === "stages" && path[2] === "function")) {
    if (key === "role") return "roles";
    if (kind === "item" && path.at(-1) === "layers") return "layers";
    if (kind === "item" && path.at(-2) === "vpc" && path.at(-1) === "subnets") return "subnets";
    if (kind === "item" && path.at(-2) === "vpc" && path.at(-1) === "security_groups") return "security-groups";
  }
  return undefined;
}

/** Values of tool.json from the app's AWS account, beside those that are offered at once. */
export function cloudCandidates(
  document: ToolDocument,
  project: Project,
  cursor: CursorContext,
  client: ClientOptions,
): { readonly candidates: readonly CompletionCandidate[]; readonly isPending: boolean } {
  const kind = kindAt(cursor);
  const { names, isPending } = kind === undefined ? NO_NAMES : cloudNamesOf(kind, document, project, client);
  const { container } = cursor;
  const networks = isOfNetwork(kind)
    ? networksBeside(document, cursor, (other) => cloudNamesOf(other, document, project, client))
    : { ids: new Set<string>(), isPending: false };
  const regions = document.section("regions")?.value;
  const namesRegion = regions?.type === "array" && regions.items.length > 0;
  const siblings =
    container.type === "array"
      ? container.items.flatMap((item) => (item === cursor.current || item.type !== "string" ? [] : item.value))
      : [];
  const zone = kind === "certificates" ? textIn(container, "zone") : undefined;
  const domain = kind === "zones" ? textIn(container, "domain") : undefined;
  const candidates = names
    .filter(({ name }) => !siblings.includes(name))
    // A glob is a region, too, which may not be the one that was asked.
    .filter(({ name }) => kind !== "layers" || !namesRegion || name.split(":")[3] === regionOf(document))
    .filter(({ network }) => network === undefined || networks.ids.size === 0 || networks.ids.has(network))
    // An offer is right beside the other member.
    .filter(({ name }) => zone === undefined || isWithin(name, zone))
    .filter(({ name }) => domain === undefined || isWithin(domain, name))
    .map(({ name, detail }): CompletionCandidate => {
      return { label: name, kind: KIND.reference, text: JSON.stringify(name), rank: 0, detail: detail ?? "AWS" };
    });
  return { candidates, isPending: isPending || networks.isPending };
}

/** The VPCs of the other subnets and security groups of the same function. */
function networksBeside(
  document: ToolDocument,
  { path, current }: CursorContext,
  namesOf: (kind: CloudKind) => CloudAnswer,
): { readonly ids: ReadonlySet<string>; readonly isPending: boolean } {
  const { node: vpc } = document.nodeAt(path.slice(0, -1));
  const lists = [
    ["subnets", "subnets"],
    ["security_groups", "security-groups"],
  ] as const;
  const beside = lists.map(([key, kind]) => {
    const list = memberOf(vpc, key)?.value;
    const items = list?.type === "array" ? list.items : [];
    const ids = items.flatMap((item) => (item === current || item.type !== "string" ? [] : item.value));
    // The account is not asked about a list that is empty.
    const { names, isPending } = ids.length === 0 ? NO_NAMES : namesOf(kind);
    return { networks: names.flatMap(({ name, network }) => (ids.includes(name) ? (network ?? []) : [])), isPending };
  });
  return {
    ids: new Set(beside.flatMap(({ networks }) => networks)),
    isPending: beside.some(({ isPending }) => isPending),
  };
}

const textIn = (container: CursorContext["container"], key: string) => {
  const value = container.type === "object" ? memberOf(container, key)?.value : undefined;
  return value?.type === "string" && value.value !== "" ? value.value : undefined;
};

const isWithin = (domain: string, zone: string) => domain === zone || domain.endsWith(`.${zone}`);
