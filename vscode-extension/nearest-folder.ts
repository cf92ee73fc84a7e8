/** Of the addresses of folders, the innermost one that a file's address is in; undefined where none is. */
export function nearestFolder(folders: readonly string[], file: string): string | undefined {
  let nearest: string | undefined;
  for (const folder of folders) {
    const isAround = file.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
    if (isAround && folder.length > (nearest?.length ?? -1)) nearest = folder;
  }
  return nearest;
}
