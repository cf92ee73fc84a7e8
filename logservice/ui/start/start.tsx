import { FirstEvent } from "./first-event.tsx";

// One file for both: each further one that is loaded late divides those that come with the page.
export { FirstEvent, type FirstEventProps } from "./first-event.tsx";

/** How to send events to a project. */
export function Start({ projectId }: { readonly projectId: string }) {
  return (
    <div class="page narrow">
      <header>
        <h1>Send events</h1>
      </header>
      <FirstEvent projectId={projectId} />
    </div>
  );
}
