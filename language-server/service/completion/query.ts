import type { CompletionItem } from "vscode-languageserver-types";
import type { Span } from "../../../grammar/problem.ts";
import { type CompletionKind, parseQuery, QuerySession } from "../../../grammar/query/index.ts";
import type { ClientOptions } from "../client-options.ts";
import type { ToolDocument } from "../document.ts";
import { documentationOf, KIND } from "./candidate.ts";

/** A query, alone in a file or in a string, and how its text is mapped to the document. */
export interface QueryInDocument {
  readonly document: ToolDocument;
  readonly source: string;
  toText(span: Span): Span;
  /** How a part of the query is written in the document: escaped in a string of JSON. */
  write(text: string): string;
}

export interface QueryProject {
  /** The project's tool.json. */
  readonly config: ToolDocument | undefined;
  /** The stages that are deployed, as far as they are told. */
  readonly deployed: readonly string[];
}

/** The completions at an offset of a query. */
export function completeQuery(
  query: QueryInDocument,
  offset: number,
  { config, deployed }: QueryProject,
  client: ClientOptions,
): CompletionItem[] {
  const stages = stageNames([...(config?.stages() ?? []).map(({ key }) => key.value), ...deployed]);
  // Right before an operator the term is whole: what came between would break it.
  const isBeforeOperator = /^[ \t]*[=!<>~]/.test(query.source.slice(offset));
  const session = sessionOf(client);
  session.update(query.source);
  const { items } = session.complete(offset, {
    values: (field) => (field === "stage" ? stages.map((value) => ({ value })) : []),
  });
  const wanted = items.filter(({ span }) => !isBeforeOperator || span.end > span.start);
  return wanted.map(({ label, kind, insertText, snippet, span, detail, documentation, sortText }) => ({
    label,
    kind: KINDS[kind],
    ...(detail !== undefined && { detail }),
    ...(documentation !== undefined && { documentation: documentationOf(documentation, client) }),
    sortText,
    // An item that contains the typed text but does not begin with it is left to the editor's own way of matching.
    filterText: query.write(insertText.trimEnd()),
    ...(client.snippets && snippet !== undefined && { insertTextFormat: 2 as const }),
    textEdit: {
      range: query.document.rangeOf(query.toText(span)),
      newText: query.write((client.snippets ? snippet : undefined) ?? insertText),
    },
  }));
}

/** The session that remembers the query that is typed: the next key is answered without reading all of it again. */
function sessionOf(client: ClientOptions): QuerySession {
  let session = sessions.get(client);
  if (session === undefined) {
    session = new QuerySession();
    sessions.set(client, session);
  }
  return session;
}

// A person types one query at a time.
const sessions = new WeakMap<ClientOptions, QuerySession>();

const KINDS = {
  field: KIND.field,
  operator: KIND.operator,
  value: KIND.value,
  unit: KIND.unit,
  keyword: KIND.keyword,
  level: KIND.enumMember,
  stage: KIND.constant,
  column: KIND.field,
  function: KIND.function,
} as const satisfies Record<CompletionKind, number>;

/** The custom stages of a project, which a query names by `stage = x`. */
function stageNames(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => parseQuery(`stage = ${name}`).ok);
}
