// Makes a log to measure with: node dist/test/bench/query/generate.js BYTES FILE [SEED]
//
// Whole lines as `tool start` writes them, 250 to 400 bytes but for a few, until BYTES are reached; the same for the same
// seed. Of all lines
//   12 %     are requests, at level info
//   46 %     are responses: 36 % with status 200, 204, 301 or 304 (info), 8 % with 4xx (warn), 2 % with 5xx (error)
//   42 %     come from the app: 36 % debug, 2 % info, 2 % notice, 1.5 % warn, 0.5 % error
//   50 %     are at level info, thus, and 2 % have status >= 500
//   1 %      hold a stack trace (\n and \" in the message), 0.5 % letters beyond ASCII, 0.1 % a \u001b
//   1/10,000 are responses that took more than 30 s (`duration > 30s`): lines 1,234, 11,234 ...
//   1/100,000 hold the text `card-refused-7f3a` (`code = card-refused-7f3a`): lines 4,242, 104,242 ...
// Users are user0@example.com to user9999@example.com, paths have nine shapes with numbers in them.
import { closeSync, openSync, writeSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The text in 1 of 100,000 lines. */
export const RARE_LITERAL = "card-refused-7f3a";

const BLOCK_BYTES = 1 << 20;

/** Writes at least `bytes` bytes of whole lines through `write`; answers how many lines. */
export function generate(bytes: number, write: (block: Buffer) => void, seed = 1): number {
  const lines = entryLines(seed);
  let block = "";
  let written = 0;
  let count = 0;
  while (written + block.length < bytes) {
    block += `${lines()}\n`;
    count++;
    if (block.length >= BLOCK_BYTES) {
      const buffer = Buffer.from(block);
      write(buffer);
      written += buffer.length;
      block = "";
    }
  }
  if (block !== "") write(Buffer.from(block));
  return count;
}

/** One line after the other. */
export function entryLines(seed: number): () => string {
  const next = random(seed);
  const below = (limit: number) => Math.floor(next() * limit);
  const pick = <T>(values: readonly T[]): T => values[below(values.length)]!;
  const hex = (digits: number) =>
    Array.from({ length: Math.ceil(digits / 8) }, () =>
      below(2 ** 32)
        .toString(16)
        .padStart(8, "0"),
    )
      .join("")
      .slice(0, digits);
  let n = -1;
  let timeMs = Date.UTC(2025, 5, 30);

  return () => {
    n++;
    timeMs += below(14);
    const timestamp = new Date(timeMs).toISOString();
    const common = { stage: pick(STAGES), version: `v${below(40)}`, commit: hex(40) };
    const entry = (level: string, message: string, fields: object) =>
      JSON.stringify({ timestamp, level, message, fields: { ...common, ...fields } });
    if (n % 100_000 === 4_242) {
      return entry("error", "payment failed", { code: RARE_LITERAL, user: user(), amount: below(90_000) / 100 });
    }
    const isSlow = n % 10_000 === 1_234;
    const roll = isSlow ? 0.2 : next();
    if (roll < 0.58) {
      const exchange = {
        id: hex(32),
        ip: `10.${below(256)}.${below(256)}.${below(256)}`,
        method: pick(METHODS),
        path: path(),
        query: next() < 0.3 ? `page=${below(50)}&sort=${pick(["name", "price", "date"])}` : "",
      };
      if (roll < 0.12) {
        return entry("info", "request", { ...exchange, referer: `https://shop.example.com${path()}`, user: user() });
      }
      const status = isSlow || roll < 0.48 ? pick(GOOD) : roll < 0.56 ? pick(WRONG) : pick(FAILED);
      // A long tail, as real ones have; never above 30 s by chance.
      const duration = isSlow
        ? 30_000 + 1 + below(60_000)
        : Math.round(Math.min(29_000, 3 / (next() + 1e-4)) * 1000) / 1000;
      const size = below(50) === 0 ? below(4_000_000) : below(20_000);
      return entry(levelOfStatus(status), "response", { ...exchange, user: user(), status, duration, size });
    }
    const level =
      roll < 0.94 ? "debug" : roll < 0.96 ? "info" : roll < 0.98 ? "notice" : roll < 0.995 ? "warn" : "error";
    return entry(level, message(), {
      component: pick(COMPONENTS),
      user: { email: user(), id: below(100_000), roles: next() < 0.1 ? ["admin", "staff"] : ["customer"] },
      items: below(12),
      elapsed: below(10_000) / 100,
      cached: next() < 0.7,
    });
  };

  function message(): string {
    const roll = next();
    if (roll < 0.024) {
      return `TypeError: cannot read "price" of undefined\n    at total (/app/cart.js:${below(400)}:12)\n    at checkout (/app/server.js:${below(400)}:5)`;
    }
    if (roll < 0.036) return pick(["Größe unbekannt", "注文が見つかりません", "café fermé ☕", "🎉 première commande"]);
    if (roll < 0.0384) return "\u001b[33mslow query\u001b[0m";
    return pick(MESSAGES);
  }

  function user(): string {
    return `user${below(10_000)}@example.com`;
  }

  function path(): string {
    return pick(PATHS).replace("#", () => String(below(100_000)));
  }
}

const STAGES = ["production", "production", "production", "staging"];
const METHODS = ["GET", "GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE"];
const GOOD = [200, 200, 200, 200, 204, 301, 304];
const WRONG = [400, 401, 403, 404, 404, 404, 422];
const FAILED = [500, 500, 502, 503, 504];
const COMPONENTS = ["cart", "search", "checkout", "stock", "mail"];
const PATHS = [
  "/",
  "/api/orders/#",
  "/api/orders/#/items",
  "/products/#",
  "/products/#/reviews",
  "/account/billing",
  "/search",
  "/static/app-#.js",
  "/health",
];
const MESSAGES = [
  "cache refreshed",
  "query finished",
  "item added to the cart",
  "session restored from the cookie",
  "stock level read",
  "mail queued",
  "connection returned to the pool",
];

function levelOfStatus(status: number): string {
  if (status >= 500) return "error";
  return status >= 400 ? "warn" : "info";
}

/** Mulberry32: small, and good enough for test data. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function main(argv: readonly string[]): void {
  const [bytes, path, seed] = argv;
  if (path === undefined || !/^\d+(e\d+)?$/.test(bytes ?? "")) throw new Error("usage: generate.js BYTES FILE [SEED]");
  const file = openSync(path, "w");
  const count = generate(
    Number(bytes),
    (block) => {
      for (let at = 0; at < block.length; ) at += writeSync(file, block, at);
    },
    seed === undefined ? 1 : Number(seed),
  );
  closeSync(file);
  process.stdout.write(`${count} lines in ${path}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
