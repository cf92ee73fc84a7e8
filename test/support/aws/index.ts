// The stand-in of the cloud: one account, over HTTP in the wire protocols of the real one, for the SDK's own clients.
import type { IncomingMessage } from "node:http";
import { serveApp } from "../../../cli/sandbox/apps.ts";
import type { ClockOptions } from "../../../cli/sandbox/cloud/clock.ts";
import { openWorld } from "../../../cli/sandbox/cloud/open-world.ts";
import type { AccountOptions, World } from "../../../cli/sandbox/cloud/world.ts";
import { startSandboxServer } from "../../../cli/sandbox/server.ts";
import { TestClock } from "./clock.ts";
import { type Failure, Failures } from "./failures.ts";
import { Journal } from "./journal.ts";
import { watchCalls } from "./watcher.ts";

export interface AwsOptions extends AccountOptions {
  readonly clock?: ClockOptions;
  readonly failures?: readonly Failure[];
  readonly port?: number;
  /** Events say http and the port, as in the sandbox. */
  readonly tellsScheme?: boolean;
  /** Where the state survives; in memory only where it is absent. */
  readonly folder?: string;
}

export interface Aws {
  readonly endpoint: string;
  readonly region: string;
  readonly accountId: string;
  /** Variables with which the tool works on this account. */
  readonly env: Readonly<Record<string, string>>;
  /** For clients of the SDK: `new LambdaClient(aws.client)`. */
  readonly client: ClientOptions;
  readonly journal: Journal;
  /** The state of the account, service by service: `aws.state.service("lambda")`. */
  readonly state: World;
  readonly controls: { readonly clock: TestClock; readonly failures: Failures };
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly forcePathStyle: true;
}

interface Test {
  teardown(handler: () => Promise<void>): void;
}

/** Runs until the test ends. */
export async function startAws(t: Test, options: AwsOptions = {}): Promise<Aws> {
  const aws = await openAws(options);
  t.teardown(() => aws.close());
  return aws;
}

export async function openAws(options: AwsOptions = {}): Promise<Aws> {
  const clock = new TestClock(options.clock);
  const world = openWorld({ ...options, clock });
  const journal = new Journal();
  const failures = new Failures();
  failures.plan(...(options.failures ?? []));
  const endpoint = await startSandboxServer({
    world,
    // Tests have keys of any kind; refused-keys.ts says which are refused.
    authenticate() {},
    serveApp: (req, res) => serveApp(req, res, world, { tellsScheme: options.tellsScheme ?? false }),
    watch: watchCalls(journal, failures, () => clock.now()),
    // The one service call that nobody signs.
    unsigned: (req) => (isFormOf(req) ? { service: "sts", region: world.region, accessKeyId: "", day: "" } : undefined),
    report: (text) => process.stderr.write(`stand-in of the cloud: ${text}\n`),
    ...(options.port !== undefined && { port: options.port }),
  });
  const { region, accountId } = world;
  const credentials = { accessKeyId: "AKIASTANDIN0000000", secretAccessKey: "stand-in-secret-access-key" };
  return {
    endpoint: endpoint.url,
    region,
    accountId,
    env: {
      TOOL_AWS_ENDPOINT: endpoint.url,
      CLOUD_REGION: region,
      CLOUD_ACCESS_KEY_ID: credentials.accessKeyId,
      CLOUD_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    client: { endpoint: endpoint.url, region, credentials, forcePathStyle: true },
    journal,
    state: world,
    controls: { clock, failures },
    async close() {
      await endpoint.close();
      await world.close();
    },
  };
}

function isFormOf(req: IncomingMessage): boolean {
  return (
    req.method === "POST" && req.url === "/" && req.headers["content-type"] === "application/x-www-form-urlencoded"
  );
}
