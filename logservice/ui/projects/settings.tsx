import { useState } from "preact/hooks";
import { pathOf } from "../../address/page.ts";
import { call } from "../data/call.ts";
import { changedMembers } from "../data/changes.ts";
import { useLoaded } from "../data/loaded.ts";
import { go } from "../data/location.ts";
import { loadProjects, projectsProblem, readProjects } from "../data/projects.ts";
import { mayDo, project, teamId } from "../data/session.ts";
import { bytes, count, eventCountText, missingText } from "../kit/format.ts";
import { RemoveDialog } from "../kit/remove-dialog.tsx";
import { useSending } from "../kit/sending.ts";
import { Waiting } from "../kit/state.tsx";
import { At } from "../kit/time.tsx";
import { say } from "../kit/toasts.tsx";
import { typeable } from "../kit/visible.ts";
import { draftOfProject, PROJECT_PATHS, type ProjectDraft, ProjectForm } from "./project-form.tsx";

/** The edit page of a project: what it is called, how long events are kept, where they are, what they take. */
export function ProjectSettings({ projectId }: { readonly projectId: string }) {
  const [isRemoving, setRemoving] = useState(false);
  const sending = useSending(PROJECT_PATHS);
  const it = project.value;
  const isThere = it !== undefined;
  const stats = useLoaded(
    async (signal) => (isThere ? call("get_project_stats", { project_id: projectId }, { signal }) : undefined),
    [projectId, isThere],
  );
  if (it === undefined) {
    const problem = projectsProblem.value;
    return problem === undefined ? <Waiting /> : <p class="note error">{problem}</p>;
  }
  const mayChange = mayDo("projects:write");
  const usage = stats.value.value;
  return (
    <div class="page narrow">
      <header>
        <h1>Settings</h1>
        <a class="button" href={pathOf({ kind: "project", team: teamId.value, project: projectId, section: "start" })}>
          Send events
        </a>
      </header>
      <section class="card">
        <dl class="facts">
          <dt>Project id</dt>
          <dd>
            <code>{projectId}</code>
          </dd>
          <dt>Location</dt>
          <dd>{it.location || "This server"}</dd>
          <dt>Events</dt>
          <dd>{usage ? count(usage.events_total) : "…"}</dd>
          <dt>Storage used</dt>
          <dd>{usage ? bytes(usage.bytes_total) : "…"}</dd>
          <dt>Created</dt>
          <dd>{it.created_at && <At at={it.created_at} />}</dd>
        </dl>
        {(usage?.missing_bytes ?? 0) > 0 && (
          <p class="note warning">
            {missingText(usage!.missing_bytes!)} Files of the service are damaged or missing, or nothing proves that all
            are there. Whoever runs it can look with <code>tool service check</code>.
          </p>
        )}
      </section>
      <section class="card">
        {!mayChange && <p class="hint">Admins and owners of the team can edit a project.</p>}
        <ProjectForm
          isNew={false}
          isReadOnly={!mayChange}
          first={draftOfProject(it)}
          sending={sending}
          button="Save"
          onSend={async (_, over) => {
            const fresh = await readDraft();
            const { name, ...others } = over(fresh);
            const changes = changedMembers(fresh, { name: name.trim(), ...others });
            await call("update_project", { project: { id: projectId, ...changes } });
            const stored = await readDraft();
            say("Saved");
            return stored;
          }}
        />
      </section>
      {mayChange && (
        <section class="card">
          <h2>Remove project</h2>
          <p class="lead">
            Its events, alerts, notifications and saved searches are gone for good. Programs that send to it are
            refused.
          </p>
          <button type="button" class="button danger" onClick={() => setRemoving(true)}>
            Remove project
          </button>
        </section>
      )}
      {isRemoving && (
        <RemoveDialog
          title={`Remove ${it.name}?`}
          typed={typeable(it.name, projectId)}
          button="Remove project"
          onClose={() => setRemoving(false)}
          onRemove={async () => {
            await call("remove_project", { project_id: projectId });
            await loadProjects();
            go(pathOf({ kind: "team", team: teamId.value, section: "projects" }));
            say(`${it.name} was removed`);
          }}
        >
          {usage ? eventCountText(usage.events_total) : "All events"}, all alerts, notifications and saved searches of
          this project are gone for good.
        </RemoveDialog>
      )}
    </div>
  );
}

/** The project of the page as it is stored now. */
async function readDraft(): Promise<ProjectDraft> {
  await readProjects();
  const stored = project.peek();
  if (stored === undefined) throw new Error("This project was removed meanwhile.");
  return draftOfProject(stored);
}
