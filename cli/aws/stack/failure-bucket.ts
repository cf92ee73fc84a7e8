import type { Cloud } from "../clients.ts";
import { failureBuckets, TAGS } from "../names.ts";

/** The app's buckets for entries that could not be delivered. */
export async function failureBucketsOf(cloud: Cloud, app: string, signal: AbortSignal): Promise<string[]> {
  const s3 = await cloud.s3();
  const [Prefix = ""] = failureBuckets(app).split("*");
  // The same app may be in another region, with a bucket of its own.
  const wanted = { Prefix, BucketRegion: cloud.region };
  const { Buckets = [] } = await s3.listBuckets(wanted, { abortSignal: signal });
  const ours: string[] = [];
  for (const { Name: Bucket = "" } of Buckets) {
    // A longer name is cut, so that another app may have the same beginning.
    const { TagSet = [] } = await s3
      .getBucketTagging({ Bucket }, { abortSignal: signal })
      .catch(() => ({ TagSet: [] }));
    if (TagSet.some(({ Key, Value }) => Key === TAGS.app && Value === app)) ours.push(Bucket);
  }
  return ours;
}

/** Why a bucket stays: it has what exists nowhere else but in the log. Undefined if it is empty. */
export async function whyKept(cloud: Cloud, Bucket: string, signal: AbortSignal): Promise<string | undefined> {
  const { KeyCount = 0, IsTruncated } = await (await cloud.s3()).listObjectsV2({ Bucket }, { abortSignal: signal });
  if (KeyCount === 0) return undefined;
  const files = `${KeyCount}${IsTruncated === true ? " or more" : ""} ${KeyCount === 1 ? "file" : "files"}`;
  return `it holds ${files} of entries that could not be delivered`;
}

/** Returns why it could not be deleted; undefined if it was. */
export async function removeFailureBucket(
  cloud: Cloud,
  Bucket: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const reason = await whyKept(cloud, Bucket, signal);
  if (reason === undefined) await (await cloud.s3()).deleteBucket({ Bucket }, { abortSignal: signal });
  return reason;
}
