import { bucketName, failureBuckets, parameterPrefix, partition, RUNTIME_LAYER } from "../names.ts";

/** An access policy in the form that the AWS console and CLI accept. */
export interface AccessPolicy {
  readonly Version: "2012-10-17";
  readonly Statement: readonly Statement[];
}

interface Statement {
  /** The purpose of the statement. */
  readonly Sid: string;
  readonly Effect: "Allow";
  readonly Action: readonly string[];
  readonly Resource: readonly string[] | "*";
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

export interface PolicySubject {
  readonly name: string;
  readonly region: string;
  /** Roles that tool.json names for the function, as names or ARNs. */
  readonly roles: readonly string[];
}

/**
 * A managed policy has at most 6,144 characters, not counting whitespace (IAM and STS quotas). The rest is for roles that
 * tool.json names and for statements that are added by hand.
 */
export const MAX_POLICY_CHARACTERS = 5_800;

/**
 * The least that deploying and running one app needs: what the tool calls, and what CloudFormation calls on behalf of the
 * caller. Writing is allowed action by action, reading by families. Resources are named wherever the service supports it.
 * Account ids are wildcards, as a policy only applies to its own account.
 *
 * Actions and the resources they can be restricted to: the Service Authorization Reference.
 */
export function accessPolicy({ name, region, roles }: PolicySubject): AccessPolicy {
  const where = partition(region);
  const arn = (service: string, resource: string, of = region) => `arn:${where}:${service}:${of}:*:${resource}`;
  const role = (name: string) => `arn:${where}:iam::*:role/${name}`;
  const made = madeNames(name);
  return {
    Version: "2012-10-17",
    Statement: [
      allow(
        "Functions",
        [
          "lambda:AddPermission",
          "lambda:CreateAlias",
          "lambda:CreateFunction",
          "lambda:DeleteAlias",
          "lambda:DeleteFunction",
          "lambda:Get*",
          "lambda:InvokeFunction",
          "lambda:List*",
          "lambda:PublishVersion",
          "lambda:RemovePermission",
          "lambda:TagResource",
          "lambda:UntagResource",
          "lambda:UpdateAlias",
          "lambda:UpdateFunctionCode",
          "lambda:UpdateFunctionConfiguration",
        ],
        [name, `${name}:*`, made].map((one) => arn("lambda", `function:${one}`)),
      ),
      allow(
        "Layers",
        ["lambda:Get*", "lambda:List*", "lambda:PublishLayerVersion"],
        [arn("lambda", `layer:${RUNTIME_LAYER}*`)],
      ),
      allow(
        "Roles",
        [
          "iam:CreateRole",
          "iam:DeleteRole",
          "iam:DeleteRolePolicy",
          "iam:Get*",
          "iam:List*",
          "iam:PutRolePolicy",
          "iam:TagRole",
          "iam:UntagRole",
          "iam:UpdateAssumeRolePolicy",
          "iam:UpdateRole",
        ],
        [role(made)],
      ),
      {
        ...allow(
          "RolesOfFunctions",
          ["iam:PassRole"],
          [role(made), ...roles.map((one) => (one.startsWith("arn:") ? one : role(one)))],
        ),
        Condition: {
          StringEquals: { "iam:PassedToService": ["lambda.amazonaws.com", "scheduler.amazonaws.com"] },
        },
      },
      allow(
        "Artifacts",
        [
          "s3:AbortMultipartUpload",
          "s3:CreateBucket",
          "s3:DeleteObject",
          "s3:Get*",
          "s3:List*",
          "s3:PutAccelerateConfiguration",
          "s3:PutBucketPublicAccessBlock",
          "s3:PutBucketTagging",
          "s3:PutLifecycleConfiguration",
          "s3:PutObject",
        ],
        ["", "/*"].map((objects) => `arn:${where}:s3:::${bucketName("*", region)}${objects}`),
      ),
      allow(
        "Stacks",
        [
          "cloudformation:CreateChangeSet",
          "cloudformation:CreateStack",
          "cloudformation:DeleteChangeSet",
          "cloudformation:DeleteStack",
          "cloudformation:Describe*",
          "cloudformation:ExecuteChangeSet",
          "cloudformation:Get*",
          "cloudformation:List*",
          "cloudformation:TagResource",
          "cloudformation:UntagResource",
          "cloudformation:UpdateStack",
        ],
        [arn("cloudformation", `stack/${name}/*`)],
      ),
      allow(
        "Gateway",
        ["apigateway:DELETE", "apigateway:GET", "apigateway:PATCH", "apigateway:POST", "apigateway:PUT"],
        ["restapis*", "domainnames*", "tags/*"].map((path) => `arn:${where}:apigateway:${region}::/${path}`),
      ),
      allow(
        "RoleOfTheGateway",
        ["iam:CreateServiceLinkedRole"],
        [role("aws-service-role/ops.apigateway.amazonaws.com/*")],
      ),
      ...(where === "aws" ? edgeStatements(allow, arn) : []),
      allow(
        "Zones",
        [
          "route53:ChangeResourceRecordSets",
          "route53:ChangeTagsForResource",
          "route53:DeleteHostedZone",
          "route53:UpdateHostedZoneComment",
        ],
        [`arn:${where}:route53:::hostedzone/*`],
      ),
      allow("ZonesOfTheAccount", ["route53:CreateHostedZone", "route53:Get*", "route53:List*"], "*"),
      allow(
        "Alarms",
        [
          "cloudwatch:DeleteAlarms",
          "cloudwatch:List*",
          "cloudwatch:PutMetricAlarm",
          "cloudwatch:TagResource",
          "cloudwatch:UntagResource",
        ],
        [arn("cloudwatch", `alarm:${name}-*`)],
      ),
      allow("Metrics", ["cloudwatch:DescribeAlarms", "cloudwatch:GetMetricData"], "*"),
      allow(
        "Topics",
        [
          "sns:CreateTopic",
          "sns:DeleteTopic",
          "sns:Get*",
          "sns:List*",
          "sns:SetSubscriptionAttributes",
          "sns:SetTopicAttributes",
          "sns:Subscribe",
          "sns:TagResource",
          "sns:Unsubscribe",
          "sns:UntagResource",
        ],
        [arn("sns", `${name}-*`)],
      ),
      allow(
        "Warming",
        ["scheduler:CreateSchedule", "scheduler:DeleteSchedule", "scheduler:GetSchedule", "scheduler:UpdateSchedule"],
        [arn("scheduler", `schedule/default/${made}`)],
      ),
      allow(
        "Logs",
        [
          "logs:CreateLogGroup",
          "logs:DeleteLogGroup",
          "logs:FilterLogEvents",
          "logs:PutRetentionPolicy",
          "logs:StartLiveTail",
          "logs:TagResource",
        ],
        ["", ":*"].map((streams) => arn("logs", `log-group:/aws/lambda/${name}${streams}`)),
      ),
      allow("Lists", ["logs:DescribeLogGroups", "ssm:DescribeParameters"], "*"),
      allow(
        "Parameters",
        ["ssm:AddTagsToResource", "ssm:DeleteParameter*", "ssm:Get*", "ssm:PutParameter"],
        // Reading by path needs permission for the path itself.
        [parameterPrefix(name).replace(/\/$/, ""), `${parameterPrefix(name)}*`].map((one) =>
          arn("ssm", `parameter${one}`),
        ),
      ),
      // The Lambda service reads the networks of a function on behalf of the caller.
      allow("Networks", ["ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVpcs"], "*"),
    ],
  };
}

/**
 * The rest that `"delivery": "firehose"` needs, as a document of its own: both together are more than one managed policy may
 * have. `accessPolicy` allows the roles themselves and the log group.
 */
export function streamPolicy({ name, region }: Pick<PolicySubject, "name" | "region">): AccessPolicy {
  const where = partition(region);
  const arn = (service: string, resource: string) => `arn:${where}:${service}:${region}:*:${resource}`;
  const made = madeNames(name);
  return {
    Version: "2012-10-17",
    Statement: [
      allow(
        "Streams",
        [
          "firehose:CreateDeliveryStream",
          "firehose:DeleteDeliveryStream",
          "firehose:Describe*",
          "firehose:List*",
          "firehose:TagDeliveryStream",
          "firehose:UntagDeliveryStream",
          "firehose:UpdateDestination",
        ],
        [arn("firehose", `deliverystream/${made}`)],
      ),
      {
        ...allow("RolesOfStreams", ["iam:PassRole"], [`arn:${where}:iam::*:role/${made}`]),
        Condition: { StringEquals: { "iam:PassedToService": ["firehose.amazonaws.com", "logs.amazonaws.com"] } },
      },
      allow(
        "Subscriptions",
        ["logs:DeleteSubscriptionFilter", "logs:Describe*", "logs:PutSubscriptionFilter"],
        ["", ":*"].map((streams) => arn("logs", `log-group:/aws/lambda/${name}${streams}`)),
      ),
      allow(
        "Failures",
        [
          "s3:CreateBucket",
          "s3:DeleteBucket",
          "s3:Get*",
          "s3:List*",
          "s3:PutBucketPublicAccessBlock",
          "s3:PutBucketTagging",
          "s3:PutLifecycleConfiguration",
        ],
        [`arn:${where}:s3:::${failureBuckets(name)}`],
      ),
      allow("ListOfBuckets", ["s3:ListAllMyBuckets"], "*"),
    ],
  };
}

/** Edge-optimized custom domains and buying domains, which exist in the partition `aws` only. */
function edgeStatements(
  allow: (sid: string, actions: readonly string[], resources: Statement["Resource"]) => Statement,
  arn: (service: string, resource: string, of?: string) => string,
): Statement[] {
  return [
    // The gateway's distribution is in an account of AWS.
    allow("Distribution", ["cloudfront:UpdateDistribution"], "*"),
    allow(
      "Certificates",
      [
        "acm:AddTagsToCertificate",
        "acm:DeleteCertificate",
        "acm:DescribeCertificate",
        "acm:RemoveTagsFromCertificate",
        "acm:ResendValidationEmail",
      ],
      [arn("acm", "certificate/*", "us-east-1")],
    ),
    allow("NewCertificates", ["acm:List*", "acm:RequestCertificate"], "*"),
    allow(
      "Domains",
      [
        "route53domains:CheckDomainAvailability",
        "route53domains:Get*",
        "route53domains:List*",
        "route53domains:RegisterDomain",
      ],
      "*",
    ),
  ];
}

/**
 * Names that CloudFormation generates are `<stack>-<logical id>-<random>`. If they may have at most 64 characters (roles,
 * functions, schedules), it keeps this many of a longer stack's name.
 */
const KEPT_OF_STACK_NAME = 24;

function madeNames(name: string): string {
  return name.length > KEPT_OF_STACK_NAME ? `${name.slice(0, KEPT_OF_STACK_NAME)}*` : `${name}-*`;
}

function allow(Sid: string, Action: readonly string[], Resource: Statement["Resource"]): Statement {
  return { Sid, Effect: "Allow", Action, Resource };
}
