import { open } from "node:fs/promises";

/** Names in a folder are safe only after this. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
