import { useEffect, useState } from "preact/hooks";
import type { Project } from "../../../schema/rpc.generated.ts";
import { pathOf } from "../../address/page.ts";
import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { go } from "../data/location.ts";
import { loadProjects, projectsProblem } from "../data/projects.ts";
import { mayDo, projects, teamId } from "../data/session.ts";
import { Dialog } from "../kit/dialog.tsx";
import { FilteredList } from "../kit/filtered.tsx";
import { bytes, count } from "../kit/format.ts";
import { useSending } from "../kit/sending.ts";
import { Waiting } from "../kit/state.tsx";
import { Table } from "../kit/table.tsx";
import { Text } from "../kit/text.tsx";
import { Ago } from "../kit/time.tsx";
import { visibleText } from "../kit/visible.ts";
import { PROJECT_PATHS, ProjectForm } from "./project-form.tsx";

/** The projects that have each word in their name or id. */
function matching(all: readonly Project[], typed: string): readonly Project[] {
  const words = typed.toLowerCase().split(/\s+/);
  return all.filter(({ id, name }) => {
    const whole = `${name} ${id}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}

/** The projects of the team. */
export function Projects() {
  const [isMaking, setMaking] = useState(false);
  const mayMake = mayDo("projects:write");
  const all = projects.value;
  // Others make projects too.
  useEffect(() => void loadProjects(), []);
  const make = mayMake && (
    <button type="button" class="button primary" onClick={() => setMaking(true)}>
      New project
    </button>
  );
  return (
    <div class="page">
      <header>
        <h1>Projects</h1>
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
            {!mayMake && " An admin or owner of the team can create one."}
          </p>
          {make}
        </div>
      ) : (
        <FilteredList
          all={all}
          what="projects"
          where="name or id"
          nothing="No project has this in its name or id"
          matching={matching}
        >
          {(matches) => (
            <Table columns={["Project", "Id", "#Events", "#Storage", "Kept", "Created"]}>
              {matches.map(({ id, name, description, retention, created_at }) => (
                <tr key={id}>
                  <td class="named">
                    <a
                      class="strong"
                      href={pathOf({ kind: "project", team: teamId.value, project: id!, section: "events" })}
                      title={visibleText(name)}
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
                    <span class="when-stacked">created </span>
                    <Ago at={created_at} />
                  </td>
                </tr>
              ))}
            </Table>
          )}
        </FilteredList>
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
    <Dialog title="New project" isForm onClose={onClose}>
      <ProjectForm
        isNew
        first={{ name: "", id: "", description: "", retention: 0, mode: "structured" }}
        sending={sending}
        button="Create project"
        onCancel={onClose}
        onSend={async (draft) => {
          const { id } = await call("add_project", { project: { ...draft, name: draft.name.trim() } });
          await loadProjects();
          onClose();
          go(pathOf({ kind: "project", team: teamId.value, project: id, section: "start" }));
          return undefined;
        }}
      />
    </Dialog>
  );
}
