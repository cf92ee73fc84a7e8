// The records are asked through Kysely's query builder alone, so that another database than SQLite can hold them: text of
// SQL, which one database alone understands, is refused outside of the driver of SQLite, and so are transactions that are not
// run again when another one got in the way. `npm run lint` runs it.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/**
 * The files that only SQLite has (its driver, the check of its file and the copy of it), and the one that runs queries again
 * which Kysely built.
 */
const ALLOWED = ["sqlite.ts", "check.ts", "copy.ts", "compiled.ts"].map((name) => `logservice/records/${name}`);
/** The files that may begin transactions: the one for all others, and that of changes of tables. */
const OF_TRANSACTIONS = ["transact.ts", "at-once.ts"].map((name) => `logservice/records/${name}`);
/** The events are in DuckDB, which has another store. */
const OTHER_STORE = "logservice/events/";

const FORBIDDEN = [
  { pattern: /\bsql\b(?:<[^>]*>)?`/, what: "a template of SQL" },
  { pattern: /import\s*(?:type\s*)?\{[^}]*\bsql\b[^}]*\}\s*from\s*"kysely"/, what: "Kysely's sql" },
  { pattern: /\bsql\.(?:raw|lit|id|ref|table|join)\b/, what: "Kysely's sql" },
  { pattern: /\b(?:CompiledQuery|executeQuery)\b/, what: "a query that is not built" },
  { pattern: /\.prepare\(|\.pragma\(|\bpragma\b/i, what: "a statement of SQLite" },
  { pattern: /\bmodify(?:Front|End)\(/, what: "text added to a query" },
];

const TRANSACTION = { pattern: /\.transaction\(\)/, what: "a transaction beside transact of records/transact.ts" };

/** Returns the forbidden places in the source of a file: the line from 1, and the kind of place. */
export function sqlIn(path, source) {
  if (ALLOWED.includes(path) || path.startsWith(OTHER_STORE)) return [];
  const forbidden = OF_TRANSACTIONS.includes(path) ? FORBIDDEN : [...FORBIDDEN, TRANSACTION];
  const places = forbidden.flatMap(({ pattern, what }) => {
    const match = pattern.exec(source);
    return match === null ? [] : [{ line: source.slice(0, match.index).split("\n").length, what }];
  });
  return places.sort((a, b) => a.line - b.line);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  let count = 0;
  const files = readdirSync(join(root, "logservice"), { recursive: true, withFileTypes: true });
  const sources = files.filter((entry) => entry.isFile() && entry.name.endsWith(".ts"));
  for (const entry of sources) {
    const path = relative(root, join(entry.parentPath, entry.name));
    for (const { line, what } of sqlIn(path, readFileSync(join(root, path), "utf8"))) {
      console.log(`${path}:${line}: ${what}; use Kysely's query builder, and transact`);
      count++;
    }
  }
  console.log(count === 0 ? `${sources.length} files without text of SQL` : `${count} places`);
  process.exitCode = count === 0 ? 0 : 1;
}
