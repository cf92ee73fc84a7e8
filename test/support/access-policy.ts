// What an access policy allows, for what the stand-in was asked and for what stacks do in the caller's name.
import type { AccessPolicy } from "../../cli/aws/stack/policy.ts";
import type { JournalEntry } from "./aws/journal.ts";

/** Operations that are allowed by an action of another name (Service Authorization Reference). */
const ACTIONS: Readonly<Record<string, string>> = {
  "s3.HeadBucket": "s3:ListBucket",
  "s3.HeadObject": "s3:GetObject",
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

/** The calls of a journal that a policy does not allow, by action. */
export function notAllowed(policy: AccessPolicy, entries: readonly JournalEntry[]): string[] {
  const allowed = new Set(policy.Statement.flatMap(({ Action }) => Action));
  const needed = entries.map(
    ({ service, operation }) => ACTIONS[`${service}.${operation}`] ?? `${PREFIXES[service] ?? service}:${operation}`,
  );
  return [...new Set(needed)].filter((action) => !allowed.has(action)).sort();
}

/**
 * What a stack does in the caller's name to make, read, change and delete a resource: the permissions of the handlers in
 * the public schemas of the resource types, as far as the properties that our templates have need them.
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
