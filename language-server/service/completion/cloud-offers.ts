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
  const app = kind === "stages" ? memberText(config.root, "name") : undefined;
  if (kind === "stages" && app === undefined) return NO_NAMES;
  return project.cloudNames({ kind, app, profile: memberText(config.root, "profile"), region });
}

/** The kind of names that a string at a place of tool.json is one of. */
function kindAt({ path, key, kind }: CursorContext): CloudKind | undefined {
  if (path[0] === "stages" && path.length === 2 && key === "zone") return "zones";
  if (path[0] === "stages" && path.length === 2 && key === "domain") return "certificates";
  if (path[0] === "function" || (path[0] === "stages" && path[2] === "function")) {
    if (key === "role") return "roles";
    if (kind === "item" && path.at(-1) === "layers") return "layers";
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
    // An offer is right beside the other member.
    .filter(({ name }) => zone === undefined || isWithin(name, zone))
    .filter(({ name }) => domain === undefined || isWithin(domain, name))
    .map(({ name, detail }): CompletionCandidate => {
      return { label: name, kind: KIND.reference, text: JSON.stringify(name), rank: 0, detail: detail ?? "AWS" };
    });
  return { candidates, isPending };
}

const textIn = (container: CursorContext["container"], key: string) => {
  const value = container.type === "object" ? memberOf(container, key)?.value : undefined;
  return value?.type === "string" && value.value !== "" ? value.value : undefined;
};

const isWithin = (domain: string, zone: string) => domain === zone || domain.endsWith(`.${zone}`);
