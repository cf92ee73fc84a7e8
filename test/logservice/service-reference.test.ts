// The examples of /reference do what the page says, taken from the page itself.
import { spawn } from "node:child_process";
import t from "tap";
import { RPC_GUIDE } from "../../schema/rpc-guide.ts";
import { requires } from "../support/require.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const WHOLE = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' };
const unescaped = (html: string) => html.replace(/&(?:amp|lt|gt|quot);/g, (name) => WHOLE[name as keyof typeof WHOLE]);

/** The examples of a section of the page, by their language. */
function examplesOf(page: string, id: string): Record<string, string> {
  const section = page.slice(page.indexOf(`<h3 id="${id}">`)).split("</section>")[0]!;
  const blocks = section.matchAll(/<pre><code class="language-(\w+)">([^<]*)<\/code><\/pre>/g);
  return Object.fromEntries([...blocks].map(([, language, code]) => [language!, unescaped(code!)]));
}

interface Row {
  readonly id: string;
  /** The output of the example. */
  readonly prints: Readonly<Record<"sh" | "javascript", RegExp>>;
  /** The messages that the service has then, and had not before. */
  readonly adds?: Readonly<Record<"sh" | "javascript", readonly string[]>>;
}

const ROWS: readonly Row[] = [
  { id: "authorisation", prints: { sh: /^\{"projects":\[\{"id":"my_app",/, javascript: /id: 'my_app'/ } },
  { id: "add-project", prints: { sh: /^\{"id":"my_app"\}$/, javascript: /^my_app\n$/ } },
  {
    id: "idempotency-key",
    prints: { sh: /^\{"accepted":2,"errors":\[\]\}$/, javascript: /^\{ accepted: 1, errors: \[\] \}\n$/ },
    adds: { sh: ["payment failed", "signed in"], javascript: ["signed in"] },
  },
  { id: "gzip", prints: { sh: /^$/, javascript: /^204\n$/ }, adds: { sh: ["compressed"], javascript: ["compressed"] } },
  {
    id: "ingest",
    prints: { sh: /^\{"accepted":2,"errors":\[\]\}$/, javascript: /^2 \[\]\n$/ },
    adds: { sh: ["a plain line", "slow"], javascript: ["a plain line", "slow"] },
  },
  { id: "tail", prints: { sh: /"message":"seen"/, javascript: /^seen\n/ } },
  { id: "export", prints: { sh: /^time,level,message,status\r\n$/, javascript: /^time,level,message,status\r\n$/ } },
  {
    id: "metrics",
    prints: {
      sh: /^# TYPE logservice_requests_total counter\n/,
      javascript: /logservice_requests_total\{route="add_project"/,
    },
  },
];

t.test("every section has a row", (t) => {
  t.same(
    RPC_GUIDE.map(({ id }) => id),
    ROWS.map(({ id }) => id),
  );
  t.end();
});

const COMMANDS = {
  sh: (code: string) => ["sh", "-ec", code],
  javascript: (code: string) => [process.execPath, "--input-type=module", "-e", code],
};

async function messages({ call }: TestService): Promise<string[]> {
  const range = { project_id: "my_app", start: "2020-01-01T00:00:00Z", stop: "2100-01-01T00:00:00Z" };
  const { json } = await call("search", range);
  return json.events.map(({ message }: { message: string }) => message).sort();
}

function codeOf([command, ...argv]: readonly string[], env: NodeJS.ProcessEnv): Promise<number | null> {
  const child = spawn(command!, argv, { env, stdio: "ignore" });
  return new Promise((resolve) => child.once("close", resolve));
}

for (const language of ["sh", "javascript"] as const) {
  const skip = language === "sh" && requires("curl");
  for (const { id, prints, adds } of ROWS) {
    t.test(`${id}: ${language}`, { skip }, async (t) => {
      const service = await startTestService(t);
      const page = (await service.send({ method: "GET", path: "/reference" })).text;
      const code = examplesOf(page, id)[language]!;
      const env = {
        ...process.env,
        LOGS_URL: service.running.url,
        TOOL_LOGS_TOKEN: service.owner,
        NO_COLOR: "1",
        no_proxy: "*",
      };
      // The service is new: what the page says to run first is all that it needs.
      if (id !== "add-project") {
        const [command, ...argv] = COMMANDS[language](examplesOf(page, "add-project")[language]!);
        if (id !== "authorisation" && adds !== undefined)
          t.not(await codeOf(COMMANDS[language](code), env), 0, "before it");
        t.equal(await codeOf([command!, ...argv], env), 0);
      }
      const [command, ...argv] = COMMANDS[language](code);
      const child = spawn(command!, argv, { env, cwd: service.directory, stdio: ["ignore", "pipe", "pipe"] });
      t.teardown(() => child.kill("SIGKILL"));
      let [stdout, stderr] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text) => {
        stdout += text;
      });
      child.stderr.setEncoding("utf8").on("data", (text) => {
        stderr += text;
      });
      const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
      if (id === "tail") {
        await until("an event", async () => {
          await service.call("add_events", { project_id: "my_app", events: [{ level: "info", message: "seen" }] });
          return prints[language].test(stdout);
        });
        t.pass("shown as it came");
        return;
      }
      t.equal(await ended, 0, stderr);
      t.match(stdout, prints[language]);
      t.equal(stderr, "");
      t.same(await messages(service), adds?.[language] ?? []);
    });
  }
}

t.test("the page says what every request needs", async (t) => {
  const service = await startTestService(t);
  const { text } = await service.send({ method: "GET", path: "/reference" });
  for (const said of [
    "Authorization: Bearer",
    "Idempotency-Key",
    "Content-Encoding: gzip",
    "Last-Event-ID",
    "Any token is accepted.",
  ]) {
    t.ok(text.includes(said), said);
  }
  const links = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id!);
  for (const id of new Set(links)) t.ok(text.includes(`id="${id}"`), `#${id}`);
});
