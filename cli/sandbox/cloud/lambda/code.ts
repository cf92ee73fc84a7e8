// The code of a function or a layer: an archive that came with the request or is in a bucket.
import { AwsError } from "../protocol/error.ts";
import type { StoredBytes } from "../stored-bytes.ts";
import { type FunctionCode, invalidParameterValue, type LambdaState } from "./state.ts";
import { type ArchiveEntry, readZip } from "./unzip.ts";

/** "50 MB (zipped, for direct upload)", of which the whole request in base64 must be below this. */
const MAX_DIRECT_BYTES = 50 * 1024 * 1024;
const MAX_REQUEST_BYTES = 70_167_211;

/** "250 MB: the contents of a deployment package, including layers, unzipped." */
export const MAX_UNPACKED_BYTES = 262_144_000;

export interface FunctionCodeSource {
  readonly ZipFile?: Uint8Array | undefined;
  readonly S3Bucket?: string | undefined;
  readonly S3Key?: string | undefined;
}

export function functionCodeOf(state: LambdaState, source: FunctionCodeSource): FunctionCode {
  const zip = source.ZipFile === undefined ? fromBucket(state, source) : state.world.keep(Buffer.from(source.ZipFile));
  if (source.ZipFile !== undefined && zip.length > MAX_DIRECT_BYTES) {
    throw new AwsError(
      "RequestEntityTooLargeException",
      `Request must be smaller than ${MAX_REQUEST_BYTES} bytes for the UpdateFunctionCode operation`,
      413,
    );
  }
  const bytes = zip.read();
  let entries: ArchiveEntry[];
  try {
    entries = readZip(bytes);
  } catch {
    throw invalidParameterValue("Could not unzip uploaded file. Please check your file, then try to upload again.");
  }
  if (entries.length === 0) throw invalidParameterValue("Uploaded file must be a non-empty zip");
  const unpackedBytes = entries.reduce((sum, { size }) => sum + size, 0);
  if (unpackedBytes > MAX_UNPACKED_BYTES)
    throw invalidParameterValue(`Unzipped size must be smaller than ${MAX_UNPACKED_BYTES} bytes`);
  return { zip, sha256: Buffer.from(zip.sha256, "hex").toString("base64"), unpackedBytes };
}

function fromBucket(state: LambdaState, { S3Bucket: name, S3Key: key }: FunctionCodeSource): StoredBytes {
  if (name === undefined || key === undefined)
    throw invalidParameterValue("Please provide a source for function code.");
  const bucket = state.world.service("s3").buckets.get(name);
  if (bucket === undefined)
    throw invalidParameterValue(
      "Error occurred while GetObject. S3 Error Code: NoSuchBucket. S3 Error Message: The specified bucket does not exist",
    );
  if (bucket.region !== state.region) {
    throw invalidParameterValue(
      `Error occurred while GetObject. S3 Error Code: PermanentRedirect. S3 Error Message: The bucket is in this region: ${bucket.region}. Please use this region to retry the request`,
    );
  }
  const object = bucket.objects.get(key);
  if (object === undefined)
    throw invalidParameterValue(
      "Error occurred while GetObject. S3 Error Code: NoSuchKey. S3 Error Message: The specified key does not exist.",
    );
  return object.body;
}
