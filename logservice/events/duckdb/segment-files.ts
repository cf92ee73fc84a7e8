import { rm } from "node:fs/promises";
import { isDirectory } from "../durable.ts";

/** A segment's name, and the range of its sequences; names of format 1 have the last one only. */
export const SEGMENT_NAME = /^(\d{16})-(?:(\d{16})-)?[0-9a-z]+-\d+\.parquet$/;

/** The name of a segment: its first and last sequence, then what no other file of the folder has. */
export function segmentName(first: number, last: number, unique: string, number: number): string {
  return `${String(first).padStart(16, "0")}-${String(last).padStart(16, "0")}-${unique}-${number}.parquet`;
}

/** A segment and the files beside it. */
export const withDerived = (file: string) => [file, summaryPath(file), filterPath(file)];

/** The segment that a file beside one belongs to, finished or not. */
export function ownerOf(name: string): string | undefined {
  return /^(.+\.parquet)\.(?:json|filter)(?:\.new)?$/.exec(name)?.[1];
}

export const TEMPORARY = ".new";

/** The file beside a segment that has its columns and its summary. All of it can be rebuilt from the segment. */
export const summaryPath = (path: string) => `${path}.json`;

export const filterPath = (path: string) => `${path}.filter`;

/** Removes a segment and the files beside it. */
export async function removeSegment(path: string): Promise<void> {
  const finished = [filterPath(path), path, summaryPath(path)];
  for (const one of [...finished, ...finished.map((file) => `${file}${TEMPORARY}`)]) {
    // The next start moves a directory into quarantine.
    if (!isDirectory(one)) await rm(one, { force: true });
  }
}
