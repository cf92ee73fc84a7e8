/** Why there is no artifact: what is wrong and what to do, for people. `code` is stable, `artifact/...` or `hook/...`. */
export interface BuildProblem {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  /** What a hook wrote, where it was not shown while it ran. */
  readonly output?: string;
}
