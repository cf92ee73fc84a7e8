import { projectIdOf } from "../../../schema/project-id.ts";
import { usesFirehose } from "../../platform/log-tokens.ts";
import { retentionDays } from "../log-retention.ts";
import { FAILURE_BUCKET, logGroupName } from "../names.ts";
import { policyDocument, trust } from "./helper-function.ts";
import {
  type AppStack,
  type Parts,
  type Resources,
  resourceTags,
  type StackContext,
  type StackInput,
  type TemplateResource,
} from "./resource.ts";

/** The parameter of the stack that has the token for the log service. */
export const STREAM_KEY = "LogsKey";

/** Full after a minute at the latest: entries are about as late as that. */
const BUFFER = { IntervalInSeconds: 60, SizeInMBs: 5 };

/** The longest that Firehose takes: a service that is away for two hours misses nothing. */
const RETRY_SECONDS = 7_200;

/**
 * The delivery of the function's log to the log service of tool.json: a subscription of the log group, which gives every line to a
 * stream of Firehose, and a bucket for what the service did not take. The log group is not in the stack; it has to exist before.
 */
export function logStreamResources(input: AppStack, { streamKey = "" }: StackContext): Partial<Parts> {
  const { config } = input;
  if (!usesFirehose(config)) return {};
  const { origin } = new URL(config.logs.service!);
  return {
    resources: { ...failureBucket(input), ...stream(input, origin), ...subscription(input) },
    secrets: [{ parameter: STREAM_KEY, value: streamKey, about: `Token for ${origin}` }],
  };
}

const about = (text: string) => ({ tool: { about: text } });

/** A role with one policy. */
const role = (service: string, statement: object, whose: string): TemplateResource => ({
  Type: "AWS::IAM::Role",
  Properties: {
    AssumeRolePolicyDocument: trust(service),
    Policies: [{ PolicyName: "tool", PolicyDocument: policyDocument([{ Effect: "Allow", ...statement }]) }],
  },
  Metadata: about(`role of ${whose}`),
});

function failureBucket(input: AppStack): Resources {
  const days = retentionDays(input.config);
  return {
    [FAILURE_BUCKET]: {
      Type: "AWS::S3::Bucket",
      Properties: {
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        // As long as the log, which has the same.
        ...(days !== undefined && {
          LifecycleConfiguration: { Rules: [{ Id: "tool", Status: "Enabled", ExpirationInDays: days }] },
        }),
        Tags: resourceTags(input),
      },
      // A bucket that has something cannot be deleted, and the stack could not be either.
      DeletionPolicy: "RetainExceptOnCreate",
      UpdateReplacePolicy: "Retain",
      Metadata: about("bucket for entries that could not be delivered"),
    },
  };
}

function stream(input: AppStack, origin: string): Resources {
  const { name, config } = input;
  const bucket = { "Fn::GetAtt": [FAILURE_BUCKET, "Arn"] };
  const RoleARN = { "Fn::GetAtt": ["LogStreamRole", "Arn"] };
  const Action = [
    "s3:AbortMultipartUpload",
    "s3:GetBucketLocation",
    "s3:GetObject",
    "s3:ListBucket",
    "s3:ListBucketMultipartUploads",
    "s3:PutObject",
  ];
  const Resource = [bucket, { "Fn::Sub": `\${${FAILURE_BUCKET}.Arn}/*` }];
  const project = config.logs.project ?? projectIdOf(name)!;
  return {
    LogStreamRole: role("firehose.amazonaws.com", { Action, Resource }, "the stream to the log service"),
    LogStream: {
      Type: "AWS::KinesisFirehose::DeliveryStream",
      Properties: {
        DeliveryStreamType: "DirectPut",
        HttpEndpointDestinationConfiguration: {
          EndpointConfiguration: {
            Name: name,
            Url: `${origin}/integrations/cloudwatch`,
            AccessKey: { Ref: STREAM_KEY },
          },
          RequestConfiguration: {
            ContentEncoding: "GZIP",
            CommonAttributes: [{ AttributeName: "project", AttributeValue: project }],
          },
          BufferingHints: BUFFER,
          RetryOptions: { DurationInSeconds: RETRY_SECONDS },
          // The bucket says what failed and why; a log of it would be one more that stays.
          CloudWatchLoggingOptions: { Enabled: false },
          RoleARN,
          S3BackupMode: "FailedDataOnly",
          S3Configuration: { BucketARN: bucket, RoleARN, CompressionFormat: "GZIP" },
        },
        Tags: resourceTags(input),
      },
      Metadata: about("stream to the log service"),
    },
  };
}

function subscription({ name }: AppStack): Resources {
  const stream = { "Fn::GetAtt": ["LogStream", "Arn"] };
  const writes = { Action: ["firehose:PutRecord", "firehose:PutRecordBatch"], Resource: stream };
  return {
    LogSubscriptionRole: role("logs.amazonaws.com", writes, "the subscription of the log"),
    LogSubscription: {
      Type: "AWS::Logs::SubscriptionFilter",
      Properties: {
        LogGroupName: logGroupName(name),
        // Every line.
        FilterPattern: "",
        DestinationArn: stream,
        RoleArn: { "Fn::GetAtt": ["LogSubscriptionRole", "Arn"] },
      },
      Metadata: about("subscription of the log"),
    },
  };
}

/** An app whose stream waits for an apply. */
export function withoutStream(input: StackInput): StackInput {
  if (!usesFirehose(input.config)) return input;
  return { ...input, config: { ...input.config, logs: { ...input.config.logs, delivery: "runtime" } } };
}
