/** From here on the name has no column of its own: the indent would leave nothing of it. */
export const isDeep = (depth: number) => depth > 4;

/** Where a row of a tree begins. On a telephone the steps are narrower, and from some depth on there are none. */
export const placeOf = (depth: number) => ({ paddingLeft: `calc(6px + ${Math.min(depth, 20)} * var(--step))` });
