/**
 * The members of a record that are not what they were. Only those are sent, so that what others have changed since it was
 * read stays.
 */
export function changedMembers<T extends object>(before: T, after: T): Partial<T> {
  const isChanged = (name: keyof T) => JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  return Object.fromEntries(Object.entries(after).filter(([name]) => isChanged(name as keyof T))) as Partial<T>;
}
