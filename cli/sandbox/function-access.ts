// The operations that a function may call with the keys of its execution environment: GetParameters, for names that its
// role allows. On the platform it may call whatever the role allows; here all apps of a person share one account.
import type { FunctionKey } from "./cloud/function-keys.ts";
import { evaluate } from "./cloud/policy-evaluation.ts";
import { AwsError } from "./cloud/protocol/error.ts";
import type { World } from "./cloud/world.ts";
import { type CredentialScope, checkSignature, type SignedRequest } from "./signature.ts";

/** Throws an `AwsError` if a request is not signed with the key, whose token is a part of what is signed. */
export function authenticateFunction(
  request: SignedRequest,
  scope: CredentialScope,
  key: FunctionKey,
  nowMs: number,
): void {
  const token = request.headers["x-amz-security-token"];
  const isSigned = /SignedHeaders=[^,\s]*\bx-amz-security-token\b/.test(request.headers.authorization ?? "");
  if (token !== key.sessionToken || !isSigned) throw unknownKey();
  checkSignature(request, scope, key.secretAccessKey, nowMs);
}

/** The keys of an environment that has ended, too. */
export function unknownKey(): AwsError {
  return new AwsError("UnrecognizedClientException", "The security token included in the request is invalid.", 400);
}

interface FunctionCall {
  readonly service: string;
  readonly region: string;
  readonly operation: string;
  readonly input: unknown;
}

/** Throws an `AwsError` if the function's role does not allow a call, or if it is one of those that no function may do here. */
export function authorizeFunction(
  world: World,
  key: FunctionKey,
  { service, region, operation, input }: FunctionCall,
): void {
  const action = `${service}:${operation}`;
  if (action !== "ssm:GetParameters") throw notAllowed(world, key, { action, resource: "*", decision: "not-allowed" });
  const role = world.read(() => world.service("iam").roles.get(roleName(key)));
  const { Names: names = [] } = input as { Names?: readonly string[] };
  for (const name of names.map(String)) {
    // A name may be an ARN, too.
    const resource = name.startsWith("arn:")
      ? name
      : `arn:aws:ssm:${region}:${world.accountId}:parameter/${name.replace(/^\//, "")}`;
    const decision = evaluate(role?.inline.values() ?? [], action, resource);
    if (decision !== "allowed") throw notAllowed(world, key, { action, resource, decision });
  }
}

const roleName = ({ role }: FunctionKey) => role.split("/").pop() ?? "";

interface RefusedCall {
  readonly action: string;
  readonly resource: string;
  readonly decision: "denied" | "not-allowed";
}

/** In the words of the services. */
function notAllowed(world: World, key: FunctionKey, { action, resource, decision }: RefusedCall): AwsError {
  const user = `arn:aws:sts::${world.accountId}:assumed-role/${roleName(key)}/${key.functionName}`;
  const reason =
    decision === "denied"
      ? "with an explicit deny in an identity-based policy"
      : `because no identity-based policy allows the ${action} action`;
  return new AwsError(
    "AccessDeniedException",
    `User: ${user} is not authorized to perform: ${action} on resource: ${resource} ${reason}`,
    400,
  );
}
