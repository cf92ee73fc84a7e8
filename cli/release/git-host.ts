import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { Clock } from "../../grammar/units/clock.ts";
import { connectionFailure } from "../team/connection-failure.ts";
import { userAgent } from "../user-agent.ts";
import { withinTime } from "../within-time.ts";
import { ReleaseError } from "./error.ts";
import { isVersion, type ReleaseFile, type ReleaseStatement, verifiedStatement } from "./statement.ts";
import { withoutEdition } from "./version-order.ts";

export interface GitHostOptions {
  /** The project's address in the API: `{origin}/releases/latest`. https alone. */
  readonly origin: string;
  /** GIT_HOST_TOKEN: goes to the host of `origin` and to no other. */
  readonly token: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A release as the Git host lists it. Nothing of it is verified. */
export interface ListedRelease {
  readonly version: string;
  /** The addresses of its files by their names. */
  readonly assets: ReadonlyMap<string, string>;
}

/** The Git host does not send a byte for so long: it is not there. */
const SILENCE_MS = 60_000;
/** Bytes that come in that time at least, 1 KiB a second. A host that sends a byte now and then is never done. */
const LEAST_BYTES = 61_440;
/** Size of a list of files, or of a statement, at most. The archive's size is signed. */
const MAX_TEXT_BYTES = 4_194_304;
const MAX_REDIRECTS = 5;
const LATER = "run this again later";

/** The release of a version, or the newest one. Throws a `ReleaseError` that says what to do. */
export async function findRelease(version: string | undefined, options: GitHostOptions): Promise<ListedRelease> {
  const { origin, token } = options;
  const url = `${origin}/releases/${version === undefined ? "latest" : `tags/v${version}`}`;
  const response = await request(url, options, "application/json");
  const { status } = response;
  if (status !== 200) {
    await response.body?.cancel();
    throw refusal(status, { origin, version, hasToken: token !== undefined });
  }
  const listed = listedRelease(await textOf(response, url, options), token !== undefined);
  if (listed === undefined) throw new ReleaseError("the Git host's answer is not understood", LATER);
  if (version !== undefined && listed.version !== version)
    throw new ReleaseError(`version ${version} was asked for, and the Git host names ${listed.version}`, LATER);
  return listed;
}

function refusal(
  status: number,
  {
    origin,
    version,
    hasToken,
  }: { readonly origin: string; readonly version: string | undefined; readonly hasToken: boolean },
): ReleaseError {
  if (status === 401) {
    return new ReleaseError("the Git host does not accept GIT_HOST_TOKEN (401)", "set a token that is valid, or none");
  }
  if (status === 403 || status === 429) {
    return hasToken
      ? new ReleaseError(
          `the Git host refuses the request (${status}): GIT_HOST_TOKEN may not read the releases, or its own limit is reached`,
          "use another token, or run this again in an hour",
        )
      : new ReleaseError(
          `the Git host refuses the request (${status} Forbidden): its limit for requests without a token is reached`,
          "set GIT_HOST_TOKEN to a token of yours, or run this again in an hour",
        );
  }
  if (status !== 404) return new ReleaseError(`the Git host answers ${status}`, LATER);
  return version === undefined
    ? new ReleaseError(
        `${origin} has no release`,
        "check that the project is there; a private one needs GIT_HOST_TOKEN",
      )
    : new ReleaseError(
        `there is no version ${version}`,
        "see the releases of the project, or leave -t out for the newest",
      );
}

/** With a token the API's own addresses are taken: the others know no token. Undefined if it is not such a release. */
function listedRelease(text: string, hasToken: boolean): ListedRelease | undefined {
  try {
    const { tag_name, assets } = JSON.parse(text);
    const version = withoutEdition(tag_name);
    if (!isVersion(version)) return undefined;
    const entries = (assets as { name: string; url: string; browser_download_url: string }[]).map(
      ({ name, url, browser_download_url }): [string, string] => [name, hasToken ? url : browser_download_url],
    );
    return { version, assets: new Map(entries) };
  } catch {
    return undefined;
  }
}

/** The statement of a release, verified by the pinned keys. Throws a `ReleaseError` if it is not signed. */
export async function fetchStatement(
  release: ListedRelease,
  keys: readonly string[],
  options: GitHostOptions,
): Promise<ReleaseStatement> {
  const bytesOf = async (name: string) => {
    const { response, url } = await assetOf(release, name, options);
    return Buffer.from(await textOf(response, url, options, "latin1"), "latin1");
  };
  const [text, signature] = [await bytesOf("RELEASE"), await bytesOf("RELEASE.ed25519")];
  return verifiedStatement(text, { signature, keys, version: release.version });
}

/**
 * Downloads a file of a release, whose size and sum are signed, and reports how many bytes have come. Throws a `ReleaseError`
 * if it is another one, and errors of the disk as they are.
 */
export async function downloadFile(
  release: ListedRelease,
  { name, bytes, sha256 }: ReleaseFile,
  path: string,
  options: GitHostOptions & { readonly onBytes: (bytes: number) => void },
): Promise<void> {
  const { response, url } = await assetOf(release, name, options);
  const file = await open(path, "wx", 0o600);
  const hash = createHash("sha256");
  let got = 0;
  try {
    for await (const chunk of chunksOf(response, url, options)) {
      got += chunk.length;
      if (got > bytes) break;
      hash.update(chunk);
      await file.writeFile(chunk);
      options.onBytes(got);
    }
  } finally {
    await file.close();
  }
  if (got < bytes) throw new ReleaseError(`${name} is incomplete: ${got} of ${bytes} bytes came`, "run this again");
  if (got > bytes || hash.digest("hex") !== sha256) {
    throw new ReleaseError(
      `${name} is not the file that was signed: its ${got > bytes ? "size" : "sum"} differs`,
      "run this again; if it stays so, report it to the project",
    );
  }
}

async function assetOf({ version, assets }: ListedRelease, name: string, options: GitHostOptions) {
  const url = assets.get(name);
  if (url === undefined)
    throw new ReleaseError(`the release ${version} has no file ${name}`, "choose another version: -t");
  const response = await request(url, options, "application/octet-stream");
  if (response.status === 200) return { response, url };
  await response.body?.cancel();
  throw new ReleaseError(`the download of ${name} failed: the Git host answers ${response.status}`, LATER);
}

/** Follows redirects by hand, as the token must not go with them. */
async function request(first: string, options: GitHostOptions, accept: string): Promise<Response> {
  let url = first;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    if (!URL.canParse(url) || new URL(url).protocol !== "https:")
      throw new ReleaseError(`the Git host names an address that is not https: ${url}`, "report it to the project");
    const response = await answerOf(url, options, accept);
    const location = response.headers.get("location");
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return response;
    await response.body?.cancel();
    if (!URL.canParse(location, url)) break;
    url = new URL(location, url).href;
  }
  throw new ReleaseError(`${first} redirects more than ${MAX_REDIRECTS} times`, LATER);
}

async function answerOf(url: string, { origin, token, clock, signal }: GitHostOptions, accept: string) {
  const isHost = new URL(url).origin === new URL(origin).origin;
  const headers = {
    accept,
    "user-agent": userAgent(),
    ...(isHost && token !== undefined && { authorization: `Bearer ${token}` }),
  };
  try {
    const ask = (stop: AbortSignal) => fetch(url, { headers, redirect: "manual", signal: stop });
    return await withinTime(ask, { limitMs: SILENCE_MS, signal, clock });
  } catch (error) {
    throw unreachable(error, url, signal);
  }
}

/** An interruption stays what it is. */
function unreachable(error: unknown, url: string, signal: AbortSignal): unknown {
  if (signal.aborted || error instanceof ReleaseError) return error;
  const { reason, hint = "check the network, then run this again" } = connectionFailure(error, url);
  return new ReleaseError(`the download of ${url} failed: ${reason}`, hint, { cause: error });
}

const slow = (url: string) =>
  new ReleaseError(
    `the download of ${url} failed: less than ${(LEAST_BYTES / SILENCE_MS) * 1000} bytes a second came for ${SILENCE_MS / 1000} seconds`,
    "check the network, then run this again",
  );

async function* chunksOf(response: Response, url: string, { clock, signal }: GitHostOptions) {
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
  if (reader === undefined) return;
  let sinceMs = clock.monotonicMs();
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await withinTime(() => reader.read(), { limitMs: SILENCE_MS, signal, clock });
      if (done) return;
      bytes += value.length;
      const nowMs = clock.monotonicMs();
      if (nowMs - sinceMs >= SILENCE_MS) {
        if (bytes < LEAST_BYTES) throw slow(url);
        sinceMs = nowMs;
        bytes = 0;
      }
      yield value;
    }
  } catch (error) {
    throw unreachable(error, url, signal);
  } finally {
    // Whether or not it has been read to its end.
    await reader.cancel().catch(() => {});
  }
}

async function textOf(response: Response, url: string, options: GitHostOptions, encoding: BufferEncoding = "utf8") {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(response, url, options)) {
    bytes += chunk.length;
    if (bytes > MAX_TEXT_BYTES) throw new ReleaseError(`${url} has more than ${MAX_TEXT_BYTES} bytes`, LATER);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString(encoding);
}
