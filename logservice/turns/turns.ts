/** Who takes turns: a team, and in it a token, a session or a project. */
export interface TurnTaker {
  readonly team: string;
  readonly member: string;
}

/** The service itself, which takes turns as a team does: what it asks is not held up by the number of others. */
export const SERVICE: TurnTaker = { team: "", member: "" };

/** How many turns there are at once. */
export interface TurnBounds<One extends TurnTaker = TurnTaker> {
  readonly atOnce: number;
  /** Turns of one team at once. */
  readonly perTeam?: (one: One) => number;
  /** Turns of one member at once. */
  readonly perMember?: number;
}

/**
 * Decides whose turn is next. Teams take turns, so do the members of a team, and what one member waits for comes in its
 * order: a team with twelve tokens has as many turns as one with a single token. A team that has a turn gets no second one
 * while another team waits for its first, so that it delays others by one turn at most.
 */
export class Turns<One extends TurnTaker> {
  readonly #bounds: TurnBounds<One>;
  /** By team, then by member, in the order of turns. Nothing in it is empty. */
  readonly #waiting = new Map<string, Map<string, One[]>>();
  /** Turns under way, by team and by member. */
  readonly #ofTeam = new Map<string, number>();
  readonly #ofMember = new Map<string, number>();
  #running = 0;

  constructor(bounds: TurnBounds<One>) {
    this.#bounds = bounds;
  }

  /** Turns under way. */
  get running(): number {
    return this.#running;
  }

  /** Takes a turn without waiting, if there is one. It ends with `done`. */
  begin(one: One): boolean {
    if (!this.#mayBegin(one)) return false;
    this.#begin(one);
    return true;
  }

  add(one: One): void {
    const members = this.#waiting.get(one.team) ?? new Map<string, One[]>();
    const queue = members.get(one.member) ?? [];
    queue.push(one);
    this.#waiting.set(one.team, members.set(one.member, queue));
  }

  /** Forgets one that waits. */
  delete(one: One): void {
    const members = this.#waiting.get(one.team)!;
    const queue = members.get(one.member)!;
    queue.splice(queue.indexOf(one), 1);
    if (queue.length === 0) members.delete(one.member);
    if (members.size === 0) this.#waiting.delete(one.team);
  }

  /** Forgets all that wait, and returns them. */
  clear(): One[] {
    const all = [...this.#waiting.values()].flatMap((members) => [...members.values()].flat());
    this.#waiting.clear();
    return all;
  }

  /** Takes the next one that waits and may have a turn now; undefined if there is none. Its turn ends with `done`. */
  take(): One | undefined {
    if (this.#running >= this.#bounds.atOnce) return undefined;
    const teams = [...this.#waiting.keys()];
    const idle = teams.filter((team) => !this.#ofTeam.has(team));
    for (const team of [...idle, ...teams]) {
      const one = this.#takeOf(team);
      if (one === undefined) continue;
      this.#begin(one);
      return one;
    }
    return undefined;
  }

  done(one: TurnTaker): void {
    this.#running--;
    count(this.#ofTeam, one.team, -1);
    count(this.#ofMember, memberKey(one), -1);
  }

  #mayBegin(one: One): boolean {
    const { atOnce, perTeam, perMember = atOnce } = this.#bounds;
    return (
      this.#running < atOnce &&
      (this.#ofTeam.get(one.team) ?? 0) < (perTeam?.(one) ?? atOnce) &&
      (this.#ofMember.get(memberKey(one)) ?? 0) < perMember
    );
  }

  #begin(one: One): void {
    this.#running++;
    count(this.#ofTeam, one.team, 1);
    count(this.#ofMember, memberKey(one), 1);
  }

  /** Takes the next one of a team, and moves the team and its member to the end of their turns. */
  #takeOf(team: string): One | undefined {
    const members = this.#waiting.get(team)!;
    for (const [member, queue] of members) {
      if (!this.#mayBegin(queue[0]!)) continue;
      const one = queue.shift()!;
      members.delete(member);
      if (queue.length > 0) members.set(member, queue);
      this.#waiting.delete(team);
      if (members.size > 0) this.#waiting.set(team, members);
      return one;
    }
    return undefined;
  }
}

/** A session may be one of several teams. */
const memberKey = ({ team, member }: TurnTaker) => JSON.stringify([team, member]);

function count(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const left = (counts.get(key) ?? 0) + change;
  if (left === 0) counts.delete(key);
  else counts.set(key, left);
}
