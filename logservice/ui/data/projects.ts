import { effect, signal } from "@preact/signals";
import { byName } from "./by-name.ts";
import { call, errorText } from "./call.ts";
import { projects, session, teamId } from "./session.ts";

/** Why the projects of the team could not be asked for; undefined if they could. */
export const projectsProblem = signal<string | undefined>(undefined);

/** Asks for the projects of the current team again, such as after a change of them. */
export async function loadProjects(): Promise<void> {
  try {
    await readProjects();
  } catch (error) {
    projectsProblem.value = errorText(error);
    projects.value ??= [];
  }
}

/** The same for who cannot go on without them: rejects if they cannot be had. */
export async function readProjects(): Promise<void> {
  const team = teamId.value;
  const isOurs = session.value?.account.teams.some(({ id }) => id === team);
  // The frame says that the person is not in the team; asking would be a refused request.
  if (team === "" || isOurs === false) {
    projects.value = [];
    return;
  }
  const answer = await call("get_projects", {}, { team });
  if (team === teamId.value) projects.value = byName(answer.projects);
  projectsProblem.value = undefined;
}

/** Keeps the projects those of the current team. */
export function followTeam(): void {
  let loaded: string | undefined;
  effect(() => {
    if (session.value === undefined) return;
    const team = teamId.value;
    const isFirst = loaded === undefined && projects.peek() !== undefined;
    if (team === loaded) return;
    loaded = team;
    if (isFirst) return;
    projects.value = undefined;
    void loadProjects();
  });
}
