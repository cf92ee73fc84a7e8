/** The innermost of the folders that a file is in, all given by their addresses; undefined if it is in none. */
export function nearestFolder(folders: readonly string[], file: string): string | undefined {
  let nearest: string | undefined;
  for (const folder of folders) {
    const isAround = file.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
    if (isAround && folder.length > (nearest?.length ?? -1)) nearest = folder;
  }
  return nearest;
}
