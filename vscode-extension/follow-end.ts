/** The part that an editor shows of a document that grows at its end and loses lines at its beginning. */
export interface EditorView {
  /** The first and last line in sight. */
  readonly start: number;
  readonly end: number;
  readonly lineCount: number;
  /** How many lines the document has lost so far. */
  readonly dropped: number;
}

export interface FollowedView extends EditorView {
  readonly isFollowing: boolean;
}

/** The line at the very end is empty, and the one before may be half in sight. */
const MARGIN_LINES = 2;

/**
 * Whether the editor follows the end: it does until the user scrolls up, and again once they have scrolled back. Being away
 * from the end is no proof of scrolling, as lines come faster than the editor scrolls; nor are line numbers that fall by
 * as much as was lost at the beginning.
 */
export function followsEnd(before: FollowedView | undefined, now: EditorView): boolean {
  if (before === undefined || now.end >= now.lineCount - MARGIN_LINES) return true;
  const scrolled = now.start - before.start + (now.dropped - before.dropped);
  return before.isFollowing && scrolled >= 0;
}
