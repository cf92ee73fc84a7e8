import { type Edit, findNodeAtLocation, modify, type Node, type ParseError, parseTree } from "jsonc-parser";

export interface SavedQuery {
  readonly name: string;
  readonly query: string;
  /** The place of its name in the text, in UTF-16 units. */
  readonly offset: number;
}

/**
 * The named queries of a tool.json (`logs.queries`), as far as the text can be read; those that are no text are left out.
 */
export function savedQueries(text: string): SavedQuery[] {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const queries = root && findNodeAtLocation(root, [...PATH]);
  return (queries?.type === "object" ? (queries.children ?? []) : []).flatMap(({ children = [] }) => {
    const [key, value] = children as [Node, Node];
    if (value?.type !== "string") return [];
    return [{ name: String(key.value), query: String(value.value), offset: key.offset }];
  });
}

/** Whether the files that a tool.json includes may have more of them. */
export function includesFiles(text: string): boolean {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const include = root && findNodeAtLocation(root, ["logs", "include"]);
  return (include?.children ?? []).length > 0;
}

/** Edits of a tool.json that save a query under a name, written as the rest is; undefined if the text is not JSON. */
export function savedQueryEdits(text: string, name: string, query: string): Edit[] | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  if (errors.length > 0 || root?.type !== "object") return undefined;
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const insertSpaces = !indent.startsWith("\t");
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const formattingOptions = { insertSpaces, tabSize: insertSpaces ? indent.length : 1, eol };
  return modify(text, [...PATH, name], query, { formattingOptions });
}

/** The problem of a name for a saved query, which is written `@name` in a query; undefined if it is valid. */
export function savedNameProblem(name: string): string | undefined {
  if (name === "") return "Write a name, such as slow.";
  return /[\s()=<>!~,"'@]/.test(name) ? "Leave out spaces, brackets, quotes, commas, @ and operators." : undefined;
}

const PATH = ["logs", "queries"] as const;
