const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EISDIR: "it is a folder",
  ELOOP: "its symbolic links lead in a circle",
  EACCES: "permission denied",
};

/** Why a file or folder cannot be read, after "cannot read NAME:", from the error of the system. Rethrows other errors. */
export function readFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return REASONS[code] ?? message;
}
