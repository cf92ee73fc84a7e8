import { number } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
import { treeIndent } from "./tree-place.ts";

export interface FoldButtonProps {
  readonly name: string;
  readonly isList: boolean;
  /** How many members it folds. */
  readonly size: number;
  readonly depth: number;
  readonly isOpen: boolean;
  readonly onTurn: () => void;
}

/** The line of a branch of a tree, which opens and folds it. */
export function FoldButton({ name, isList, size, depth, isOpen, onTurn }: FoldButtonProps) {
  const word = isList ? "element" : "field";
  return (
    <button type="button" class="fold" style={treeIndent(depth)} aria-expanded={isOpen} onClick={onTurn}>
      <span class="turn" aria-hidden="true" />
      <span class="name">
        <Text text={name} />
      </span>
      <span class="size">
        {number(size)} {word}
        {size === 1 ? "" : "s"}
      </span>
    </button>
  );
}
