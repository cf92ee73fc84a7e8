/** For an address of a project that is not there. */
export function NoProject() {
  return (
    <div class="empty">
      <h1>There is no such project</h1>
      <p>It was removed, or it belongs to another team.</p>
      <a class="button" href="/">
        To your projects
      </a>
    </div>
  );
}
