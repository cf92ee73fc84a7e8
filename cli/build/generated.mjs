// The sources of the generated files, so that they are made again when any of these changes and not otherwise.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const RECORD = "dist/.t-generated.json";
/** Everything is made by these; of packages, the versions count. */
const OF_ALL = ["cli/build/generate.mjs", "cli/build/generated.mjs", "package-lock.json"];

/** Writes what each file was made of, with the state of each input. */
export function recordGenerated(root, inputs) {
  const files = Object.fromEntries(
    [...inputs].map(([file, madeOf]) => [
      file,
      [...new Set([...madeOf.filter((input) => !input.includes("node_modules/")), ...OF_ALL])].sort(),
    ]),
  );
  const states = Object.fromEntries(
    [...new Set(Object.values(files).flat())].map((file) => [file, stateOf(root, file)]),
  );
  mkdirSync(join(root, "dist"), { recursive: true });
  writeFileSync(join(root, RECORD), `${JSON.stringify({ files, states }, null, 1)}\n`);
}

/** The inputs of each generated file, as of the last time; nothing if none were made. */
export const generatedFiles = (root) => recordOf(root)?.files ?? {};

/** Whether a generated file is missing, or an input of one has another text than when it was made. */
export function isGeneratedStale(root) {
  const record = recordOf(root);
  if (record === undefined) return true;
  return (
    Object.keys(record.files).some((file) => !existsSync(join(root, file))) ||
    Object.entries(record.states).some(([file, state]) => stateOf(root, file) !== state)
  );
}

function recordOf(root) {
  try {
    return JSON.parse(readFileSync(join(root, RECORD), "utf8"));
  } catch {
    return undefined;
  }
}

/** By its text: a checkout or a copy changes the times of files. */
function stateOf(root, file) {
  const path = join(root, file);
  return existsSync(path) ? createHash("sha256").update(readFileSync(path)).digest("base64url") : "";
}
