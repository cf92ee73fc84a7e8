/** Nothing yet. */
export function Members(_: { readonly projectId?: string; readonly id?: string }) {
  return null;
}
