/** Whose folder it is. */
export interface FolderIdentity {
  readonly project: string;
  readonly began: number;
}

export const folderName = ({ project, began }: FolderIdentity) => `${project}~${began}`;

/** Exactly the names that `folderName` gives: a copy beside the folder, such as `k~7.bak`, is not one. */
export const FOLDER_NAME = /^([A-Za-z0-9_-]{1,64})~(0|[1-9]\d{0,15})$/;

/** Whose folder a name is of; undefined for other names. */
export function parseFolderName(folder: string): FolderIdentity | undefined {
  const [, project, began] = FOLDER_NAME.exec(folder) ?? [];
  return project === undefined ? undefined : { project, began: Number(began) };
}
