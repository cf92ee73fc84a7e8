import { useEffect, useState } from "preact/hooks";
import { pathOf } from "../address/page.ts";
import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { go } from "../data/location.ts";
import { loadProjects, projectsProblem } from "../data/projects.ts";
import { mayDo, projects, team, teamId } from "../data/session.ts";
import { Dialog } from "../kit/dialog.tsx";
import { bytes, count } from "../kit/format.ts";
import { useSending } from "../kit/sending.ts";
import { Waiting } from "../kit/state.tsx";
import { Text } from "../kit/text.tsx";
import { Ago } from "../kit/time.tsx";
import { PROJECT_PATHS, ProjectForm } from "./project-form.tsx";

/** The projects of the team. */
export function Projects() {
  const [isMaking, setMaking] = useState(false);
  const mayMake = mayDo("projects:write");
  const all = projects.value;
  // Others make projects too.
  useEffect(() => void loadProjects(), []);
  const make = mayMake && (
    <button type="button" class="button primary" onClick={() => setMaking(true)}>
      Make a project
    </button>
  );
  return (
    <div class="page">
      <header>
        <h1>
          <Text text={team.value?.name ?? teamId.value} />
        </h1>
        {(all?.length ?? 0) > 0 && make}
      </header>
      {projectsProblem.value && <p class="note error">{projectsProblem.value}</p>}
      {all === undefined ? (
        <Waiting />
      ) : all.length === 0 ? (
        <div class="empty card">
          <h2>No projects yet</h2>
          <p>
            A project holds the events of one app or service, with its own alerts and saved searches.
            {!mayMake && " An admin or owner of the team can make one."}
          </p>
          {make}
        </div>
      ) : (
        <div class="table-wrap">
          <table class="list stacks">
            <thead>
              <tr>
                <th scope="col">Project</th>
                <th scope="col">Id</th>
                <th scope="col" class="number">
                  Events
                </th>
                <th scope="col" class="number">
                  Storage
                </th>
                <th scope="col">Kept</th>
                <th scope="col">Made</th>
              </tr>
            </thead>
            <tbody>
              {all.map(({ id, name, description, retention, created_at }) => (
                <tr key={id}>
                  <td class="named">
                    <a
                      class="strong"
                      href={pathOf({ kind: "project", team: teamId.value, project: id!, section: "events" })}
                    >
                      <Text text={name} />
                    </a>
                    {description && (
                      <div class="hint">
                        <Text text={description} />
                      </div>
                    )}
                  </td>
                  <td>
                    <code>{id}</code>
                  </td>
                  <Stats projectId={id!} />
                  <td>
                    <span class="when-stacked">kept </span>
                    {retention ? `${count(retention)} ${retention === 1 ? "day" : "days"}` : "forever"}
                  </td>
                  <td>
                    <span class="when-stacked">made </span>
                    <Ago at={created_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {isMaking && <MakeProject onClose={() => setMaking(false)} />}
    </div>
  );
}

function Stats({ projectId }: { readonly projectId: string }) {
  const stats = useLoaded((signal) => call("get_project_stats", { project_id: projectId }, { signal }), [projectId])
    .value.value;
  return (
    <>
      <td class="number">
        {stats ? count(stats.events_total) : ""}
        {stats && <span class="when-stacked"> events</span>}
      </td>
      <td class="number">{stats ? bytes(stats.bytes_total) : ""}</td>
    </>
  );
}

function MakeProject({ onClose }: { onClose(): void }) {
  const sending = useSending(PROJECT_PATHS);
  return (
    <Dialog title="Make a project" onClose={onClose}>
      <ProjectForm
        isNew
        first={{ name: "", id: "", description: "", retention: 0, mode: "structured" }}
        sending={sending}
        button="Make the project"
        onSend={(draft) =>
          void sending.send(async () => {
            const { id } = await call("add_project", { project: { ...draft, name: draft.name.trim() } });
            await loadProjects();
            onClose();
            go(pathOf({ kind: "project", team: teamId.value, project: id, section: "start" }));
          })
        }
      />
    </Dialog>
  );
}
