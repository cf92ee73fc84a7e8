import { readFile } from "node:fs/promises";
import type { BucketLocationConstraint, S3 } from "@aws-sdk/client-s3";
import { PlatformError } from "../../platform/error.ts";
import type { Cloud } from "../clients.ts";
import { bucketName, TAGS } from "../names.ts";

/** An archive as the function service takes it. */
export type CodeSource = { readonly ZipFile: Uint8Array } | { readonly S3Bucket: string; readonly S3Key: string };

export interface Archive {
  /** The bytes, or the path of a file that holds them. */
  readonly zip: Uint8Array | string;
  readonly sha256Base64: string;
  readonly bytes: number;
}

export interface UploadOptions {
  readonly key: string;
  /** Sent through the edge of the object storage that is nearest. */
  readonly accelerate: boolean;
  readonly accountId: () => Promise<string>;
  readonly signal: AbortSignal;
}

/** The function service takes archives of up to this size in a call; larger ones from a bucket. */
const MAX_DIRECT_BYTES = 50 * 1024 * 1024;

/** Sent along with the call where it may be; else uploaded under its hash, unless it lies there already. */
export async function codeSource(cloud: Cloud, archive: Archive, options: UploadOptions): Promise<CodeSource> {
  if (archive.bytes <= MAX_DIRECT_BYTES && !options.accelerate) {
    return { ZipFile: typeof archive.zip === "string" ? await readFile(archive.zip) : archive.zip };
  }
  const { key, signal } = options;
  const accountId = await options.accountId();
  const bucket = bucketName(accountId, cloud.region);
  const s3 = await cloud.s3();
  const found = await head(s3, { Bucket: bucket, Key: key, ExpectedBucketOwner: accountId }, signal);
  if (found !== "object") {
    if (found === "nothing") await createBucket(s3, bucket, cloud.region, signal);
    if (options.accelerate) {
      await s3.putBucketAccelerateConfiguration(
        { Bucket: bucket, ExpectedBucketOwner: accountId, AccelerateConfiguration: { Status: "Enabled" } },
        { abortSignal: signal },
      );
    }
    // In memory: a stream could not be sent again. The platform's limit keeps it below 250 MB.
    const body = typeof archive.zip === "string" ? await readFile(archive.zip) : archive.zip;
    await (await cloud.s3({ accelerate: options.accelerate })).putObject(
      {
        Bucket: bucket,
        Key: key,
        Body: body,
        ContentLength: archive.bytes,
        ContentType: "application/zip",
        ChecksumSHA256: archive.sha256Base64,
        ExpectedBucketOwner: accountId,
      },
      { abortSignal: signal },
    );
  }
  return { S3Bucket: bucket, S3Key: key };
}

/** What there is already. A bucket of this name that another account has is refused: names are global. */
export async function head(
  s3: S3,
  input: { Bucket: string; Key: string; ExpectedBucketOwner: string },
  signal: AbortSignal,
): Promise<"object" | "bucket" | "nothing"> {
  try {
    await s3.headObject(input, { abortSignal: signal });
    return "object";
  } catch (error) {
    if (statusOf(error) !== 404) throw foreign(error, input.Bucket);
  }
  // The answer to a HEAD has no body that could say which of both is missing.
  try {
    const { Bucket, ExpectedBucketOwner } = input;
    await s3.headBucket({ Bucket, ExpectedBucketOwner }, { abortSignal: signal });
    return "bucket";
  } catch (error) {
    if (statusOf(error) !== 404) throw foreign(error, input.Bucket);
    return "nothing";
  }
}

export async function createBucket(s3: S3, bucket: string, region: string, signal: AbortSignal): Promise<void> {
  try {
    await s3.createBucket(
      {
        Bucket: bucket,
        // The first region of all has no name here.
        ...(region !== "us-east-1" && {
          CreateBucketConfiguration: { LocationConstraint: region as BucketLocationConstraint },
        }),
      },
      { abortSignal: signal },
    );
  } catch (error) {
    // Another deploy was faster.
    if ((error as Error).name !== "BucketAlreadyOwnedByYou") throw error;
  }
  await s3.putPublicAccessBlock(
    {
      Bucket: bucket,
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
    },
    { abortSignal: signal },
  );
  await s3.putBucketTagging(
    { Bucket: bucket, Tagging: { TagSet: [{ Key: TAGS.app, Value: "tool" }] } },
    { abortSignal: signal },
  );
}

/** A HEAD is refused without a word. */
function foreign(error: unknown, bucket: string): unknown {
  if (statusOf(error) !== 403) return error;
  return new PlatformError(
    "access/denied",
    `the bucket ${bucket} may not be used: it belongs to another account, or s3:GetObject and s3:ListBucket are not allowed`,
    "tool stack policy prints all that is needed",
    { cause: error },
  );
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
