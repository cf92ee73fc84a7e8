// Programs in other languages on the function platform: built, served through events, stopped in between.
import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { requires } from "../support/require.ts";
import { apps, ask } from "../support/runtime.ts";
import { deploy } from "../support/runtime-api/deployed.ts";

const languages = [
  {
    name: "Go",
    needs: "go",
    source: "main.go",
    build: ["go", "build", "-o", "server", "main.go"],
    command: "./server",
  },
  { name: "Python", needs: "python3", source: "app.py", build: [], command: "python3 app.py" },
  {
    name: "Java",
    needs: "javac",
    source: "Server.java",
    build: ["javac", "Server.java"],
    command: "java -Xshare:auto Server",
  },
] as const;

const rows = [
  { request: "GET /", bytes: 0 },
  { request: "GET /a/b?x=1&y=%20", bytes: 0 },
  { request: "POST /upload", body: "größer", bytes: 8 },
  { request: "PUT /upload", body: "a".repeat(1_000_000), bytes: 1_000_000 },
  { request: "DELETE /x", bytes: 0 },
];

for (const { name, needs, source, build, command } of languages) {
  t.test(name, { skip: requires(needs) }, async (t) => {
    const deployed = await deploy(t, { command }, { freezes: true });
    cpSync(join(apps, "languages", source), join(deployed.directory, source));
    const [program, ...args] = build;
    if (program !== undefined) execFileSync(program, args, { cwd: deployed.directory, stdio: "inherit" });

    for (const { request, body, bytes } of rows) {
      await t.test(request, async (t) => {
        const [method = "", path = ""] = request.split(" ");
        const response = await ask(deployed.port, { method, path, ...(body !== undefined && { body }) });
        t.equal(response.status, 200, response.body.toString());
        t.same(JSON.parse(response.body.toString()), { method, url: path, bytes, context: true, stage: "production" });
        const cookies = response.headers.filter(([header]) => header.toLowerCase() === "set-cookie");
        t.same(
          cookies.map(([, value]) => value),
          ["a=1", "b=2"],
        );
      });
    }
    await deployed.function.idle();
    const errors = deployed.entries().filter(({ level, message }) => level === "error" && /asked for/.test(message));
    t.equal(errors.length, rows.length, "what it writes to stderr stands in the log");
    t.equal(deployed.function.starts, 1);
  });
}
