// S3: buckets with their settings, objects with their bytes.
import { createHash } from "node:crypto";
import type {
  CreateBucketCommandInput,
  DeleteObjectCommandInput,
  DeleteObjectsCommandInput,
  GetObjectCommandInput,
  HeadBucketCommandInput,
  ListBucketsCommandInput,
  ListObjectsV2CommandInput,
  PutBucketAccelerateConfigurationCommandInput,
  PutBucketLifecycleConfigurationCommandInput,
  PutBucketTaggingCommandInput,
  PutObjectCommandInput,
  PutPublicAccessBlockCommandInput,
} from "@aws-sdk/client-s3";
import { AwsError } from "./protocol/error.ts";
import type { StoredBytes } from "./stored-bytes.ts";
import type { OperationContext, World } from "./world.ts";

export interface StoredObject {
  readonly body: StoredBytes;
  readonly etag: string;
  readonly contentType: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly modifiedAt: Date;
}

export interface Bucket {
  readonly name: string;
  readonly region: string;
  readonly createdAt: Date;
  /** Names are global: a test gives one to another account. */
  owner: string;
  readonly objects: Map<string, StoredObject>;
  lifecycle?: PutBucketLifecycleConfigurationCommandInput["LifecycleConfiguration"];
  accelerate?: string;
  publicAccess?: PutPublicAccessBlockCommandInput["PublicAccessBlockConfiguration"];
  tags?: PutBucketTaggingCommandInput["Tagging"];
}

/** "Bucket names must be between 3 and 63 characters long, of lowercase letters, numbers, periods and hyphens." */
const BUCKET_NAME = /^(?!xn--|\d+\.\d+\.\d+\.\d+$)(?!.*\.\.)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

/** "ListObjectsV2 returns up to 1,000 objects." */
const MAX_KEYS = 1000;

const listed = (some: readonly Bucket[], { Prefix = "", BucketRegion }: ListBucketsCommandInput) =>
  some
    .filter(({ name, region }) => name.startsWith(Prefix) && region === (BucketRegion ?? region))
    .map(({ name, createdAt }) => ({ Name: name, CreationDate: createdAt }));

export function openS3(world: World) {
  const buckets = world.collection<Bucket>("s3", "", "buckets");

  const bucketNamed = (name: string | undefined): Bucket => {
    const bucket = buckets.get(name ?? "");
    if (bucket === undefined) throw new AwsError("NoSuchBucket", "The specified bucket does not exist", 404);
    return bucket;
  };
  const objectOf = (input: GetObjectCommandInput): StoredObject => {
    const object = bucketNamed(input.Bucket).objects.get(input.Key ?? "");
    if (object === undefined) throw new AwsError("NoSuchKey", "The specified key does not exist.", 404);
    return object;
  };
  const head = (object: StoredObject) => ({
    ContentLength: object.body.length,
    ContentType: object.contentType,
    ETag: object.etag,
    LastModified: object.modifiedAt,
    Metadata: object.metadata,
  });

  const operations = {
    ListBuckets: (input: ListBucketsCommandInput = {}) => ({
      Buckets: listed([...buckets.values()], input),
      Owner: { ID: "standin" },
    }),
    CreateBucket(input: CreateBucketCommandInput, call: OperationContext) {
      const name = input.Bucket ?? "";
      if (!BUCKET_NAME.test(name)) throw new AwsError("InvalidBucketName", "The specified bucket is not valid.");
      const region = input.CreateBucketConfiguration?.LocationConstraint ?? "us-east-1";
      if (region !== call.region) {
        throw new AwsError(
          "IllegalLocationConstraintException",
          `The ${region === "us-east-1" ? "unspecified" : region} location constraint is incompatible for the region specific endpoint this request was sent to.`,
        );
      }
      const existing = buckets.get(name);
      if (existing !== undefined && existing.owner !== world.accountId) {
        throw new AwsError(
          "BucketAlreadyExists",
          "The requested bucket name is not available. The bucket namespace is shared by all users of the system. Please select a different name and try again.",
          409,
        );
      }
      if (existing !== undefined) {
        throw new AwsError(
          "BucketAlreadyOwnedByYou",
          "Your previous request to create the named bucket succeeded and you already own it.",
          409,
        );
      }
      buckets.set(name, { name, region, createdAt: world.clock.date(), owner: world.accountId, objects: new Map() });
      return { Location: `/${name}` };
    },
    HeadBucket: (input: HeadBucketCommandInput) => ({ BucketRegion: bucketNamed(input.Bucket).region }),
    GetBucketLocation: (input: HeadBucketCommandInput) => ({ LocationConstraint: bucketNamed(input.Bucket).region }),
    DeleteBucket(input: HeadBucketCommandInput) {
      const bucket = bucketNamed(input.Bucket);
      if (bucket.objects.size > 0)
        throw new AwsError("BucketNotEmpty", "The bucket you tried to delete is not empty", 409);
      buckets.delete(bucket.name);
    },
    PutObject(input: PutObjectCommandInput) {
      const body = Buffer.from((input.Body as Uint8Array | undefined) ?? "");
      const etag = `"${createHash("md5").update(body).digest("hex")}"`;
      if (input.IfNoneMatch === "*" && bucketNamed(input.Bucket).objects.has(input.Key ?? "")) {
        throw new AwsError("PreconditionFailed", "At least one of the pre-conditions you specified did not hold", 412);
      }
      bucketNamed(input.Bucket).objects.set(input.Key ?? "", {
        body: world.keep(body),
        etag,
        contentType: input.ContentType ?? "application/octet-stream",
        metadata: input.Metadata ?? {},
        modifiedAt: world.clock.date(),
      });
      return { ETag: etag };
    },
    GetObject(input: GetObjectCommandInput) {
      const object = objectOf(input);
      return { ...head(object), Body: object.body.read() };
    },
    HeadObject: (input: GetObjectCommandInput) => head(objectOf(input)),
    DeleteObject(input: DeleteObjectCommandInput) {
      // "If the object doesn't exist, S3 still responds that the command was successful."
      bucketNamed(input.Bucket).objects.delete(input.Key ?? "");
      return {};
    },
    DeleteObjects(input: DeleteObjectsCommandInput) {
      const { objects } = bucketNamed(input.Bucket);
      const keys = (input.Delete?.Objects ?? []).map(({ Key = "" }) => Key);
      for (const key of keys) objects.delete(key);
      return input.Delete?.Quiet ? {} : { Deleted: keys.map((Key) => ({ Key })) };
    },
    ListObjectsV2(input: ListObjectsV2CommandInput) {
      const prefix = input.Prefix ?? "";
      const after = input.ContinuationToken ?? input.StartAfter ?? "";
      const keys = [...bucketNamed(input.Bucket).objects.keys()]
        .filter((key) => key.startsWith(prefix) && key > after)
        .sort();
      const page = keys.slice(0, Math.min(input.MaxKeys ?? MAX_KEYS, MAX_KEYS));
      const isTruncated = page.length < keys.length;
      return {
        Name: input.Bucket,
        Prefix: prefix,
        KeyCount: page.length,
        MaxKeys: input.MaxKeys ?? MAX_KEYS,
        IsTruncated: isTruncated,
        ...(isTruncated && { NextContinuationToken: page[page.length - 1] }),
        Contents: page.map((key) => {
          const object = bucketNamed(input.Bucket).objects.get(key)!;
          return {
            Key: key,
            Size: object.body.length,
            ETag: object.etag,
            LastModified: object.modifiedAt,
            StorageClass: "STANDARD",
          };
        }),
      };
    },
    PutBucketLifecycleConfiguration(input: PutBucketLifecycleConfigurationCommandInput) {
      bucketNamed(input.Bucket).lifecycle = input.LifecycleConfiguration;
      return {};
    },
    PutBucketAccelerateConfiguration(input: PutBucketAccelerateConfigurationCommandInput) {
      if (/\./.test(input.Bucket ?? "")) {
        throw new AwsError(
          "InvalidRequest",
          "S3 Transfer Acceleration is not supported for buckets with periods (.) in their names",
        );
      }
      bucketNamed(input.Bucket).accelerate = input.AccelerateConfiguration?.Status ?? "Suspended";
    },
    GetBucketAccelerateConfiguration(input: HeadBucketCommandInput) {
      const { accelerate } = bucketNamed(input.Bucket);
      return accelerate === undefined ? {} : { Status: accelerate };
    },
    PutPublicAccessBlock(input: PutPublicAccessBlockCommandInput) {
      bucketNamed(input.Bucket).publicAccess = input.PublicAccessBlockConfiguration;
    },
    PutBucketTagging(input: PutBucketTaggingCommandInput) {
      bucketNamed(input.Bucket).tags = input.Tagging;
    },
    GetBucketTagging(input: HeadBucketCommandInput) {
      const { tags } = bucketNamed(input.Bucket);
      if (tags === undefined) throw new AwsError("NoSuchTagSet", "The TagSet does not exist", 404);
      return { TagSet: tags.TagSet };
    },
  };
  return { operations: withOwners(operations), buckets };

  /** "If the account ID that you provide does not match the actual owner of the bucket, the request fails with 403." */
  function withOwners<All extends object>(all: All): All {
    const checked = Object.entries(all).map(([name, run]) => [
      name,
      (input: { Bucket?: string; ExpectedBucketOwner?: string }, call: OperationContext) => {
        const owner = buckets.get(input.Bucket ?? "")?.owner;
        const expected = input.ExpectedBucketOwner ?? owner;
        if (owner !== undefined && expected !== owner) throw new AwsError("AccessDenied", "Access Denied", 403);
        return run(input, call);
      },
    ]);
    return Object.fromEntries(checked) as All;
  }
}
