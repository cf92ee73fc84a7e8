// The types of resources that there are here, with their published properties.
import * as apiGateway from "./api-gateway.ts";
import { bucket, deliveryStream, subscriptionFilter } from "./delivery.ts";
import { role, rolePolicy } from "./iam.ts";
import { lambdaFunction, permission } from "./lambda.ts";
import { hostedZone, recordSet } from "./names.ts";
import type { ResourceType } from "./type.ts";
import { alarm, logGroup, rule, schedule, subscription, topic, topicPolicy } from "./watching.ts";

export const RESOURCE_TYPES: Readonly<Record<string, ResourceType>> = {
  "AWS::ApiGateway::BasePathMapping": apiGateway.basePathMapping,
  "AWS::ApiGateway::Deployment": apiGateway.deployment,
  "AWS::ApiGateway::DomainName": apiGateway.domainName,
  "AWS::ApiGateway::GatewayResponse": apiGateway.gatewayResponse,
  "AWS::ApiGateway::Method": apiGateway.method,
  "AWS::ApiGateway::Resource": apiGateway.resource,
  "AWS::ApiGateway::RestApi": apiGateway.restApi,
  "AWS::ApiGateway::Stage": apiGateway.stage,
  "AWS::CloudWatch::Alarm": alarm,
  "AWS::Events::Rule": rule,
  "AWS::IAM::Policy": rolePolicy,
  "AWS::IAM::Role": role,
  "AWS::KinesisFirehose::DeliveryStream": deliveryStream,
  "AWS::Lambda::Function": lambdaFunction,
  "AWS::Lambda::Permission": permission,
  "AWS::Logs::LogGroup": logGroup,
  "AWS::Logs::SubscriptionFilter": subscriptionFilter,
  "AWS::Route53::HostedZone": hostedZone,
  "AWS::Route53::RecordSet": recordSet,
  "AWS::S3::Bucket": bucket,
  "AWS::SNS::Subscription": subscription,
  "AWS::SNS::Topic": topic,
  "AWS::SNS::TopicPolicy": topicPolicy,
  "AWS::Scheduler::Schedule": schedule,
};

export function isResourceType(name: string): boolean {
  return Object.hasOwn(RESOURCE_TYPES, name);
}

export function resourceType(name: string): ResourceType {
  const type = RESOURCE_TYPES[name];
  if (type === undefined) throw new Error(`no resource type ${name}`);
  return type;
}
