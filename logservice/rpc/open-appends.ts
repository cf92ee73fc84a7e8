import { RpcError } from "../error.ts";

/**
 * The appends under way, by project, so that a project's removal leaves none behind: what came after the events are
 * dropped would be kept for ever under a name that no project has. An append enters before it looks the project up, so
 * that it is either waited for or does not find the project any more.
 */
export class OpenAppends {
  readonly #open = new Map<string, number>();
  /** By project that is being removed: what is to be called when its last append has ended. */
  readonly #removing = new Map<string, () => void>();

  async run<T>(project: string, append: () => Promise<T>): Promise<T> {
    this.#refuseRemoved(project);
    this.#open.set(project, (this.#open.get(project) ?? 0) + 1);
    try {
      return await append();
    } finally {
      const left = this.#open.get(project)! - 1;
      if (left > 0) this.#open.set(project, left);
      else {
        this.#open.delete(project);
        this.#removing.get(project)?.();
      }
    }
  }

  /** Waits for the appends under way, then removes; new ones are refused from now until the removal has ended. */
  async remove<T>(project: string, remove: () => Promise<T>): Promise<T> {
    this.#refuseRemoved(project);
    const last = new Promise<void>((resolve) => this.#removing.set(project, resolve));
    try {
      if (this.#open.has(project)) await last;
      return await remove();
    } finally {
      this.#removing.delete(project);
    }
  }

  /** Not `not_found`: the removal may still fail. */
  #refuseRemoved(project: string): void {
    if (!this.#removing.has(project)) return;
    const message = `the project ${JSON.stringify(project)} is being removed: try again`;
    throw new RpcError("unavailable", message, { retryAfterMs: 1_000 });
  }
}
