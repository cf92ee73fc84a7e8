/** Nothing yet. */
export function Notification(_: { readonly projectId?: string; readonly id?: string }) {
  return null;
}
