/** From here on the name has no column of its own: the indent would leave nothing of it. */
export const isDeep = (depth: number) => depth > 4;

/** Deeper steps are half as wide, and from some depth on there are none: a name and a value need the room. */
const WHOLE_STEPS = 6;
const MOST_STEPS = 20;

/** Where a row of a tree begins. On a telephone all steps are narrower. */
export function treeIndent(depth: number): { paddingLeft: string } {
  const steps = Math.min(depth, WHOLE_STEPS) + Math.max(0, Math.min(depth, MOST_STEPS) - WHOLE_STEPS) / 2;
  return { paddingLeft: `calc(6px + ${steps} * var(--step))` };
}
