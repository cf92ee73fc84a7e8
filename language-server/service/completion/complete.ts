import type { CompletionItem, CompletionList } from "vscode-languageserver-types";
import type { Span } from "../../../grammar/problem.ts";
import { commentsIn } from "../../../grammar/query/index.ts";
import type { ClientOptions } from "../client-options.ts";
import { NO_NAMES } from "../cloud.ts";
import { type NodePath, schemaAt, type ToolDocument } from "../document.ts";
import type { Project } from "../project.ts";
import { documentationOf, itemsAt, itemsIn } from "./candidate.ts";
import { cloudCandidates, cloudNamesOf } from "./cloud-offers.ts";
import { completeEmbedded } from "./embedded.ts";
import { completeIgnore } from "./ignore.ts";
import { keyCandidates } from "./keys.ts";
import { cursorAt } from "./place.ts";
import { completeQuery } from "./query.ts";
import { isBlank, skeletonCandidate } from "./skeleton.ts";
import { completeTemplate } from "./template.ts";
import { valueCandidates } from "./values.ts";

/**
 * The completions at an offset. Accepting an item leaves a text that is valid at its place: keys come with a good
 * value, missing commas are added, and what is already there is not offered again.
 */
export function complete(
  document: ToolDocument,
  offset: number,
  project: Project,
  client: ClientOptions,
): CompletionList {
  const cloud: CloudPart = { isPending: false };
  const items = itemsOf({ document, offset, project, client }, cloud);
  // The client asks again with the next key, and the names are there.
  return { isIncomplete: cloud.isPending, items };
}

interface CloudPart {
  /** Set if an account is being asked. */
  isPending: boolean;
}

interface CompletionPlace {
  readonly document: ToolDocument;
  readonly offset: number;
  readonly project: Project;
  readonly client: ClientOptions;
}

function itemsOf({ document, offset, project, client }: CompletionPlace, cloud: CloudPart): CompletionItem[] {
  const stagesOf = (config: ToolDocument | undefined) => {
    const { names, isPending } = cloudNamesOf("stages", config, project, client);
    cloud.isPending ||= isPending;
    return names.map(({ name }) => name);
  };
  if (document.kind === "query") {
    const config = project.config?.();
    if (commentsIn(document.text).some(({ start, end }) => start < offset && offset <= end)) return [];
    const query = { document, source: document.query, toText: (span: Span) => span, write: (text: string) => text };
    return completeQuery(query, offset, { config, deployed: stagesOf(config) }, client);
  }
  if (document.kind === "template") return completeTemplate(document, offset, project.config?.());
  if (document.kind === "ignore") return completeIgnore(document, offset, project);
  const embedded = document.embeddedAt(offset);
  if (embedded?.language === "query") {
    const query = { document, source: embedded.value, toText: embedded.toText, write: inString };
    return completeQuery(query, embedded.toValue(offset), { config: document, deployed: stagesOf(document) }, client);
  }
  const inner = embedded === undefined ? [] : completeEmbedded(document, embedded, offset);
  // A part of a string, or all of it: two lists at once would replace each other's ranges.
  if (inner.length > 0) return inner;
  if (isBlank(document)) return itemsIn(document, { start: offset, end: offset }, [skeletonCandidate(project)], client);
  const cursor = cursorAt(document, offset);
  if (cursor === undefined) return [];
  if (cursor.kind === "key") {
    const section = cursor.path.length === 1 ? cursor.path[0] : undefined;
    const kind = section === "stages" ? "stages" : section === "dns" ? "zones" : undefined;
    const { names, isPending } = kind === undefined ? NO_NAMES : cloudNamesOf(kind, document, project, client);
    cloud.isPending ||= isPending;
    return itemsAt(document, cursor, keyCandidates(document, project, cursor, names), client);
  }
  const { candidates, isPending } = cloudCandidates(document, project, cursor, client);
  cloud.isPending ||= isPending;
  const named = new Set(candidates.map(({ label }) => label));
  const others = valueCandidates(document, project, cursor).filter(({ label }) => !named.has(label));
  return itemsAt(document, cursor, [...candidates, ...others], client);
}

const inString = (text: string) => JSON.stringify(text).slice(1, -1);

/** Adds the documentation of its key to an item that is looked at; it is too long to send for all items. */
export function resolveCompletion(item: CompletionItem, client: ClientOptions): CompletionItem {
  const path = (item.data as { path?: unknown } | undefined)?.path;
  if (!Array.isArray(path)) return item;
  const text = schemaAt(path as NodePath).markdownDescription;
  return text === undefined ? item : { ...item, documentation: documentationOf(text, client) };
}
