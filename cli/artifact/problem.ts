/** Why there is no artifact, and what to do. `code` is stable: `artifact/...` or `hook/...`. */
export interface BuildProblem {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  /** The output of a hook, if it was not shown while it ran. */
  readonly output?: string;
}
