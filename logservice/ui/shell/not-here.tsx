/** For an address of ours that shows nothing. */
export function NotHere() {
  return (
    <div class="empty">
      <h1>There is no such page</h1>
      <p>The address may be cut off, or what it showed was removed.</p>
      <a class="button" href="/">
        To your projects
      </a>
    </div>
  );
}
