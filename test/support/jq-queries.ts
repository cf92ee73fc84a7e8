// Ten queries with the jq filter of the same meaning, for logs of test/bench/query/generate.ts.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";

export const JQ_QUERIES: readonly (readonly [query: string, filter: string])[] = [
  ["code = card-refused-7f3a", '.fields.code == "card-refused-7f3a"'],
  ["status >= 500", ".fields.status != null and .fields.status >= 500"],
  ["duration > 30s", ".fields.duration != null and .fields.duration > 30000"],
  ["level = info", '.level == "info"'],
  ["warn or error", '.level == "warn" or .level == "error"'],
  [
    "production and method in (POST, PUT)",
    '.fields.stage == "production" and (.fields.method == "POST" or .fields.method == "PUT")',
  ],
  [
    'path = "/api/orders/*/items"',
    '.fields.path != null and (.fields.path | startswith("/api/orders/") and endswith("/items"))',
  ],
  [
    "not status and user.roles = admin",
    '.fields.status == null and (.fields.user | type == "object" and (.roles | index("admin") != null))',
  ],
  ['message contains "Größe" or "*commande"', '.message | contains("Größe") or endswith("commande")'],
  [
    "size > 1mb and size <= 3mb and not error",
    '.fields.size != null and .fields.size > 1048576 and .fields.size <= 3145728 and .level != "error"',
  ],
];

/** How many lines of JSON a command writes, and a digest of their values: jq spells numbers and escapes in its own way. */
export async function linesOfCommand(
  command: string,
  argv: readonly string[],
): Promise<{ code: number | null; count: number; digest: string }> {
  const child = spawn(command, argv, { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  const hash = createHash("sha256");
  let count = 0;
  for await (const line of createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY })) {
    hash.update(`${JSON.stringify(JSON.parse(line))}\n`);
    count++;
  }
  const [code] = await closed;
  return { code: code as number | null, count, digest: hash.digest("hex") };
}
