import { useMemo, useState } from "preact/hooks";
import { copy } from "../kit/copy.tsx";
import { number } from "../kit/format.ts";
import { Menu } from "../kit/menu.tsx";
import { Text } from "../kit/text.tsx";
import { visibleText } from "../kit/visible.ts";
import { FoldButton } from "./fold-button.tsx";
import { FIRST_MEMBERS, type JsonNode, nodeText, openLevels, pathText } from "./json-text.ts";
import { isDeep, treeIndent } from "./tree-place.ts";

export interface JsonTreeProps {
  readonly node: JsonNode;
  readonly name: string;
  readonly depth: number;
}

/** JSON that a text holds, as a tree. No query finds its values by a name, so that they can be copied and nothing else. */
export function JsonTree({ node, name, depth }: JsonTreeProps) {
  const open = useMemo(() => openLevels(node), [node]);
  return <Branch node={node} name={name} path={[]} depth={depth} open={open} />;
}

interface BranchProps extends JsonTreeProps {
  readonly path: readonly (string | number)[];
  /** How many levels from here on are open at first. */
  readonly open: number;
}

/** So many more are drawn by each press. */
const MORE_MEMBERS = 1_000;

function Branch({ node, name, path, depth, open }: BranchProps) {
  const [isOpen, setOpen] = useState(open > 0);
  const [most, setMost] = useState(FIRST_MEMBERS);
  if (!("members" in node)) return <Leaf node={node} name={name} path={path} depth={depth} />;
  const { kind, members } = node;
  if (members.length === 0)
    return <Leaf node={{ kind: "word", text: kind === "list" ? "[]" : "{}" }} name={name} path={path} depth={depth} />;
  const more = Math.min(MORE_MEMBERS, members.length - most);
  return (
    <div class="branch">
      <div class="fold-line">
        <FoldButton
          name={name}
          isList={kind === "list"}
          size={members.length}
          depth={depth}
          isOpen={isOpen}
          onTurn={() => setOpen(!isOpen)}
        />
        <CopyMenu node={node} name={name} path={path} />
      </div>
      {isOpen &&
        members
          .slice(0, most)
          .map(([key, member], i) => (
            <Branch
              key={i}
              node={member}
              name={key}
              path={[...path, kind === "list" ? i : key]}
              depth={depth + 1}
              open={i < FIRST_MEMBERS ? open - 1 : 0}
            />
          ))}
      {isOpen && more > 0 && (
        <button type="button" class="button small" onClick={() => setMost(most + MORE_MEMBERS)}>
          Show {number(more)} more
        </button>
      )}
    </div>
  );
}

interface LeafProps extends Omit<BranchProps, "node" | "open"> {
  readonly node: Exclude<JsonNode, { members: unknown }>;
}

/** A longer text is folded at first. */
const LONG = 400;

function Leaf({ node, name, path, depth }: LeafProps) {
  const [isLong, setLong] = useState(false);
  const { kind, text } = node;
  return (
    <div class={`leaf${isDeep(depth) ? " deep" : ""}`} style={isDeep(depth) ? treeIndent(depth) : undefined}>
      <span class="name" style={isDeep(depth) ? undefined : treeIndent(depth)}>
        <Text text={name} />
      </span>
      <span class={`value value-${kind === "word" ? "boolean" : kind}`}>
        <Text text={isLong || text.length <= LONG ? text : `${text.slice(0, LONG)}…`} keepsLines />
        {text.length > LONG && (
          <button type="button" class="button small" onClick={() => setLong(!isLong)}>
            {isLong ? "Show less" : `Show all ${number(text.length)} characters`}
          </button>
        )}
      </span>
      <CopyMenu node={node} name={name} path={path} />
    </div>
  );
}

function CopyMenu({ node, name, path }: Omit<BranchProps, "depth" | "open">) {
  return (
    <span class="leaf-actions">
      <Menu
        class="button quiet small icon"
        name={visibleText(`More for ${name}`)}
        label={<span aria-hidden="true">⋮</span>}
        align="right"
        entries={[
          {
            text: "Copy the value",
            onChoose: () => void copy(node.kind === "string" ? node.text : nodeText(node), "Value copied"),
          },
          { text: "Copy the path", onChoose: () => void copy(pathText(path), "Path copied") },
        ]}
      />
    </span>
  );
}
