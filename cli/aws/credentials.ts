import { PlatformError } from "../platform/error.ts";
import { profileNames, unreadableProfiles } from "../project/profile-region.ts";
import { profilesError } from "./profile-files.ts";

type Env = Readonly<Record<string, string | undefined>>;

export interface CredentialsOptions {
  readonly env: Env;
  /** `profile` of tool.json, else CLOUD_PROFILE. */
  readonly profile?: string | undefined;
  readonly region: string;
}

/** The SDK's form of credentials. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

export type CredentialsSource =
  | { readonly kind: "profile"; readonly name: string }
  | { readonly kind: "keys"; readonly keys: AwsCredentials }
  /** The SDK's own chain: AWS_* variables, the default profile, single sign-on, web identity, containers, instances. */
  | { readonly kind: "chain" }
  | { readonly kind: "wrong"; readonly message: string; readonly hint: string };

/**
 * Which credentials are used: a named profile, CLOUD_ACCESS_KEY_ID with its secret, then the SDK's own chain. A profile
 * takes precedence over keys because it names the account that the app belongs to. A profile that this machine does not
 * have is ignored if variables provide credentials: that is CI with a developer's tool.json. Pure except for `hasProfile`.
 */
export function credentialsSource(
  { env, profile }: Pick<CredentialsOptions, "env" | "profile">,
  hasProfile: (name: string) => boolean,
): CredentialsSource {
  const accessKeyId = env.CLOUD_ACCESS_KEY_ID || undefined;
  const secretAccessKey = env.CLOUD_SECRET_ACCESS_KEY || undefined;
  const sessionToken = env.CLOUD_SESSION_TOKEN || undefined;
  if (profile !== undefined && hasProfile(profile)) return { kind: "profile", name: profile };
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return {
      kind: "keys",
      keys: { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) },
    };
  }
  if (accessKeyId !== undefined || secretAccessKey !== undefined) {
    const [there, missing] =
      accessKeyId !== undefined
        ? ["CLOUD_ACCESS_KEY_ID", "CLOUD_SECRET_ACCESS_KEY"]
        : ["CLOUD_SECRET_ACCESS_KEY", "CLOUD_ACCESS_KEY_ID"];
    return { kind: "wrong", message: `${there} is set but ${missing} is not`, hint: `set ${missing} too` };
  }
  if (profile !== undefined && !CREDENTIAL_VARIABLES.some((name) => env[name])) {
    return {
      kind: "wrong",
      message: `there is no credentials profile ${JSON.stringify(profile)} on this machine`,
      hint: `add it to ~/.aws/credentials, or name another as "profile" in tool.json or by CLOUD_PROFILE`,
    };
  }
  return { kind: "chain" };
}

/** Variables that show that credentials were provided on purpose. */
export const CREDENTIAL_VARIABLES = [
  "AWS_ACCESS_KEY_ID",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/** A credentials provider for the clients. With keys, as in CI, nothing has to be loaded. */
export function credentialsOf(options: CredentialsOptions): () => Promise<AwsCredentials> {
  const source = credentialsSource(options, (name) => profileNames(options.env).has(name));
  if (source.kind === "keys") return async () => source.keys;
  // The SDK takes a file that it cannot read for an empty one, which other sources of credentials make up for, or do not.
  const unreadable = () => unreadableProfiles(options.env);
  if (source.kind === "wrong") {
    return async () => {
      const file = options.profile === undefined ? undefined : unreadable();
      throw file === undefined
        ? new PlatformError("credentials/missing", source.message, source.hint)
        : profilesError(file);
    };
  }
  let provider: Promise<() => Promise<AwsCredentials>> | undefined;
  return async () => {
    provider ??= import("@aws-sdk/credential-providers").then(({ fromNodeProviderChain }) =>
      fromNodeProviderChain({
        clientConfig: { region: options.region },
        ...(source.kind === "profile" && { profile: source.name }),
      }),
    );
    const provide = await provider;
    return provide().catch((error: unknown) => {
      const file = (error as Error).name === "CredentialsProviderError" ? unreadable() : undefined;
      throw file === undefined ? error : profilesError(file, { cause: error });
    });
  };
}
