// The parts of a release: its edition, its version, and the account service that says who has Pro. All of it is a part of the
// program text. The environment variable TOOL_RELEASE has it as JSON:
// {"edition": "pro" | "free", "version"?, "account"?: {"url", "key": the raw public key in base64}}
// Without it the build is Pro, asks nobody, and has the version of package.json.

/**
 * The constants of esbuild's `define` for a release. Throws if TOOL_RELEASE is not as above, so that a slip makes no release:
 * one without an account would give Pro to everybody.
 */
export function releaseDefines(text, packageVersion) {
  const { edition, version, account, ...others } = readRelease(text);
  const unknown = Object.keys(others);
  if (unknown.length > 0) refuse(`has members that nothing reads: ${unknown.join(", ")}`);
  if (edition !== "pro" && edition !== "free") refuse('has no "edition", which is "pro" or "free"');
  if (version !== undefined && !VERSION.test(version)) refuse('has a "version" that is not 1.2.3 or 1.2.3-beta.1');
  if (edition === "free" && account === undefined) {
    refuse('has no "account": the free edition is made only where people can subscribe');
  }
  if (account !== undefined) checkAccount(account);
  return {
    TOOL_VERSION: JSON.stringify(version ?? packageVersion),
    TOOL_EDITION: JSON.stringify(edition),
    TOOL_ACCOUNT: account === undefined ? "undefined" : JSON.stringify({ url: account.url, key: account.key }),
  };
}

/** Without build metadata, which would come after the name of the edition, and without that name: the build appends it. */
const VERSION = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?!.*\bpro$)[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

function readRelease(text) {
  if (text === undefined || text === "") return { edition: "pro" };
  let release;
  try {
    release = JSON.parse(text);
  } catch {
    refuse("is not valid JSON");
  }
  return isObject(release) ? release : refuse("is not a JSON object");
}

function checkAccount(account) {
  const { url, key, ...others } = isObject(account) ? account : refuse('has an "account" that is not an object');
  if (Object.keys(others).length > 0) refuse(`has members in "account" that nothing reads: ${Object.keys(others)}`);
  const address = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  const isLoopback = ["localhost", "127.0.0.1", "[::1]"].includes(address?.hostname);
  const isSafe = address?.protocol === "https:" || (address?.protocol === "http:" && isLoopback);
  if (!isSafe || address.origin !== url) refuse('has no "account.url", an origin such as https://account.example.com');
  const raw = Buffer.from(String(key), "base64");
  if (raw.length !== 32 || raw.toString("base64") !== key) {
    refuse('has no "account.key", a raw Ed25519 public key: 32 bytes in base64');
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

function refuse(why) {
  throw new Error(`TOOL_RELEASE ${why}`);
}
