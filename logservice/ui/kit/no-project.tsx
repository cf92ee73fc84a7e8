import { useEffect } from "preact/hooks";
import { loadProjects } from "../data/projects.ts";

/** For an address of a project that is not there. */
export function NoProject() {
  // It may have been created since the projects were asked for.
  useEffect(() => void loadProjects(), []);
  return (
    <div class="empty">
      <h1>There is no such project</h1>
      <p>It was removed, or it belongs to another team.</p>
      <a class="button" href="/">
        Your projects
      </a>
    </div>
  );
}
