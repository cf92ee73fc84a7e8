// An app in a folder of its own, deployed by the real command to a stand-in of the cloud.
import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { type Aws, type AwsOptions, startAws } from "./aws/index.ts";
import { type Outcome, tool } from "./cli.ts";

export interface AppFolder {
  readonly directory: string;
  /** Environment of every command here. */
  readonly env: Readonly<Record<string, string>>;
  write(files: Readonly<Record<string, string>>): void;
  tool(argv: readonly string[], env?: Readonly<Record<string, string>>): Promise<Outcome>;
}

/** Answers with its stage and a word, and with the variables that it is asked for. */
export const appSource = (word: string) => `
require("node:http").createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  const name = searchParams.get("variable");
  response.end(name === null ? process.env.TOOL_STAGE + " ${word} " + pathname : String(process.env[name]));
}).listen(process.env.PORT);
`;

export function appFolder(
  aws: Aws,
  directory: string,
  files: Readonly<Record<string, string>>,
  installation: { readonly path?: string } = {},
): AppFolder {
  const write: AppFolder["write"] = (more) => {
    for (const [name, text] of Object.entries(more)) {
      const path = join(directory, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  };
  write(files);
  // No repository of the machine that runs the tests, and a cache of its own.
  const env = {
    ...aws.env,
    GIT_CEILING_DIRECTORIES: dirname(directory),
    XDG_CACHE_HOME: join(directory, "..", ".cache"),
  };
  return {
    directory,
    env,
    write,
    tool: (argv, more = {}) => tool(argv, { ...installation, cwd: directory, env: { ...env, ...more } }),
  };
}

/** Asks a deployed address as the whole world does; the stand-in tells by the host which API is meant. */
export function askEndpoint(aws: Aws, url: string): Promise<{ readonly status: number; readonly body: string }> {
  const { hostname, pathname, search } = new URL(url);
  const { port } = new URL(aws.endpoint);
  return new Promise((resolve, reject) => {
    const clientRequest = request(
      { host: "127.0.0.1", port, path: `${pathname}${search}`, headers: { host: hostname } },
      (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        response.on("end", () => resolve({ status: response.statusCode!, body }));
      },
    );
    clientRequest.on("error", reject);
    clientRequest.end();
  });
}

interface Test {
  testdir(): string;
  teardown(handler: () => Promise<void>): void;
}

export interface OpenApp {
  readonly aws: Aws;
  readonly app: AppFolder;
  /** Writes another tool.json. */
  configure(config: object): void;
}

/** An app called `app` with what tool.json says beside its name, and a cloud of its own. */
export async function openApp(t: Test, config: object, options: AwsOptions = {}): Promise<OpenApp> {
  const aws = await startAws(t, options);
  const text = (one: object) => ({ "tool.json": JSON.stringify({ name: "app", ...one }) });
  const app = appFolder(aws, join(t.testdir(), "app"), { ...text(config), "app.js": appSource("one") });
  return { aws, app, configure: (one) => app.write(text(one)) };
}

/** Does what owners of domains do, and the apply after it. */
export async function issueAll(aws: Aws, app: AppFolder): Promise<void> {
  const acm = aws.state.service("acm", "us-east-1");
  for (const arn of acm.certificates.keys()) acm.issue(arn);
  await app.tool(["stack", "apply"]);
}
