// The cost of inserting into a page, compared with lol-html compiled to WebAssembly: node dist/test/bench/injection.js
//
// Both get the same page in chunks of 16 KB and insert the same two elements; CPU time, in turns, medians. The dense page
// has a tag every 20 bytes, the plain one is mostly text, the app page mostly script.
import { fileURLToPath } from "node:url";
import { HtmlInjector } from "../../runtime/html-injector.ts";
import { rival } from "./rival.ts";

const HEAD = '<script src="/head.js"></script>';
const BODY = '<script src="/body.js"></script>';
const CHUNK_BYTES = 16 * 1024;
const ROUNDS = 9;

interface Rewriter {
  on(selector: string, handlers: { element(element: { append(html: string, options: object): void }): void }): void;
  write(chunk: Uint8Array): Promise<void>;
  end(): Promise<void>;
  free(): void;
}

const pages: Readonly<Record<string, string>> = {
  dense: page(
    Array.from(
      { length: 600 },
      (_, i) =>
        `<div class="row item-${i}"><a href="/p/${i}?a=1&amp;b=2" title="Page">Link</a><p>Some <b>bold</b> <code>code</code></p></div>`,
    ),
  ),
  plain: page(Array.from({ length: 300 }, () => `<p>${"Words of a paragraph, as long as they are. ".repeat(8)}</p>\n`)),
  app: page([
    '<div id="root"></div><script>',
    'window.data.push({"a": "<b>", "n": 12345});\n'.repeat(2500),
    "</script>",
  ]),
};

export async function main(print: (line: string) => void): Promise<void> {
  const { HTMLRewriter } = await rival<{ HTMLRewriter: new (onChunk: (chunk: Uint8Array) => void) => Rewriter }>(
    "html-rewriter-wasm",
  );
  for (const [name, text] of Object.entries(pages)) {
    const bytes = Buffer.from(text);
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) chunks.push(bytes.subarray(at, at + CHUNK_BYTES));

    const ours = async () => {
      const injector = new HtmlInjector(Buffer.from(HEAD), Buffer.from(BODY));
      let length = 0;
      for (const chunk of chunks) for (const part of injector.write(chunk)) length += part.length;
      for (const part of injector.end()) length += part.length;
      return length;
    };
    const theirs = async () => {
      let length = 0;
      const rewriter = new HTMLRewriter((chunk) => {
        length += chunk.length;
      });
      rewriter.on("head", { element: (element) => element.append(HEAD, { html: true }) });
      rewriter.on("body", { element: (element) => element.append(BODY, { html: true }) });
      for (const chunk of chunks) await rewriter.write(chunk);
      await rewriter.end();
      rewriter.free();
      return length;
    };
    const expected = bytes.length + HEAD.length + BODY.length;
    if ((await ours()) !== expected || (await theirs()) !== expected) throw new Error(`${name}: not inserted twice`);

    const ratios: number[] = [];
    let oursUs = 0;
    for (let round = 0; round < ROUNDS; round++) {
      oursUs = await cpuUs(ours, 300);
      ratios.push((await cpuUs(theirs, 30)) / oursUs);
    }
    ratios.sort((a, b) => a - b);
    const [low, median, high] = [ratios[0]!, ratios[ROUNDS >> 1]!, ratios.at(-1)!].map((ratio) => ratio.toFixed(1));
    const speed = (bytes.length / oursUs).toFixed(0);
    print(`${name}, ${bytes.length} bytes: ${median}x (${low} to ${high}), ${speed} MB/s`);
  }
}

function page(parts: readonly string[]): string {
  const head = '<meta charset="utf-8"><title>A page</title><link rel="stylesheet" href="/a.css">';
  return `<!doctype html><html><head>${head}</head><body>${parts.join("")}</body></html>`;
}

async function cpuUs(run: () => Promise<number>, times: number): Promise<number> {
  for (let i = 0; i < times / 4; i++) await run();
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main((line) => process.stdout.write(`${line}\n`));
