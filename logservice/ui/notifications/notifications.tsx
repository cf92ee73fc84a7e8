/** Nothing yet. */
export function Notifications(_: { readonly projectId?: string; readonly id?: string }) {
  return null;
}
