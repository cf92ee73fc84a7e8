import { useState } from "preact/hooks";
import { copy } from "../kit/copy.tsx";
import { number } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
import { visibleText } from "../kit/visible.ts";
import type { JsonNode } from "./json-text.ts";
import { isDeep, placeOf } from "./tree-place.ts";

interface JsonTreeProps {
  readonly node: JsonNode;
  readonly name: string;
  readonly depth: number;
}

/** So many members are drawn at first. */
const MOST_MEMBERS = 100;

/** JSON that a text holds, as a tree. No query finds its values by a name, so that they can be copied and nothing else. */
export function JsonTree({ node, name, depth }: JsonTreeProps) {
  const [isOpen, setOpen] = useState(true);
  const [isAll, setAll] = useState(false);
  if (!("members" in node)) return <JsonLeaf node={node} name={name} depth={depth} />;
  const { kind, members } = node;
  if (members.length === 0)
    return <JsonLeaf node={{ kind: "word", text: kind === "list" ? "[]" : "{}" }} name={name} depth={depth} />;
  const shown = isAll ? members : members.slice(0, MOST_MEMBERS);
  return (
    <div class="branch">
      <button type="button" class="fold" style={placeOf(depth)} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="turn" aria-hidden="true" />
        <span class="name">
          <Text text={name} />
        </span>
        <span class="size">
          {number(members.length)} {kind === "list" ? "elements" : members.length === 1 ? "field" : "fields"}
        </span>
      </button>
      {isOpen && shown.map(([key, member], i) => <JsonTree key={i} node={member} name={key} depth={depth + 1} />)}
      {isOpen && shown.length < members.length && (
        <button type="button" class="button small" onClick={() => setAll(true)}>
          Show {number(members.length - shown.length)} more
        </button>
      )}
    </div>
  );
}

interface JsonLeafProps extends Omit<JsonTreeProps, "node"> {
  readonly node: Exclude<JsonNode, { members: unknown }>;
}

function JsonLeaf({ node: { kind, text }, name, depth }: JsonLeafProps) {
  return (
    <div class={`leaf${isDeep(depth) ? " deep" : ""}`} style={isDeep(depth) ? placeOf(depth) : undefined}>
      <span class="name" style={isDeep(depth) ? undefined : placeOf(depth)}>
        <Text text={name} />
      </span>
      <span class={`value value-${kind === "word" ? "boolean" : kind}`}>
        <Text text={text} keepsLines />
      </span>
      <span class="leaf-actions">
        <button
          type="button"
          class="button quiet small"
          aria-label={visibleText(`Copy ${name}`)}
          onClick={() => void copy(text, "Value copied")}
        >
          Copy
        </button>
      </span>
    </div>
  );
}
