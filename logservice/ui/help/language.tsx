/** Nothing yet. */
export function Language(_: { readonly projectId?: string; readonly id?: string }) {
  return null;
}
