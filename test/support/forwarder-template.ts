// The stack of logs-cloudwatch, the public forwarder of a log service of this API: what its template.yml makes, and how
// its parts refer to each other. It is written anew here; the names that the service sees are the forwarder's.

const ALLOW = { Effect: "Allow" };

/** One subscription for each log group, which there must be before. */
export function forwarderTemplate(groups: readonly string[]): object {
  return {
    AWSTemplateFormatVersion: "2010-09-09",
    Parameters: {
      Endpoint: { Type: "String", AllowedPattern: ".+" },
      AuthToken: { Type: "String", AllowedPattern: ".+" },
      ProjectID: { Type: "String", AllowedPattern: ".+" },
      BufferInterval: { Type: "Number", Default: 60 },
      BufferSize: { Type: "Number", Default: 1 },
    },
    Resources: {
      Failures: {
        Type: "AWS::S3::Bucket",
        Properties: { LifecycleConfiguration: { Rules: [{ ExpirationInDays: 7, Status: "Enabled" }] } },
      },
      Sender: roleOf(sub("logs.<AWS::Region>.amazonaws.com")),
      SenderPolicy: policyOf("send", "Sender", {
        Action: ["firehose:*"],
        Resource: [sub("arn:aws:firehose:<AWS::Region>:<AWS::AccountId>:*")],
      }),
      Delivery: roleOf("firehose.amazonaws.com"),
      DeliveryPolicy: policyOf("deliver", "Delivery", {
        Action: ["s3:PutObject", "s3:GetObject", "s3:ListBucket", "s3:GetBucketLocation", "s3:AbortMultipartUpload"],
        Resource: [sub("arn:aws:s3:::<Failures>"), sub("arn:aws:s3:::<Failures>*")],
      }),
      Stream: {
        Type: "AWS::KinesisFirehose::DeliveryStream",
        Properties: {
          DeliveryStreamType: "DirectPut",
          HttpEndpointDestinationConfiguration: {
            EndpointConfiguration: { Name: "logs", AccessKey: { Ref: "AuthToken" }, Url: { Ref: "Endpoint" } },
            RequestConfiguration: {
              ContentEncoding: "NONE",
              CommonAttributes: [
                { AttributeName: "project_id", AttributeValue: { Ref: "ProjectID" } },
                { AttributeName: "aws_region", AttributeValue: { Ref: "AWS::Region" } },
              ],
            },
            BufferingHints: { IntervalInSeconds: { Ref: "BufferInterval" }, SizeInMBs: { Ref: "BufferSize" } },
            RetryOptions: { DurationInSeconds: 300 },
            RoleARN: arnOf("Delivery"),
            S3Configuration: { BucketARN: arnOf("Failures"), RoleARN: arnOf("Delivery") },
          },
        },
      },
      ...Object.fromEntries(
        groups.map((LogGroupName, i) => [
          `Subscription${i}`,
          {
            Type: "AWS::Logs::SubscriptionFilter",
            DependsOn: "Stream",
            Properties: { LogGroupName, FilterPattern: "", DestinationArn: arnOf("Stream"), RoleArn: arnOf("Sender") },
          },
        ]),
      ),
    },
  };
}

/** `<Name>` stands for the value of Name. */
const sub = (text: string) => ({ "Fn::Sub": text.replaceAll(/<([^>]+)>/g, "$${$1}") });

const arnOf = (name: string) => ({ "Fn::GetAtt": [name, "Arn"] });

const statementsOf = (statement: object) => ({ Version: "2012-10-17", Statement: [{ ...ALLOW, ...statement }] });

function roleOf(service: unknown) {
  const AssumeRolePolicyDocument = statementsOf({ Principal: { Service: service }, Action: "sts:AssumeRole" });
  return { Type: "AWS::IAM::Role", Properties: { AssumeRolePolicyDocument } };
}

function policyOf(PolicyName: string, role: string, statement: object) {
  const Properties = { PolicyName, PolicyDocument: statementsOf(statement), Roles: [{ Ref: role }] };
  return { Type: "AWS::IAM::Policy", Properties };
}
