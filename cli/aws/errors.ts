import { PlatformError } from "../platform/error.ts";

/** Where a call was made, which its error message may mention. */
export interface CallContext {
  readonly region: string;
  readonly profile?: string | undefined;
  readonly isSandbox?: boolean;
}

/** Turns errors of the SDK, the services and the network that `run` throws into a PlatformError. */
export async function explained<T>(context: CallContext, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw explainError(error, context) ?? error;
  }
}

/**
 * Explains what a failed call means and what to do about it. Undefined for errors of another origin: an interruption,
 * or a bug of ours.
 */
export function explainError(thrown: unknown, context: CallContext): PlatformError | undefined {
  if (thrown instanceof PlatformError || !(thrown instanceof Error)) return undefined;
  const error = factsOf(thrown);
  if (context.isSandbox === true && error.code !== undefined && SANDBOX_GONE.includes(error.code)) {
    return new PlatformError(
      "sandbox/gone",
      "the sandbox was stopped",
      "run the command again: it starts the sandbox",
      {
        cause: thrown,
      },
    );
  }
  if (error.name === "SandboxStorageFull") {
    return new PlatformError("sandbox/full", withoutPeriod(error.message), undefined, { cause: thrown });
  }
  const row = ROWS.find(({ names, codes, matches }) => {
    const isNamed = names?.includes(error.name) || (error.code !== undefined && codes?.includes(error.code));
    return (names === undefined && codes === undefined) || isNamed ? (matches?.test(error.message) ?? true) : false;
  });
  if (row === undefined) {
    if (error.status === undefined) return undefined;
    const retry = error.status >= 500 || error.status === 429;
    return new PlatformError(
      retry ? "platform/unavailable" : "platform/refused",
      retry
        ? `the cloud reported an internal error: ${error.name} (${error.status})`
        : `the cloud refused the request: ${withoutPeriod(error.message) || error.name}`,
      retry ? "wait a minute and run the command again" : undefined,
      { cause: thrown },
    );
  }
  const [message, hint] = row.say(error, context);
  return new PlatformError(row.code, message, hint, { cause: thrown });
}

interface Facts {
  readonly name: string;
  /** The error code of the system, such as ECONNREFUSED. */
  readonly code: string | undefined;
  readonly message: string;
  /** The status of the HTTP response. */
  readonly status: number | undefined;
  readonly host: string | undefined;
}

interface Row {
  readonly code: string;
  /** Error names. If a row has neither names nor codes, the message alone decides. */
  readonly names?: readonly string[];
  readonly codes?: readonly string[];
  readonly matches?: RegExp;
  say(error: Facts, context: CallContext): readonly [message: string, hint: string];
}

/** How the end of the sandbox's process shows. */
const SANDBOX_GONE = ["ECONNREFUSED", "ECONNRESET", "EPIPE"];

const RUN_AGAIN = "run the command again: it continues with what exists";

/** The names that the services have for the error of too many calls. */
const THROTTLING = [
  "Throttling",
  "ThrottlingException",
  "ThrottledException",
  "TooManyRequestsException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "SlowDown",
  "PriorRequestNotComplete",
];

export function isThrottled(error: unknown): boolean {
  return error instanceof Error && THROTTLING.includes(error.name);
}

/** The first match wins. The names are from each service's page on common errors; every service spells them its own way. */
const ROWS: readonly Row[] = [
  {
    code: "credentials/expired",
    names: ["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"],
    say: (_, context) => ["the cloud credentials have expired", renewal(context)],
  },
  {
    code: "credentials/expired",
    names: ["CredentialsProviderError", "TokenProviderError", "UnauthorizedException"],
    matches: /sso|token.*(expired|invalid|refresh)|login/i,
    say: (_, context) => ["the single sign-on session has expired, or was never started", renewal(context)],
  },
  {
    code: "credentials/missing",
    names: ["CredentialsProviderError"],
    matches: /could not load credentials from any providers/i,
    say: () => [
      "there are no cloud credentials",
      'name a profile of ~/.aws as "profile" in tool.json or by CLOUD_PROFILE, set CLOUD_ACCESS_KEY_ID and CLOUD_SECRET_ACCESS_KEY (or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), or sign in: aws sso login; without an account, add --sandbox to work on this machine',
    ],
  },
  {
    code: "credentials/unusable",
    names: ["CredentialsProviderError"],
    say: ({ message }, { profile }) => [
      `the credentials${profile === undefined ? "" : ` of the profile ${JSON.stringify(profile)}`} cannot be used: ${withoutPeriod(message)}`,
      "see ~/.aws/config and ~/.aws/credentials, or set CLOUD_ACCESS_KEY_ID and CLOUD_SECRET_ACCESS_KEY",
    ],
  },
  {
    code: "clock/skewed",
    names: [
      "RequestTimeTooSkewed",
      "RequestExpired",
      "RequestInTheFuture",
      "InvalidSignatureException",
      "SignatureDoesNotMatch",
    ],
    matches: /expired|not yet current|too large|too skewed|in the future/i,
    say: () => ["this machine's clock is wrong: the cloud rejects requests with an old timestamp", "set the clock"],
  },
  {
    code: "credentials/invalid",
    names: ["InvalidClientTokenId", "UnrecognizedClientException", "InvalidAccessKeyId", "InvalidToken", "AuthFailure"],
    say: (_, { region }) => [
      "the cloud does not know the access key",
      OPT_IN.test(region)
        ? `it was deleted or mistyped, or the region ${region} is not enabled for the account`
        : "it was deleted, disabled or mistyped: check where the credentials come from",
    ],
  },
  {
    code: "credentials/invalid",
    names: ["InvalidSignatureException", "SignatureDoesNotMatch", "IncompleteSignature"],
    // The service's message quotes what was signed, which includes the session token.
    say: () => ["the secret access key does not belong to the access key", "check where the credentials come from"],
  },
  {
    code: "region/off",
    names: ["OptInRequired", "RegionDisabledException", "SubscriptionRequiredException"],
    say: (_, { region }) => [
      `the account may not use this service in the region ${region}`,
      "enable the region in the account's settings, or name another in tool.json",
    ],
  },
  {
    code: "access/denied",
    names: [
      "AccessDenied",
      "AccessDeniedException",
      "AuthorizationError",
      "AuthorizationErrorException",
      "UnauthorizedOperation",
      "Forbidden",
    ],
    say: ({ message }) => denied(message),
  },
  {
    code: "platform/throttled",
    names: THROTTLING,
    say: () => [
      "the cloud is throttling requests, after several retries too",
      `another client of this account may cause it: wait a minute, then ${RUN_AGAIN}`,
    ],
  },
  {
    code: "platform/limit",
    names: ["CodeStorageExceededException"],
    say: () => [
      "the account's storage for function code is full",
      "remove old deployments: tool prune, in each app; or ask the cloud provider for a higher limit",
    ],
  },
  {
    code: "platform/limit",
    names: ["LimitExceededException", "LimitExceeded", "ServiceQuotaExceededException"],
    say: ({ message }) => [
      `a limit of the account is reached: ${withoutPeriod(message)}`,
      "remove unused resources, or ask the cloud provider for a higher limit",
    ],
  },
  {
    code: "platform/unreadable",
    // The SDK's message quotes a part of the answer.
    matches: /Deserialization error|is not valid JSON|Unexpected token/,
    say: ({ host }) => [
      `the answer of ${host ?? "the cloud"} cannot be read`,
      "a proxy on the way may have changed it; check TOOL_AWS_ENDPOINT if it is set",
    ],
  },
  {
    code: "network/unreachable",
    codes: ["ENOTFOUND", "EAI_AGAIN"],
    say: ({ host }, { region }) => [
      `cannot reach ${host ?? "the cloud"}: its name is not found`,
      `check the network${REGION_ID.test(region) ? "" : `, and the region: ${JSON.stringify(region)} looks like none`}`,
    ],
  },
  {
    code: "network/untrusted",
    codes: [
      "SELF_SIGNED_CERT_IN_CHAIN",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      "CERT_HAS_EXPIRED",
      "ERR_TLS_CERT_ALTNAME_INVALID",
    ],
    say: ({ code }) => [
      `the connection to the cloud is not trusted: ${code}`,
      "a corporate proxy may intercept it: set NODE_EXTRA_CA_CERTS to its certificate",
    ],
  },
  {
    code: "network/unreachable",
    names: ["TimeoutError"],
    codes: [
      "ECONNREFUSED",
      "ECONNRESET",
      "EHOSTUNREACH",
      "ENETUNREACH",
      "ENETDOWN",
      "ETIMEDOUT",
      "EPIPE",
      "ERR_SOCKET_CONNECTION_TIMEOUT",
    ],
    say: ({ message }) => [
      `the connection to the cloud failed: ${withoutPeriod(message)}`,
      `check the network, then ${RUN_AGAIN}`,
    ],
  },
];

/** Regions that an account has without asking; the others, launched since March 2019, are switched on one by one. */
const OPT_IN =
  /^(?!(us-(east|west)-[12]|ap-south-1|ap-northeast-[123]|ap-southeast-[12]|ca-central-1|eu-(central-1|west-[123]|north-1)|sa-east-1)$)/;
const REGION_ID = /^[a-z]{2}(-[a-z]+)+-\d$/;

function renewal({ profile }: CallContext): string {
  return profile === undefined
    ? "get new ones: aws sso login, or the key and session token of CLOUD_ACCESS_KEY_ID, CLOUD_SECRET_ACCESS_KEY and CLOUD_SESSION_TOKEN"
    : `get new ones: aws sso login --profile ${profile}, or the way you got them`;
}

/** `User: <arn> is not authorized to perform: <action> on resource: <arn> because <reason>`, as most services write. */
function denied(message: string): readonly [string, string] {
  const action = /perform:? ([\w-]+:\w+)/.exec(message)?.[1];
  const resource = /on resource:? (\S+)/.exec(message)?.[1]?.replace(/(?<!\.)[.,]$/, "");
  const who = /(?:User|Principal): (\S+)/.exec(message)?.[1];
  const may = action === undefined ? "this" : action + (resource === undefined ? "" : ` on ${resource}`);
  const isDenied = /explicit deny/i.test(message);
  return [
    `${who ?? "the account's user"} may not do ${may}`,
    isDenied
      ? "a policy denies it: ask the account's administrator"
      : `allow it to that user or role; ${policyThatAllows(message)}`,
  ];
}

/** Which of the two access policies has what a refused call needs. */
export function policyThatAllows(message: string): string {
  return OF_FIREHOSE.test(message)
    ? "tool stack policy --firehose prints what Firehose needs"
    : "tool stack policy prints all that is needed";
}

const OF_FIREHOSE =
  /\bfirehose:|SubscriptionFilter|s3:ListAllMyBuckets|-logfailures-|iam:PassRole\b.*-Log(Stream|Subscription)Role-/;

function factsOf(error: Error): Facts {
  const { name, message, cause } = error;
  const { code, hostname, $metadata } = error as {
    code?: unknown;
    hostname?: unknown;
    $metadata?: { httpStatusCode?: number };
  };
  const inner = cause instanceof Error ? factsOf(cause) : undefined;
  // For a name with several addresses Node throws one error that contains one error for each address.
  const first = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : undefined;
  return {
    name,
    code: typeof code === "string" ? code : inner?.code,
    // Messages are for terminals, and quote what others wrote.
    message: printable(message || first?.message || inner?.message || name),
    status: $metadata?.httpStatusCode,
    host: typeof hostname === "string" ? hostname : inner?.host,
  };
}

const printable = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");

export const withoutPeriod = (text: string) => text.trim().replace(/\.$/, "");
