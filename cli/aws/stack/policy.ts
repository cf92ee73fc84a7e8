/** An access policy as the cloud's console and command line take it. */
export interface AccessPolicy {
  readonly Version: "2012-10-17";
  readonly Statement: readonly Statement[];
}

interface Statement {
  /** What the statement is for. */
  readonly Sid: string;
  readonly Effect: "Allow";
  readonly Action: readonly string[];
  readonly Resource: readonly string[] | "*";
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
}

/**
 * The least that deploying and running one app needs: what the tool calls, and what the stack's service calls in the
 * caller's name. A resource is named wherever the service can restrict an action to it; a policy allows only within its
 * own account, so account ids stay open. Fits one managed policy (6144 characters without blanks).
 *
 * Actions and the resources they can be restricted to: the Service Authorization Reference.
 */
export function accessPolicy({ name, region }: { readonly name: string; readonly region: string }): AccessPolicy {
  const arn = (service: string, resource: string, where = region) => `arn:aws:${service}:${where}:*:${resource}`;
  const everywhere = (resource: string) => `arn:aws:iam::*:${resource}`;
  const allow = (Sid: string, Action: readonly string[], Resource: Statement["Resource"]): Statement => ({
    Sid,
    Effect: "Allow",
    Action,
    Resource,
  });
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
          "lambda:GetAlias",
          "lambda:GetFunction",
          "lambda:GetFunctionConfiguration",
          "lambda:GetPolicy",
          "lambda:InvokeFunction",
          "lambda:ListAliases",
          "lambda:ListTags",
          "lambda:ListVersionsByFunction",
          "lambda:PublishVersion",
          "lambda:RemovePermission",
          "lambda:TagResource",
          "lambda:UntagResource",
          "lambda:UpdateAlias",
          "lambda:UpdateFunctionCode",
          "lambda:UpdateFunctionConfiguration",
        ],
        [arn("lambda", `function:${name}`), arn("lambda", `function:${name}:*`), arn("lambda", `function:${name}-*`)],
      ),
      allow(
        "Layers",
        ["lambda:GetLayerVersion", "lambda:ListLayerVersions", "lambda:PublishLayerVersion"],
        [arn("lambda", "layer:tool-runtime"), arn("lambda", "layer:tool-runtime:*")],
      ),
      allow(
        "Roles",
        [
          "iam:CreateRole",
          "iam:DeleteRole",
          "iam:DeleteRolePolicy",
          "iam:GetRole",
          "iam:GetRolePolicy",
          "iam:ListAttachedRolePolicies",
          "iam:ListRolePolicies",
          "iam:PutRolePolicy",
          "iam:TagRole",
          "iam:UntagRole",
          "iam:UpdateAssumeRolePolicy",
        ],
        [everywhere(`role/${name}-*`)],
      ),
      {
        ...allow("RolesOfFunctions", ["iam:PassRole"], [everywhere("role/*")]),
        Condition: { StringEquals: { "iam:PassedToService": "lambda.amazonaws.com" } },
      },
      allow(
        "Artifacts",
        [
          "s3:AbortMultipartUpload",
          "s3:CreateBucket",
          "s3:DeleteObject",
          "s3:GetBucketLocation",
          "s3:GetObject",
          "s3:ListBucket",
          "s3:PutAccelerateConfiguration",
          "s3:PutBucketPublicAccessBlock",
          "s3:PutBucketTagging",
          "s3:PutLifecycleConfiguration",
          "s3:PutObject",
        ],
        [`arn:aws:s3:::tool-*-${region}`, `arn:aws:s3:::tool-*-${region}/*`],
      ),
      allow(
        "Stacks",
        [
          "cloudformation:CreateChangeSet",
          "cloudformation:CreateStack",
          "cloudformation:DeleteChangeSet",
          "cloudformation:DeleteStack",
          "cloudformation:DescribeChangeSet",
          "cloudformation:DescribeStackEvents",
          "cloudformation:DescribeStacks",
          "cloudformation:ExecuteChangeSet",
          "cloudformation:GetTemplate",
          "cloudformation:ListStackResources",
          "cloudformation:TagResource",
          "cloudformation:UpdateStack",
        ],
        [arn("cloudformation", `stack/${name}/*`)],
      ),
      allow(
        "Gateway",
        ["apigateway:DELETE", "apigateway:GET", "apigateway:PATCH", "apigateway:POST", "apigateway:PUT"],
        ["restapis", "domainnames", "tags"].flatMap((path) => [
          `arn:aws:apigateway:${region}::/${path}`,
          `arn:aws:apigateway:${region}::/${path}/*`,
        ]),
      ),
      // The gateway's own distribution, which lies in an account of the provider.
      allow("Distribution", ["cloudfront:UpdateDistribution"], "*"),
      allow(
        "Certificates",
        [
          "acm:AddTagsToCertificate",
          "acm:DeleteCertificate",
          "acm:DescribeCertificate",
          "acm:ListTagsForCertificate",
          "acm:ResendValidationEmail",
        ],
        [arn("acm", "certificate/*", "us-east-1")],
      ),
      allow("NewCertificates", ["acm:ListCertificates", "acm:RequestCertificate"], "*"),
      allow(
        "Zones",
        [
          "route53:ChangeResourceRecordSets",
          "route53:ChangeTagsForResource",
          "route53:DeleteHostedZone",
          "route53:GetChange",
          "route53:GetHostedZone",
          "route53:ListResourceRecordSets",
          "route53:ListTagsForResource",
        ],
        ["arn:aws:route53:::hostedzone/*", "arn:aws:route53:::change/*"],
      ),
      allow(
        "Domains",
        [
          "route53:CreateHostedZone",
          "route53:ListHostedZones",
          "route53:ListHostedZonesByName",
          "route53domains:CheckDomainAvailability",
          "route53domains:GetDomainSuggestions",
          "route53domains:GetOperationDetail",
          "route53domains:ListDomains",
          "route53domains:ListPrices",
          "route53domains:RegisterDomain",
        ],
        "*",
      ),
      allow(
        "Alarms",
        [
          "cloudwatch:DeleteAlarms",
          "cloudwatch:ListTagsForResource",
          "cloudwatch:PutMetricAlarm",
          "cloudwatch:TagResource",
        ],
        [arn("cloudwatch", `alarm:${name}-*`)],
      ),
      allow("Metrics", ["cloudwatch:DescribeAlarms", "cloudwatch:GetMetricData"], "*"),
      allow(
        "Topics",
        [
          "sns:CreateTopic",
          "sns:DeleteTopic",
          "sns:GetSubscriptionAttributes",
          "sns:GetTopicAttributes",
          "sns:ListSubscriptionsByTopic",
          "sns:ListTagsForResource",
          "sns:SetTopicAttributes",
          "sns:Subscribe",
          "sns:TagResource",
          "sns:Unsubscribe",
        ],
        [arn("sns", `${name}-*`)],
      ),
      allow(
        "Warming",
        [
          "events:DeleteRule",
          "events:DescribeRule",
          "events:ListTargetsByRule",
          "events:PutRule",
          "events:PutTargets",
          "events:RemoveTargets",
          "events:TagResource",
        ],
        [arn("events", `rule/${name}-*`)],
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
        [
          arn("logs", `log-group:/aws/lambda/${name}`),
          arn("logs", `log-group:/aws/lambda/${name}:*`),
          arn("logs", `log-group:/aws/lambda/${name}-*`),
        ],
      ),
      allow("LogGroups", ["logs:DescribeLogGroups"], "*"),
      allow(
        "Parameters",
        [
          "ssm:DeleteParameters",
          "ssm:GetParameters",
          "ssm:GetParametersByPath",
          "ssm:PutParameter",
          "ssm:AddTagsToResource",
        ],
        [arn("ssm", `parameter/tool/${name}/*`)],
      ),
      // Which networks a function may be put into is read by its service in the caller's name.
      allow("Networks", ["ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVpcs"], "*"),
      allow("Account", ["sts:GetCallerIdentity"], "*"),
    ],
  };
}
