/** Nothing yet. */
export function Searches(_: { readonly projectId?: string; readonly id?: string }) {
  return null;
}
