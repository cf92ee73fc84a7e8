import { readFile } from "node:fs/promises";
import type { BucketLocationConstraint, S3 } from "@aws-sdk/client-s3";
import { PlatformError } from "../../platform/error.ts";
import type { Cloud } from "../clients.ts";
import { bucketName, TAGS } from "../names.ts";

/** An archive in the form that the Lambda service accepts. */
export type FunctionCode = { readonly ZipFile: Uint8Array } | { readonly S3Bucket: string; readonly S3Key: string };

export interface Archive {
  /** The bytes, or the path of a file that holds them. */
  readonly zip: Uint8Array | string;
  readonly sha256Base64: string;
  readonly bytes: number;
}

export interface UploadOptions {
  readonly key: string;
  /** Whether to upload through the nearest edge location (S3 Transfer Acceleration). */
  readonly accelerate: boolean;
  /** Uploads to a bucket although the object is there already: it is damaged. */
  readonly replaces?: boolean;
  readonly accountId: () => Promise<string>;
  readonly signal: AbortSignal;
}

/** The largest archive that a call may contain; larger ones are uploaded to a bucket. */
const MAX_DIRECT_BYTES = 50 * 1024 * 1024;

/**
 * The archive itself if it is small enough for a call; otherwise it is uploaded under its hash, unless it is there already.
 */
export async function functionCode(cloud: Cloud, archive: Archive, options: UploadOptions): Promise<FunctionCode> {
  if (archive.bytes <= MAX_DIRECT_BYTES && !options.accelerate) {
    return { ZipFile: typeof archive.zip === "string" ? await readFile(archive.zip) : archive.zip };
  }
  const { key, signal } = options;
  const accountId = await options.accountId();
  const bucket = bucketName(accountId, cloud.region);
  const s3 = await cloud.s3();
  const existing = await head(s3, { Bucket: bucket, Key: key, ExpectedBucketOwner: accountId }, signal);
  if (existing !== "object" || options.replaces) {
    if (existing === "nothing") await createBucket(s3, bucket, cloud.region, signal);
    if (options.accelerate) {
      await s3.putBucketAccelerateConfiguration(
        { Bucket: bucket, ExpectedBucketOwner: accountId, AccelerateConfiguration: { Status: "Enabled" } },
        { abortSignal: signal },
      );
    }
    // In memory, as a stream could not be sent again. The platform's limit keeps it below 250 MB.
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

/** Returns what exists already. Throws if the bucket belongs to another account, as bucket names are global. */
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
  // A response to HEAD has no body that could say which of the two is missing.
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
        // us-east-1 is the default and may not be named.
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

/** A refused HEAD says nothing about the reason. */
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
