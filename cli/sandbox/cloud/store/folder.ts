// Names in a folder are safe only when the folder itself was synced; Windows has no such call.
import { closeSync, fsyncSync, openSync } from "node:fs";
import { open } from "node:fs/promises";

const isSynced = process.platform !== "win32";

export function syncFolderNow(path: string): void {
  if (!isSynced) return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

export async function syncFolder(path: string): Promise<void> {
  if (!isSynced) return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
