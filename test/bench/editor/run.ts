// Typing in tool.json over stdio: what a keystroke waits for, in files of 10 KB, 100 KB and 1 MB. `npm run bench:editor`.
import { readFileSync } from "node:fs";
import { type LspClient, startLsp } from "../../support/lsp-client.ts";

const KEYSTROKES = 60;
const URI = "file:///nonexistent/app/tool.json";

/** A tool.json of about so many bytes, with the sections in the shares that grown projects have. */
function configOf(bytes: number): string {
  const rules: string[] = [];
  const headers: string[] = [];
  const queries: string[] = [];
  let size = 0;
  for (let i = 0; size < bytes; i++) {
    rules.push(`    "/section-${i}/:page/*": { "location": "https://example.com/${i}/:page/:splat", "status": 301 }`);
    size += rules.at(-1)!.length + 2;
    if (i % 3 === 0) {
      headers.push(`    "/assets-${i}/*.css": { "Cache-Control": "max-age=${i}" }`);
      size += headers.at(-1)!.length + 2;
    }
    if (i % 10 === 0) {
      queries.push(`      "slow-${i}": "status >= 500 and duration > ${i}ms and path = /section-${i}/*"`);
      size += queries.at(-1)!.length + 2;
    }
  }
  return `{\n  "name": "app",\n  \n  "redirects": {\n${rules.join(",\n")}\n  },\n  "headers": {\n${headers.join(",\n")}\n  },\n  "logs": {\n    "queries": {\n${queries.join(",\n")}\n    }\n  }\n}\n`;
}

const quantile = (values: number[], q: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))]!;

const shown = (values: number[]) =>
  `p50 ${quantile(values, 0.5).toFixed(1)} ms, p95 ${quantile(values, 0.95).toFixed(1)} ms`;

async function timed(use: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await use();
  return performance.now() - begin;
}

function residentMiB({ child }: LspClient): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))![1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

async function start(): Promise<void> {
  const initialize: number[] = [];
  const diagnostics: number[] = [];
  for (let i = 0; i < 7; i++) {
    const begin = performance.now();
    const client = startLsp();
    await client.initialize();
    initialize.push(performance.now() - begin);
    client.open(URI, '{ "name": "app", "typ": 1 }');
    await client.receive("textDocument/publishDiagnostics");
    diagnostics.push(performance.now() - begin);
    await client.stop();
  }
  console.log(`spawn -> initialize     ${shown(initialize)}`);
  console.log(`spawn -> first pushed   ${shown(diagnostics)} (debounce included)`);
}

async function typing(bytes: number): Promise<void> {
  const client = startLsp();
  await client.initialize({ capabilities: { textDocument: { diagnostic: {} } } });
  const text = configOf(bytes);
  client.open(URI, text);
  await client.request("textDocument/diagnostic", { textDocument: { uri: URI } });
  const keys: Record<string, number[]> = { completion: [], diagnostics: [], hover: [], signature: [], cancelled: [] };
  let version = 1;
  let character = 2;
  // A key in quotes, a letter at a time, and back again: the list that each keystroke waits for.
  for (let i = 0; i < KEYSTROKES; i++) {
    const at = { line: 2, character };
    const letter = '"proxy"'[i % 8];
    client.notify("textDocument/didChange", {
      textDocument: { uri: URI, version: ++version },
      contentChanges: [
        letter === undefined
          ? { range: { start: { line: 2, character: 2 }, end: at }, text: "" }
          : { range: { start: at, end: at }, text: letter },
      ],
    });
    character = letter === undefined ? 2 : character + 1;
    const here = { textDocument: { uri: URI }, position: { line: 2, character } };
    keys.completion!.push(await timed(() => client.request("textDocument/completion", here)));
    const rule = { textDocument: { uri: URI }, position: { line: 4, character: 12 } };
    keys.hover!.push(await timed(() => client.request("textDocument/hover", rule)));
    keys.signature!.push(await timed(() => client.request("textDocument/signatureHelp", rule)));
    if (i % 3 === 0) {
      const check = { textDocument: { uri: URI } };
      keys.diagnostics!.push(await timed(() => client.request("textDocument/diagnostic", check)));
      client.notify("textDocument/didChange", {
        textDocument: { uri: URI, version: ++version },
        contentChanges: [{ range: { start: { line: 1, character: 0 }, end: { line: 1, character: 0 } }, text: " " }],
      });
      const long = client.send("textDocument/diagnostic", check);
      await new Promise((resolve) => setTimeout(resolve, 5));
      keys.cancelled!.push(
        await timed(async () => {
          client.notify("$/cancelRequest", { id: long.id });
          await long.answer;
        }),
      );
    }
  }
  console.log(`\n${Math.round(text.length / 1000)} KB, ${residentMiB(client).toFixed(0)} MiB resident`);
  for (const [what, values] of Object.entries(keys)) console.log(`  ${what.padEnd(21)} ${shown(values)}`);
  await client.stop();
}

await start();
for (const bytes of [10_000, 100_000, 1_000_000]) await typing(bytes);
