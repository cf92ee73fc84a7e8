// The rights of an access policy, for the calls that the stand-in got and for what stacks do in the caller's name.
import type { AccessPolicy } from "../../cli/aws/stack/policy.ts";
import type { JournalEntry } from "./aws/journal.ts";

/** Operations that are allowed by an action of another name (Service Authorization Reference). */
const ACTIONS: Readonly<Record<string, string>> = {
  "s3.HeadBucket": "s3:ListBucket",
  "s3.HeadObject": "s3:GetObject",
  "s3.ListBuckets": "s3:ListAllMyBuckets",
  "s3.ListObjectsV2": "s3:ListBucket",
  "s3.PutPublicAccessBlock": "s3:PutBucketPublicAccessBlock",
  "s3.PutBucketLifecycleConfiguration": "s3:PutLifecycleConfiguration",
  "s3.PutBucketAccelerateConfiguration": "s3:PutAccelerateConfiguration",
  "s3.DeleteObjects": "s3:DeleteObject",
  "s3.CreateMultipartUpload": "s3:PutObject",
  "s3.UploadPart": "s3:PutObject",
  "s3.CompleteMultipartUpload": "s3:PutObject",
  "lambda.Invoke": "lambda:InvokeFunction",
};

/** Services whose actions begin with another word than they are signed for. */
const PREFIXES: Readonly<Record<string, string>> = { monitoring: "cloudwatch" };

/** Whether one statement allows the action on the resource; without a resource, on any. */
export function isAllowed(policy: AccessPolicy, action: string, resource?: string): boolean {
  return policy.Statement.some(
    ({ Action, Resource }) =>
      Action.some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase())) &&
      (resource === undefined || [Resource].flat().some((pattern) => matches(pattern, resource))),
  );
}

/** As access policies have it: `*` is any characters, `?` is one. */
function matches(pattern: string, text: string): boolean {
  const parts = pattern.split(/([*?])/).map((part) => {
    if (part === "*") return ".*";
    return part === "?" ? "." : part.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("")}$`, "s").test(text);
}

/** An action, and what it is done to where the call says so. */
type Need = readonly [action: string, resource: string | undefined];

/** The calls of a journal that a policy does not allow, by action and resource. */
export function notAllowed(
  policy: AccessPolicy,
  entries: readonly JournalEntry[],
  accountId = "123456789012",
): string[] {
  return missing(
    policy,
    entries.flatMap((entry) => needsOf(entry, accountId)),
  );
}

/** The same for what a stack's service does to the resources that a stack has. */
export function notAllowedOnStack(
  policy: AccessPolicy,
  resources: Iterable<{ readonly type: string; readonly physicalId: string }>,
  at: { readonly region: string; readonly accountId: string },
): string[] {
  const needs = [...resources].flatMap(({ type, physicalId }) =>
    (HANDLERS[type] ?? [`unknown:${type}`]).map((action): Need => {
      // On a role that is not the resource itself.
      const isOther = action.startsWith("iam:") && type !== "AWS::IAM::Role";
      return [action, isOther ? undefined : ARNS[type]?.(physicalId, at)];
    }),
  );
  return missing(policy, needs);
}

function missing(policy: AccessPolicy, needs: readonly Need[]): string[] {
  const refused = needs.filter(([action, resource]) => !isAllowed(policy, action, resource));
  return [...new Set(refused.map((need) => need.filter(Boolean).join(" on ")))].sort();
}

/** No permission is asked for it ("GetCallerIdentity", STS API reference). */
const FREE = new Set(["sts:GetCallerIdentity"]);

function needsOf(entry: JournalEntry, accountId: string): Need[] {
  const { service, operation } = entry;
  const action = ACTIONS[`${service}.${operation}`] ?? `${PREFIXES[service] ?? service}:${operation}`;
  if (FREE.has(action)) return [];
  const input = entry.input as Readonly<Record<string, unknown>>;
  const arn = (of: string, resource: string, region = entry.region) =>
    resource.startsWith("arn:") ? resource : `arn:aws:${of}:${region}:${accountId}:${resource}`;
  const text = (name: string) => (typeof input?.[name] === "string" ? (input[name] as string) : undefined);
  const needs: Need[] = [];
  const role = text("Role");
  if (service === "lambda" && role !== undefined) needs.push(["iam:PassRole", role]);
  const [name, bucket, group] = [text("FunctionName"), text("Bucket"), text("logGroupName")];
  const [stack, parameter, zone] = [
    text("StackName"),
    text("Path") ?? text("Name"),
    text("HostedZoneId") ?? text("Id"),
  ];
  const [layer, certificate] = [text("LayerName"), text("CertificateArn")];
  let resource: string | undefined;
  if (service === "lambda" && name !== undefined) {
    const qualifier = text("Qualifier") ?? (/Alias$/.test(operation) ? text("Name") : undefined);
    resource = arn("lambda", `function:${name}${qualifier === undefined ? "" : `:${qualifier}`}`);
  } else if (service === "lambda" && layer !== undefined) resource = arn("lambda", `layer:${layer}`);
  else if (service === "s3" && bucket !== undefined) {
    const key = text("Key");
    resource = `arn:aws:s3:::${bucket}${key === undefined ? "" : `/${key}`}`;
  } else if (service === "iam" && text("RoleName") !== undefined) resource = arn("iam", `role/${text("RoleName")}`, "");
  else if (service === "cloudformation" && stack !== undefined) resource = arn(service, `stack/${stack}/id`);
  else if (service === "logs" && group !== undefined) resource = arn("logs", `log-group:${group}`);
  else if (service === "ssm" && parameter !== undefined) resource = arn("ssm", `parameter${parameter}`);
  else if (service === "acm" && certificate !== undefined) resource = certificate;
  else if (service === "route53" && zone !== undefined)
    resource = `arn:aws:route53:::hostedzone/${zone.replace(/^\/hostedzone\//, "")}`;
  return [...needs, [action, resource]];
}

type Place = { readonly region: string; readonly accountId: string };

/** ARNs of what stacks make, by their physical ids. */
const ARNS: Readonly<Record<string, (id: string, at: Place) => string>> = {
  "AWS::ApiGateway::RestApi": (id, { region }) => `arn:aws:apigateway:${region}::/restapis/${id}`,
  "AWS::ApiGateway::DomainName": (id, { region }) => `arn:aws:apigateway:${region}::/domainnames/${id}`,
  "AWS::CloudWatch::Alarm": (id, { region, accountId }) => `arn:aws:cloudwatch:${region}:${accountId}:alarm:${id}`,
  "AWS::IAM::Role": (id, { accountId }) => `arn:aws:iam::${accountId}:role/${id}`,
  "AWS::KinesisFirehose::DeliveryStream": (id, { region, accountId }) =>
    `arn:aws:firehose:${region}:${accountId}:deliverystream/${id}`,
  "AWS::S3::Bucket": (id) => `arn:aws:s3:::${id}`,
  "AWS::Lambda::Function": (id, { region, accountId }) => `arn:aws:lambda:${region}:${accountId}:function:${id}`,
  "AWS::Route53::HostedZone": (id) => `arn:aws:route53:::hostedzone/${id}`,
  "AWS::SNS::Topic": (id) => id,
  "AWS::Scheduler::Schedule": (id, { region, accountId }) =>
    `arn:aws:scheduler:${region}:${accountId}:schedule/default/${id}`,
};

/**
 * The actions of a stack in the caller's name to make, read, change and delete a resource: the permissions of the
 * handlers in the public schemas of the resource types, as far as the properties that our templates have need them.
 */
export const HANDLERS: Readonly<Record<string, readonly string[]>> = {
  "AWS::ApiGateway::RestApi": [
    "apigateway:GET",
    "apigateway:POST",
    "apigateway:PUT",
    "apigateway:PATCH",
    "apigateway:DELETE",
  ],
  "AWS::ApiGateway::Resource": ["apigateway:GET", "apigateway:POST", "apigateway:PATCH", "apigateway:DELETE"],
  "AWS::ApiGateway::Method": ["apigateway:GET", "apigateway:PUT", "apigateway:DELETE"],
  "AWS::ApiGateway::Deployment": ["apigateway:GET", "apigateway:POST", "apigateway:PATCH", "apigateway:DELETE"],
  "AWS::ApiGateway::Stage": [
    "apigateway:GET",
    "apigateway:POST",
    "apigateway:PUT",
    "apigateway:PATCH",
    "apigateway:DELETE",
  ],
  "AWS::ApiGateway::DomainName": [
    "apigateway:GET",
    "apigateway:POST",
    "apigateway:PATCH",
    "apigateway:DELETE",
    "cloudfront:UpdateDistribution",
    "iam:CreateServiceLinkedRole",
  ],
  "AWS::ApiGateway::BasePathMapping": ["apigateway:GET", "apigateway:POST", "apigateway:PATCH", "apigateway:DELETE"],
  "AWS::CloudWatch::Alarm": [
    "cloudwatch:PutMetricAlarm",
    "cloudwatch:DescribeAlarms",
    "cloudwatch:DeleteAlarms",
    "cloudwatch:ListTagsForResource",
    "cloudwatch:TagResource",
  ],
  "AWS::IAM::Role": [
    "iam:CreateRole",
    "iam:GetRole",
    "iam:PutRolePolicy",
    "iam:GetRolePolicy",
    "iam:ListRolePolicies",
    "iam:ListAttachedRolePolicies",
    "iam:UpdateRole",
    "iam:UpdateAssumeRolePolicy",
    "iam:DeleteRolePolicy",
    "iam:DeleteRole",
    "iam:TagRole",
  ],
  "AWS::KinesisFirehose::DeliveryStream": [
    "firehose:CreateDeliveryStream",
    "firehose:DescribeDeliveryStream",
    "firehose:ListTagsForDeliveryStream",
    "firehose:TagDeliveryStream",
    "firehose:UntagDeliveryStream",
    "firehose:UpdateDestination",
    "firehose:DeleteDeliveryStream",
    "iam:GetRole",
    "iam:PassRole",
  ],
  "AWS::Logs::SubscriptionFilter": [
    "logs:PutSubscriptionFilter",
    "logs:DescribeSubscriptionFilters",
    "logs:DeleteSubscriptionFilter",
    "iam:PassRole",
  ],
  "AWS::S3::Bucket": [
    "s3:CreateBucket",
    "s3:GetBucketTagging",
    "s3:GetBucketPublicAccessBlock",
    "s3:GetLifecycleConfiguration",
    "s3:PutBucketTagging",
    "s3:PutBucketPublicAccessBlock",
    "s3:PutLifecycleConfiguration",
    "s3:DeleteBucket",
    "s3:ListBucket",
  ],
  "AWS::Lambda::Function": [
    "lambda:CreateFunction",
    "lambda:GetFunction",
    "lambda:GetFunctionCodeSigningConfig",
    "lambda:GetRuntimeManagementConfig",
    "lambda:UpdateFunctionCode",
    "lambda:UpdateFunctionConfiguration",
    "lambda:DeleteFunction",
    "lambda:ListTags",
    "lambda:TagResource",
    "iam:PassRole",
  ],
  "AWS::Lambda::Permission": ["lambda:AddPermission", "lambda:GetPolicy", "lambda:RemovePermission"],
  "AWS::Route53::HostedZone": [
    "route53:CreateHostedZone",
    "route53:GetHostedZone",
    "route53:GetChange",
    "route53:ChangeTagsForResource",
    "route53:ListTagsForResource",
    "route53:ListQueryLoggingConfigs",
    "route53:UpdateHostedZoneComment",
    "route53:DeleteHostedZone",
  ],
  "AWS::Route53::RecordSet": [
    "route53:ChangeResourceRecordSets",
    "route53:GetChange",
    "route53:ListResourceRecordSets",
  ],
  "AWS::SNS::Topic": [
    "sns:CreateTopic",
    "sns:GetTopicAttributes",
    "sns:SetTopicAttributes",
    "sns:GetDataProtectionPolicy",
    "sns:ListSubscriptionsByTopic",
    "sns:ListTagsForResource",
    "sns:TagResource",
    "sns:DeleteTopic",
  ],
  "AWS::SNS::Subscription": [
    "sns:Subscribe",
    "sns:GetSubscriptionAttributes",
    "sns:SetSubscriptionAttributes",
    "sns:Unsubscribe",
  ],
  "AWS::Scheduler::Schedule": [
    "scheduler:CreateSchedule",
    "scheduler:GetSchedule",
    "scheduler:UpdateSchedule",
    "scheduler:DeleteSchedule",
    "iam:PassRole",
  ],
};
