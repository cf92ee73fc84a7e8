/** Nothing yet. */
export function Audit(_: { readonly projectId?: string; readonly id?: string }) {
  return null;
}
