/** The project's files as the checks see them. Paths are relative to the folder of tool.json, separated by `/`. */
export interface Directory {
  kind(path: string): "file" | "directory" | undefined;
  /** The text of a file; undefined if it cannot be read as text. */
  read(path: string): string | undefined;
  /** Why a file that is there cannot be read, after "cannot read NAME:"; undefined if it can, or there is none. */
  unreadable?(path: string): string | undefined;
  /** The last bytes of a file as text, the first character of which may be cut off; undefined if it cannot be read. */
  readEnd?(path: string, maxBytes: number): string | undefined;
  /** Files and folders directly in a folder; undefined if it cannot be listed. */
  list?(path: string): readonly DirectoryEntry[] | undefined;
  /** The size of a file in bytes; absent if sizes are not looked at, as on each key in an editor. */
  size?(path: string): number | undefined;
  /** Whether the file that a path names, once links are followed, is outside a folder. */
  leadsOutOf?(folder: string, path: string): boolean;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: "file" | "directory";
  readonly isLink?: true;
}
