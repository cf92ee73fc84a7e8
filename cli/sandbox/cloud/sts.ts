// STS: the caller's identity, and the keys of a role that a caller assumes.
import type {
  AssumeRoleCommandInput,
  AssumeRoleWithWebIdentityCommandInput,
  GetCallerIdentityCommandInput,
} from "@aws-sdk/client-sts";
import { AwsError } from "./protocol/error.ts";
import { randomLetters } from "./random-name.ts";
import type { OperationContext, World } from "./world.ts";

export function openSts(world: World) {
  /** Session by access key. */
  const sessions = world.collection<string>("sts", "", "sessions");

  const assumed = (roleArn: string, session: string, seconds: number) => {
    const [, role = ""] = roleArn.split("role/");
    const iamRole = world.service("iam").roles.get(role.split("/").pop() ?? "");
    if (iamRole === undefined) {
      throw new AwsError(
        "AccessDenied",
        `User is not authorized to perform: sts:AssumeRole on resource: ${roleArn}`,
        403,
      );
    }
    const accessKeyId = `ASIA${randomLetters(16)}`;
    const arn = `arn:aws:sts::${world.accountId}:assumed-role/${role}/${session}`;
    sessions.set(accessKeyId, arn);
    return {
      Credentials: {
        AccessKeyId: accessKeyId,
        SecretAccessKey: randomLetters(40),
        SessionToken: randomLetters(80),
        Expiration: new Date(world.clock.now() + seconds * 1000),
      },
      AssumedRoleUser: { AssumedRoleId: `${iamRole.id}:${session}`, Arn: arn },
    };
  };

  /** Whose key it is. */
  const arnOf = (accessKeyId: string) => sessions.get(accessKeyId) ?? `arn:aws:iam::${world.accountId}:user/deployer`;

  const operations = {
    GetCallerIdentity: (_input: GetCallerIdentityCommandInput, { accessKeyId }: OperationContext) => ({
      Account: world.accountId,
      Arn: arnOf(accessKeyId),
      UserId: accessKeyId,
    }),
    AssumeRole: (input: AssumeRoleCommandInput) =>
      assumed(input.RoleArn ?? "", input.RoleSessionName ?? "", input.DurationSeconds ?? 3600),
    AssumeRoleWithWebIdentity(input: AssumeRoleWithWebIdentityCommandInput) {
      if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(input.WebIdentityToken ?? "")) {
        throw new AwsError(
          "InvalidIdentityToken",
          "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)",
        );
      }
      return {
        ...assumed(input.RoleArn ?? "", input.RoleSessionName ?? "", input.DurationSeconds ?? 3600),
        Audience: "sts.amazonaws.com",
        Provider: "token.actions.githubusercontent.com",
        SubjectFromWebIdentityToken: "repo:example/app:ref:refs/heads/main",
      };
    },
  };
  return { operations, arnOf };
}
