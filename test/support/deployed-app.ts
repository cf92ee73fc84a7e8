// An app in a folder of its own, deployed by the real command to a stand-in of the cloud.
import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { dirname, join } from "node:path";
import type { Aws } from "./aws/index.ts";
import { type Outcome, tool } from "./cli.ts";

export interface AppFolder {
  readonly directory: string;
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

export function appFolder(aws: Aws, directory: string, files: Readonly<Record<string, string>>): AppFolder {
  const write: AppFolder["write"] = (more) => {
    for (const [name, text] of Object.entries(more)) {
      const path = join(directory, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  };
  write(files);
  return {
    directory,
    write,
    tool: (argv, env = {}) =>
      tool(argv, {
        cwd: directory,
        // No repository of the machine that runs the tests, and a cache of its own.
        env: {
          ...aws.env,
          GIT_CEILING_DIRECTORIES: dirname(directory),
          XDG_CACHE_HOME: join(directory, "..", ".cache"),
          ...env,
        },
      }),
  };
}

/** Asks a deployed address as the whole world does; the stand-in tells by the host which API is meant. */
export function askEndpoint(aws: Aws, url: string): Promise<{ readonly status: number; readonly body: string }> {
  const { hostname, pathname, search } = new URL(url);
  const { port } = new URL(aws.endpoint);
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: "127.0.0.1", port, path: `${pathname}${search}`, headers: { host: hostname } },
      (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        response.on("end", () => resolve({ status: response.statusCode!, body }));
      },
    );
    asked.on("error", reject);
    asked.end();
  });
}
