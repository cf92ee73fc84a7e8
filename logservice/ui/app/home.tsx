import { useEffect } from "preact/hooks";
import { pathOf } from "../../address/page.ts";
import { go } from "../data/location.ts";
import { readKept } from "../data/preferences.ts";
import { projects, session, teamId } from "../data/session.ts";
import { Waiting } from "../kit/state.tsx";
import { NoTeam } from "../shell/no-team.tsx";

/** Leads to where the person was last: the project, else the projects of a team. */
export function Home() {
  const teams = session.value!.account.teams;
  const teamProjects = projects.value;
  useEffect(() => {
    if (teams.length === 0) return;
    const [lastTeam, lastProject] = (readKept("last") ?? "").split("\n");
    const team = teams.find(({ id }) => id === lastTeam)?.id ?? teams[0]!.id;
    if (team !== teamId.value || teamProjects === undefined) {
      if (team !== teamId.value) go(pathOf({ kind: "team", team, section: "projects" }), { replaces: true });
      return;
    }
    const project =
      teamProjects.find(({ id }) => id === lastProject) ?? (teamProjects.length === 1 ? teamProjects[0] : undefined);
    const to =
      project === undefined
        ? pathOf({ kind: "team", team, section: "projects" })
        : pathOf({ kind: "project", team, project: project.id!, section: "events" });
    go(to, { replaces: true });
  }, [teamProjects]);
  return teams.length === 0 ? <NoTeam /> : <Waiting />;
}
