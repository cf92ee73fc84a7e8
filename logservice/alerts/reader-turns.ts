/** Whose evaluation waits: a team, and the key of one of its projects. */
export interface TurnTaker {
  readonly team_id: string;
  readonly events_key: string;
}

interface TurnBounds {
  /** Readings at once. */
  readonly readers: number;
  /** Readings of one project at once. */
  readonly perProject: number;
}

/**
 * Decides which evaluation is read next. Teams take turns, so do the projects of a team, and those of a project come in
 * their order. A team that is being read has no second reader while another team waits for its first: a team with many slow
 * queries delays others by one reading at most.
 */
export class ReaderTurns<One extends TurnTaker> {
  readonly #bounds: TurnBounds;
  /** By team, then by project, in the order of turns. Nothing in it is empty. */
  readonly #waiting = new Map<string, Map<string, One[]>>();
  /** Readings under way, by team and by project. */
  readonly #ofTeam = new Map<string, number>();
  readonly #ofProject = new Map<string, number>();
  #running = 0;

  constructor(bounds: TurnBounds) {
    this.#bounds = bounds;
  }

  add(one: One): void {
    const projects = this.#waiting.get(one.team_id) ?? new Map<string, One[]>();
    const queue = projects.get(one.events_key) ?? [];
    queue.push(one);
    this.#waiting.set(one.team_id, projects.set(one.events_key, queue));
  }

  /** Forgets all that wait. */
  clear(): void {
    this.#waiting.clear();
  }

  /** Takes the next one that may be read now; undefined if there is none. Its reading ends with `done`. */
  take(): One | undefined {
    if (this.#running >= this.#bounds.readers) return undefined;
    const teams = [...this.#waiting.keys()];
    const idle = teams.filter((team) => !this.#ofTeam.has(team));
    for (const team of [...idle, ...teams]) {
      const one = this.#takeOf(team);
      if (one === undefined) continue;
      this.#running++;
      count(this.#ofTeam, one.team_id, 1);
      count(this.#ofProject, one.events_key, 1);
      return one;
    }
    return undefined;
  }

  done({ team_id, events_key }: TurnTaker): void {
    this.#running--;
    count(this.#ofTeam, team_id, -1);
    count(this.#ofProject, events_key, -1);
  }

  /** Takes the next one of a team, and moves the team and its project to the end of their turns. */
  #takeOf(team: string): One | undefined {
    const projects = this.#waiting.get(team)!;
    for (const [project, queue] of projects) {
      if ((this.#ofProject.get(project) ?? 0) >= this.#bounds.perProject) continue;
      const one = queue.shift()!;
      projects.delete(project);
      if (queue.length > 0) projects.set(project, queue);
      this.#waiting.delete(team);
      if (projects.size > 0) this.#waiting.set(team, projects);
      return one;
    }
    return undefined;
  }
}

function count(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const left = (counts.get(key) ?? 0) + change;
  if (left === 0) counts.delete(key);
  else counts.set(key, left);
}
