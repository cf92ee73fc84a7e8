// A stack with one resource of most types, what updates make of it, and what an account has beside it.
import type { World } from "../../cli/sandbox/cloud/world.ts";

export const TRUST = {
  Version: "2012-10-17",
  Statement: [{ Effect: "Allow", Principal: { Service: "lambda.amazonaws.com" }, Action: "sts:AssumeRole" }],
};

/** A stack with one of most types; `more` is what an update brings. */
function templateOf(topic: string, code: string, more: object = {}): string {
  const arn = { "Fn::GetAtt": ["Function", "Arn"] };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: they are CloudFormation's.
  const uri = "arn:aws:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/${Function.Arn}/invocations";
  const Integration = { Type: "AWS_PROXY", IntegrationHttpMethod: "POST", Uri: { "Fn::Sub": uri } };
  const RestApiId = { Ref: "Api" };
  const Resources = {
    Role: { Type: "AWS::IAM::Role", Properties: { AssumeRolePolicyDocument: TRUST } },
    Function: {
      Type: "AWS::Lambda::Function",
      Properties: {
        Role: { "Fn::GetAtt": ["Role", "Arn"] },
        Runtime: "nodejs24.x",
        Handler: "index.handler",
        Code: { ZipFile: code },
      },
    },
    Permission: {
      Type: "AWS::Lambda::Permission",
      Properties: { FunctionName: arn, Action: "lambda:InvokeFunction", Principal: "apigateway.amazonaws.com" },
    },
    Topic: { Type: "AWS::SNS::Topic", Properties: { TopicName: topic } },
    Subscription: {
      Type: "AWS::SNS::Subscription",
      Properties: { TopicArn: { Ref: "Topic" }, Protocol: "lambda", Endpoint: arn },
    },
    Group: { Type: "AWS::Logs::LogGroup", Properties: { RetentionInDays: 7 } },
    Api: { Type: "AWS::ApiGateway::RestApi", Properties: { Name: "api" } },
    Any: {
      Type: "AWS::ApiGateway::Method",
      Properties: {
        RestApiId,
        ResourceId: { "Fn::GetAtt": ["Api", "RootResourceId"] },
        HttpMethod: "ANY",
        AuthorizationType: "NONE",
        Integration,
      },
    },
    Deployment: { Type: "AWS::ApiGateway::Deployment", DependsOn: ["Any"], Properties: { RestApiId } },
    Stage: {
      Type: "AWS::ApiGateway::Stage",
      Properties: { RestApiId, DeploymentId: { Ref: "Deployment" }, StageName: "live" },
    },
    ...more,
  };
  return JSON.stringify({ Resources });
}

const alarm = { Type: "AWS::CloudWatch::Alarm", Properties: { ComparisonOperator: "GreaterThanThreshold" } };
export const FIRST = templateOf("one", "exports.handler = 1");
export const SECOND = templateOf("two", "exports.handler = 2", { Alarm: alarm, Group: undefined });
/** An update that fails after the topic was made anew. */
export const FAILING = templateOf("three", "exports.handler = 3", {
  Another: { Type: "AWS::SNS::Topic", Properties: { TopicName: "four" } },
  Wrong: {
    Type: "AWS::ApiGateway::Resource",
    DependsOn: ["Subscription", "Another"],
    Properties: { RestApiId: { Ref: "Api" }, ParentId: "none", PathPart: "x" },
  },
});

/** Returns the resources of the account that are not the stack's, and those of the stack that do not exist. */
export function leftOver(
  world: World,
  stackName: string,
  region: string,
  isOthers: (id: string) => boolean = () => false,
): string[] {
  const stack = world.service("cloudformation", region).find(stackName);
  const own = (type: string) =>
    [...(stack?.resources.values() ?? [])].filter((one) => one.type === type).map(({ physicalId }) => physicalId!);
  const lambda = world.service("lambda", region);
  const topics = [...world.service("sns", region).topics.values()];
  const apis = [...world.service("apigateway", region).apis.values()];
  const functions = [...lambda.state.functions.values()];
  const there: Record<string, string[]> = {
    "AWS::IAM::Role": [...world.service("iam").roles.keys()],
    "AWS::Lambda::Function": functions.map(({ name }) => name),
    "AWS::Lambda::Permission": functions.flatMap(({ policies }) =>
      [...policies.values()].flatMap(({ statements }) => statements.map(({ Sid }) => Sid)),
    ),
    "AWS::SNS::Topic": topics.map(({ arn }) => arn),
    "AWS::SNS::Subscription": topics.flatMap(({ subscriptions }) => [...subscriptions.keys()]),
    "AWS::Logs::LogGroup": [...world.service("logs", region).groups.keys()],
    "AWS::CloudWatch::Alarm": [...world.service("monitoring", region).alarms.keys()],
    "AWS::ApiGateway::RestApi": apis.map(({ id }) => id),
    "AWS::ApiGateway::Deployment": apis.flatMap(({ deployments }) => [...deployments.keys()]),
    "AWS::ApiGateway::Stage": apis.flatMap(({ stages }) => [...stages.keys()]),
  };
  return Object.entries(there).flatMap(([type, ids]) => [
    ...ids.filter((id) => !own(type).includes(id) && !isOthers(id)).map((id) => `left over: ${type} ${id}`),
    ...own(type)
      .filter((id) => !ids.includes(id))
      .map((id) => `missing: ${type} ${id}`),
  ]);
}
