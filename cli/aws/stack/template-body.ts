import type { Cloud } from "../clients.ts";
import { createBucket, head } from "../function/upload.ts";
import { bucketName, domainSuffix, templateKey } from "../names.ts";
import { type StackInput, sha256, type TemplateDocument } from "./resource.ts";

/** The largest template in a call; in a bucket it may have 1 MB (CloudFormation quotas). */
const MAX_BODY_BYTES = 51_200;

/** Passes a template in the call, or through the bucket of the archives if it is too large. */
export async function templateBody(
  cloud: Cloud,
  { name, accountId }: StackInput,
  template: TemplateDocument,
  signal: AbortSignal,
): Promise<{ readonly TemplateBody: string } | { readonly TemplateURL: string }> {
  const body = JSON.stringify(template);
  if (Buffer.byteLength(body) <= MAX_BODY_BYTES) return { TemplateBody: body };
  const Bucket = bucketName(accountId, cloud.region);
  const Key = templateKey(name, sha256(body));
  const s3 = await cloud.s3();
  const object = { Bucket, Key, ExpectedBucketOwner: accountId };
  const existing = await head(s3, object, signal);
  if (existing === "nothing") await createBucket(s3, Bucket, cloud.region, signal);
  if (existing !== "object") {
    await s3.putObject({ ...object, Body: body, ContentType: "application/json" }, { abortSignal: signal });
  }
  return { TemplateURL: `https://${Bucket}.s3.${cloud.region}.${domainSuffix(cloud.region)}/${Key}` };
}
