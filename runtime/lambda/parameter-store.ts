// Reads parameters of Systems Manager, as the function's own role.
import { type IncomingMessage, request as requestHttp } from "node:http";
import type { Clock } from "../../grammar/units/clock.ts";
import { InitError } from "./init-error.ts";
import { type Keys, signedHeaders } from "./sign.ts";

/** "Names: maximum number of 10 items" (API reference of GetParameters). */
const MAX_NAMES = 10;

/**
 * Longest time for all of it. The platform gives a function 10 s to get ready, in which its app has to start, too. A new
 * permission of a role takes some seconds until it is known everywhere.
 */
const MAX_MS = 5_000;

/** Longest time for one answer, which usually takes some 20 ms. */
const ATTEMPT_MS = 2_000;

/** The wait between two attempts begins with the first and doubles up to the second. */
const FIRST_WAIT_MS = 100;
const LAST_WAIT_MS = 1_000;

/** Ten values of 4,096 characters with what the service says about each of them are some 50 KB. */
const MAX_ANSWER_BYTES = 256 * 1024;

interface Store {
  readonly url: URL;
  readonly region: string;
  readonly keys: Keys;
  readonly clock: Clock;
  /** By the monotonic clock. */
  readonly untilMs: number;
}

/** The decrypted values of parameters, by name; one that is not there is absent. Rejects with an `InitError`. */
export async function getParameters(
  names: readonly string[],
  env: NodeJS.ProcessEnv,
  clock: Clock,
): Promise<ReadonlyMap<string, string>> {
  const store = storeOf(env, clock);
  const groups = Array.from({ length: Math.ceil(names.length / MAX_NAMES) }, (_, i) =>
    names.slice(i * MAX_NAMES, (i + 1) * MAX_NAMES),
  );
  const entries = await Promise.all(groups.map((group) => getGroup(store, group)));
  return new Map(entries.flat());
}

function storeOf(env: NodeJS.ProcessEnv, clock: Clock): Store {
  const { AWS_REGION: region, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!region || !accessKeyId || !secretAccessKey) {
    throw noVariables(`${CANNOT}: the platform gave the function no AWS_REGION or no keys`);
  }
  const sessionToken = env.AWS_SESSION_TOKEN || undefined;
  const keys = { accessKeyId, secretAccessKey, sessionToken };
  return { url: ssmEndpoint(env, region), region, keys, clock, untilMs: clock.monotonicMs() + MAX_MS };
}

/** As the SDKs find it ("Service-specific endpoints"); an address for all services may be that of the app's own storage. */
export function ssmEndpoint(env: NodeJS.ProcessEnv, region: string): URL {
  const isIgnored = env.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS === "true";
  const configured = isIgnored ? undefined : env.AWS_ENDPOINT_URL_SSM || undefined;
  const suffix = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const text = configured ?? `https://ssm.${region}.${suffix}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw noVariables(`${CANNOT}: AWS_ENDPOINT_URL_SSM of the function is no http or https URL`);
  }
  url.search = "";
  return url;
}

/** Result of one attempt; an error that is not final is retried. */
type Outcome = { readonly answer: unknown } | Failure;

interface Failure {
  readonly error: InitError;
  readonly isFinal: boolean;
  /** Whether the service said so, or nothing came. */
  readonly isAnswer: boolean;
}

async function getGroup(store: Store, names: readonly string[]): Promise<[name: string, value: string][]> {
  const { clock, untilMs } = store;
  let failure: Failure | undefined;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LAST_WAIT_MS)) {
    const outcome = await attempt(store, names);
    if ("answer" in outcome) return valuesOf(outcome.answer, names);
    // The last attempt was cut short: it would hide why the others failed.
    if (failure !== undefined && clock.monotonicMs() >= untilMs) throw failure.error;
    // That the service refuses says more than that it does not answer a later attempt.
    if (!failure?.isAnswer || outcome.isAnswer) failure = outcome;
    // Jitter: functions that start together should not retry together.
    const pauseMs = waitMs * (0.5 + Math.random() / 2);
    if (outcome.isFinal || clock.monotonicMs() + pauseMs >= untilMs) throw failure.error;
    await clock.sleep(pauseMs);
  }
}

async function attempt(store: Store, names: readonly string[]): Promise<Outcome> {
  const { url } = store;
  let answer: { status: number; body: string };
  try {
    answer = await post(store, JSON.stringify({ Names: names, WithDecryption: true }));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === TOO_LARGE) return refused("answers more than parameters can have");
    return {
      error: noVariables(
        `${CANNOT}: Systems Manager at ${url.host} gives no answer (${code ?? message}): in a VPC, the function needs a way there, such as an endpoint of the VPC for ssm`,
      ),
      isFinal: false,
      isAnswer: false,
    };
  }
  const { status, body } = answer;
  const document = parsed(body);
  if (status === 200) {
    if (document !== undefined) return { answer: document };
    return refused("answers 200, but no JSON");
  }
  const code = codeOf(document);
  if (code === "AccessDeniedException") {
    return {
      error: denied(store, names[0]!, (document as { message?: unknown }).message),
      isFinal: false,
      isAnswer: true,
    };
  }
  const isBusy = status >= 500 || status === 429 || BUSY.test(code);
  return refused(`answers ${status} ${code}`.trim(), !isBusy);

  function refused(how: string, isFinal = true): Outcome {
    const error = noVariables(
      `${CANNOT}: Systems Manager at ${url.host} ${how}: deploy the stage again if this stays so`,
    );
    return { error, isFinal, isAnswer: true };
  }
}

/** Codes with 400 that mean that the same request may succeed later. */
const BUSY = /^(Throttling|ThrottlingException|ThrottledException|TooManyRequestsException|RequestLimitExceeded)$/;

const TOO_LARGE = "TOO_LARGE";

/** The body of an answer as a whole; redirects are answers, too. Rejects if there is none in time. */
async function post(
  { url, region, keys, clock, untilMs }: Store,
  body: string,
): Promise<{ status: number; body: string }> {
  // Imported late: TLS takes some milliseconds to load.
  const request = url.protocol === "https:" ? (await import("node:https")).request : requestHttp;
  const headers = signedHeaders(
    {
      method: "POST",
      url,
      headers: { "content-type": "application/x-amz-json-1.1", "x-amz-target": "AmazonSSM.GetParameters" },
      body,
    },
    { keys, region, service: "ssm", nowMs: clock.nowMs() },
  );
  return new Promise((resolve, reject) => {
    // No agent: no connection stays open while the platform stops this process between two invocations.
    const req = request(url, {
      method: "POST",
      agent: false,
      headers: { ...headers, "content-length": `${Buffer.byteLength(body)}` },
    });
    const fail = (error: Error) => {
      timer.stop();
      reject(error);
      req.destroy();
    };
    const limitMs = Math.max(1, Math.min(ATTEMPT_MS, untilMs - clock.monotonicMs()));
    const timer = clock.after(limitMs, () => fail(problem("ETIMEDOUT")));
    req.on("error", fail);
    req.on("response", (response: IncomingMessage) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on("data", (part: Buffer) => {
        bytes += part.length;
        if (bytes > MAX_ANSWER_BYTES) fail(problem(TOO_LARGE));
        else parts.push(part);
      });
      response.on("error", fail);
      response.on("close", () => fail(problem("ECONNRESET")));
      response.on("end", () => {
        if (!response.complete) return fail(problem("ECONNRESET"));
        timer.stop();
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() });
      });
    });
    req.end(body);
  });
}

const problem = (code: string) => Object.assign(new Error(code), { code });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The message of JSON.parse quotes the text, which may be a value.
    return undefined;
  }
}

/** `__type` may have a namespace in front. */
function codeOf(document: unknown): string {
  const { __type: type } = (document ?? {}) as { __type?: unknown };
  return /(?:^|#)([A-Za-z]{1,64})$/.exec(String(type ?? ""))?.[1] ?? "";
}

/** The service's message names action and resource: those of KMS if the parameters are encrypted with a key of the user's. */
function denied({ region }: Store, name: string, message: unknown): InitError {
  const said = typeof message === "string" ? message : "";
  const action = /not authorized to perform: (\w+:\w+)/.exec(said)?.[1] ?? "ssm:GetParameters";
  const partition = region.startsWith("cn-") ? "aws-cn" : region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
  const below = `arn:${partition}:ssm:${region}:*:parameter${name.slice(0, name.indexOf("/.deployed/"))}/.deployed/*`;
  const key = /on resource: (arn:[\w:/.-]+)/.exec(said)?.[1];
  const resource = action === "ssm:GetParameters" ? below : (key ?? "the key that encrypts them");
  return noVariables(
    `${CANNOT}: the function's role may not read ${name}: allow ${action} on ${resource}, or deploy the stage again if the tool made the role`,
  );
}

function valuesOf(answer: unknown, names: readonly string[]): [name: string, value: string][] {
  const { Parameters: list } = (answer ?? {}) as { Parameters?: unknown };
  if (!Array.isArray(list)) throw noVariables(`${CANNOT}: Systems Manager answers no list of parameters`);
  return list.flatMap((one): [string, string][] => {
    const { Name: name, Value: value } = (one ?? {}) as { Name?: unknown; Value?: unknown };
    return typeof name === "string" && typeof value === "string" && names.includes(name) ? [[name, value]] : [];
  });
}

/** How most messages begin. */
export const CANNOT = "this version's variables cannot be read";

export function noVariables(message: string): InitError {
  return new InitError("Tool.NoVariables", message);
}
