// Keys that are refused, as each protocol's services say it: for what the tool makes of it.
import { AwsError } from "../../../cli/sandbox/cloud/protocol/error.ts";
import type { Protocol } from "../../../cli/sandbox/cloud/protocol/model.ts";

const INVALID = "The security token included in the request is invalid.";
const EXPIRED = "The security token included in the request is expired";

/** As if they had been revoked (AKIAINVALID), or a session's time had run out (AKIAEXPIRED). */
export function refusalOf(accessKeyId: string, service: string, protocol: Protocol): AwsError | undefined {
  if (accessKeyId === "AKIAINVALID") {
    if (service === "s3") {
      return new AwsError(
        "InvalidAccessKeyId",
        "The AWS Access Key Id you provided does not exist in our records.",
        403,
      );
    }
    return isJson(protocol)
      ? new AwsError("UnrecognizedClientException", INVALID, 403)
      : new AwsError("InvalidClientTokenId", INVALID, 403);
  }
  if (accessKeyId !== "AKIAEXPIRED") return undefined;
  if (service === "s3") return new AwsError("ExpiredToken", "The provided token has expired.", 400);
  return new AwsError(isJson(protocol) ? "ExpiredTokenException" : "ExpiredToken", EXPIRED, 403);
}

const isJson = (protocol: Protocol) => protocol !== "query" && protocol !== "rest-xml";
