import type { ACM } from "@aws-sdk/client-acm";
import type { APIGateway } from "@aws-sdk/client-api-gateway";
import type { CloudControl } from "@aws-sdk/client-cloudcontrol";
import type { CloudFormation } from "@aws-sdk/client-cloudformation";
import type { CloudWatch } from "@aws-sdk/client-cloudwatch";
import type { CloudWatchLogs } from "@aws-sdk/client-cloudwatch-logs";
import type { IAM } from "@aws-sdk/client-iam";
import type { Lambda } from "@aws-sdk/client-lambda";
import type { Route53 } from "@aws-sdk/client-route-53";
import type { Route53Domains } from "@aws-sdk/client-route-53-domains";
import type { S3 } from "@aws-sdk/client-s3";
import type { Scheduler } from "@aws-sdk/client-scheduler";
import type { SNS } from "@aws-sdk/client-sns";
import type { SSM } from "@aws-sdk/client-ssm";
import type { STS } from "@aws-sdk/client-sts";
import type { Clock } from "../../grammar/units/clock.ts";
import { PlatformError } from "../platform/error.ts";
import type { SandboxAccess } from "../platform/sandbox.ts";
import { unreadableProfiles } from "../project/profile-region.ts";
import { version } from "../version.ts";
import { credentialsOf } from "./credentials.ts";
import { profilesError, readProfilesInUtf16 } from "./profile-files.ts";
import { type ThrottlingListener, watchThrottling } from "./throttling.ts";

/** The clients of one region's services. Each is imported and created on first use. */
export interface Cloud {
  readonly region: string;
  readonly clock: Clock;
  /** The sandbox that these are the services of; undefined for those of the cloud. */
  readonly sandbox: SandboxAccess | undefined;
  /** The account of the credentials; looked up once. */
  accountId(): Promise<string>;
  /** Listens to all clients; the returned function stops it. */
  onThrottling(listener: ThrottlingListener): () => void;
  lambda(): Promise<Lambda>;
  cloudControl(): Promise<CloudControl>;
  cloudFormation(): Promise<CloudFormation>;
  logs(): Promise<CloudWatchLogs>;
  s3(options?: { readonly accelerate?: boolean }): Promise<S3>;
  iam(): Promise<IAM>;
  apiGateway(): Promise<APIGateway>;
  /** Certificates of edge domains are in us-east-1, whatever the region of the app is. */
  acm(region?: string): Promise<ACM>;
  route53(): Promise<Route53>;
  domains(): Promise<Route53Domains>;
  ssm(): Promise<SSM>;
  sns(): Promise<SNS>;
  cloudWatch(): Promise<CloudWatch>;
  scheduler(): Promise<Scheduler>;
  sts(): Promise<STS>;
}

export interface CloudOptions {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly profile?: string | undefined;
  readonly region: string;
  readonly sandbox: SandboxAccess | undefined;
}

/** Time to connect. Within a continent a tenth of this is already slow. */
const CONNECTION_TIMEOUT_MS = 5_000;
/** Time without a byte in either direction. Publishing a version answers after some seconds; an upload never pauses. */
const SOCKET_TIMEOUT_MS = 60_000;
/**
 * With the SDK's backoff (half a second, doubled up to 20 when throttled, with jitter) the waits of one call add up to about
 * 15 s: longer than a burst of deploys in one account, and short enough not to look like a hang.
 */
const MAX_ATTEMPTS = 6;
/** The signing region of global services, which have a single endpoint. */
const GLOBAL_REGION = "us-east-1";

/** The SDK makes names of hosts of it, and would throw in the midst of a call. */
function refuseOddRegion(region: string): void {
  if (/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i.test(region)) return;
  throw new PlatformError(
    "region/invalid",
    `${JSON.stringify(region)} is not a region`,
    'name one such as eu-west-1 as "regions" in tool.json, in CLOUD_REGION, or as the region of the profile in ~/.aws/config',
  );
}

/**
 * Makes no call yet. The sandbox, else `TOOL_AWS_ENDPOINT`, replaces the endpoint of all clients; S3 is addressed by path
 * then.
 */
export function openCloud({ env, clock, profile, region, sandbox }: CloudOptions): Cloud {
  const endpoint = sandbox?.endpoint ?? (env.TOOL_AWS_ENDPOINT || undefined);
  if (endpoint !== undefined && !/^https?:$/.test(protocolOf(endpoint))) {
    throw new PlatformError(
      "endpoint/invalid",
      `TOOL_AWS_ENDPOINT is ${JSON.stringify(endpoint)}, which is not an address`,
      "write one such as http://127.0.0.1:4566, or unset it",
    );
  }
  refuseOddRegion(region);
  const unreadable = unreadableProfiles(env);
  if (unreadable?.isEndless) throw profilesError(unreadable);
  // Shared by all clients, so that a role is assumed only once.
  const credentials = sandbox === undefined ? credentialsOf({ env, profile, region }) : async () => sandbox;
  const common = {
    region,
    credentials,
    maxAttempts: MAX_ATTEMPTS,
    retryMode: "standard",
    // Some calls use another host, such as streaming-logs, which a replaced endpoint does not have.
    ...(endpoint !== undefined && { endpoint, disableHostPrefix: true }),
    // Settings of the shell for an account's endpoints do not apply to the sandbox.
    ...(sandbox !== undefined && { useFipsEndpoint: false, useDualstackEndpoint: false }),
    requestHandler: { connectionTimeout: CONNECTION_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS },
    customUserAgent: [["tool", version]] as [string, string][],
  };
  const kept = new Map<string, Promise<unknown>>();
  const once = <T>(key: string, open: () => Promise<T>): Promise<T> => {
    const opened = kept.get(key) ?? open();
    kept.set(key, opened);
    return opened as Promise<T>;
  };
  const throttling = watchThrottling();
  const client = <T>(key: string, open: () => Promise<T>) =>
    once(key, async () => {
      // Also for the sandbox: a client takes other settings than credentials from these files.
      await once("profiles", () => readProfilesInUtf16(env));
      return throttling.watch(await open());
    });
  const cloud: Cloud = {
    region,
    clock,
    sandbox,
    onThrottling: throttling.listen,
    accountId: () =>
      once("accountId", async () => {
        const { Account } = await (await cloud.sts()).getCallerIdentity({});
        return Account!;
      }),
    lambda: () => client("lambda", async () => new (await import("@aws-sdk/client-lambda")).Lambda(common)),
    cloudControl: () =>
      client("cloudControl", async () => new (await import("@aws-sdk/client-cloudcontrol")).CloudControl(common)),
    cloudFormation: () =>
      client("cloudFormation", async () => new (await import("@aws-sdk/client-cloudformation")).CloudFormation(common)),
    logs: () =>
      client("logs", async () => new (await import("@aws-sdk/client-cloudwatch-logs")).CloudWatchLogs(common)),
    s3: ({ accelerate = false } = {}) =>
      client(`s3 ${accelerate}`, async () => {
        const { S3 } = await import("@aws-sdk/client-s3");
        return new S3({
          ...common,
          // A replaced endpoint has no host names for buckets.
          forcePathStyle: endpoint !== undefined,
          useAccelerateEndpoint: accelerate && endpoint === undefined,
        });
      }),
    iam: () =>
      client(
        "iam",
        async () => new (await import("@aws-sdk/client-iam")).IAM({ ...common, region: globalRegion(region) }),
      ),
    apiGateway: () =>
      client("apiGateway", async () => new (await import("@aws-sdk/client-api-gateway")).APIGateway(common)),
    acm: (at = region) =>
      client(`acm ${at}`, async () => new (await import("@aws-sdk/client-acm")).ACM({ ...common, region: at })),
    route53: () =>
      client(
        "route53",
        async () => new (await import("@aws-sdk/client-route-53")).Route53({ ...common, region: globalRegion(region) }),
      ),
    domains: () =>
      client(
        "domains",
        async () =>
          new (await import("@aws-sdk/client-route-53-domains")).Route53Domains({ ...common, region: GLOBAL_REGION }),
      ),
    ssm: () => client("ssm", async () => new (await import("@aws-sdk/client-ssm")).SSM(common)),
    sns: () => client("sns", async () => new (await import("@aws-sdk/client-sns")).SNS(common)),
    cloudWatch: () =>
      client("cloudWatch", async () => new (await import("@aws-sdk/client-cloudwatch")).CloudWatch(common)),
    scheduler: () => client("scheduler", async () => new (await import("@aws-sdk/client-scheduler")).Scheduler(common)),
    sts: () => client("sts", async () => new (await import("@aws-sdk/client-sts")).STS(common)),
  };
  return cloud;
}

function protocolOf(address: string): string {
  return URL.canParse(address) ? new URL(address).protocol : "";
}

/** China and GovCloud have their own global services, which are reached through any of their regions. */
function globalRegion(region: string): string {
  return region.startsWith("cn-") || region.startsWith("us-gov-") ? region : GLOBAL_REGION;
}
