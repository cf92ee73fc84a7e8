/** Nothing yet. */
export function Alerts(_: { readonly projectId?: string; readonly id?: string }) {
  return null;
}
