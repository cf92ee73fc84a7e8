/** Nothing yet. */
export function Alert(_: { readonly projectId?: string; readonly id?: string }) {
  return null;
}
