// Which services there are, and who answers.
import { openAcm } from "./acm.ts";
import { openApiGateway } from "./api-gateway.ts";
import { openCloudFormation } from "./cloudformation/index.ts";
import { openCloudWatch } from "./cloudwatch.ts";
import { openIam } from "./iam.ts";
import { openLambda } from "./lambda/index.ts";
import { openLogs } from "./logs.ts";
import { type Model, readModel } from "./protocol/model.ts";
import { openRoute53 } from "./route53.ts";
import { openRoute53Domains } from "./route53-domains.ts";
import { openS3 } from "./s3.ts";
import { openScheduler } from "./scheduler.ts";
import { openSns } from "./sns.ts";
import { openSsm } from "./ssm/index.ts";
import { openSts } from "./sts.ts";
import type { Factories, Services } from "./world.ts";

declare module "./world.ts" {
  interface Services {
    readonly acm: ReturnType<typeof openAcm>;
    readonly apigateway: ReturnType<typeof openApiGateway>;
    readonly cloudformation: ReturnType<typeof openCloudFormation>;
    readonly iam: ReturnType<typeof openIam>;
    readonly lambda: ReturnType<typeof openLambda>;
    readonly logs: ReturnType<typeof openLogs>;
    readonly monitoring: ReturnType<typeof openCloudWatch>;
    readonly route53: ReturnType<typeof openRoute53>;
    readonly route53domains: ReturnType<typeof openRoute53Domains>;
    readonly s3: ReturnType<typeof openS3>;
    readonly scheduler: ReturnType<typeof openScheduler>;
    readonly sns: ReturnType<typeof openSns>;
    readonly ssm: ReturnType<typeof openSsm>;
    readonly sts: ReturnType<typeof openSts>;
  }
}

export const factories: Factories = {
  acm: openAcm,
  apigateway: openApiGateway,
  cloudformation: openCloudFormation,
  iam: openIam,
  lambda: openLambda,
  logs: openLogs,
  monitoring: openCloudWatch,
  route53: openRoute53,
  route53domains: openRoute53Domains,
  s3: openS3,
  scheduler: openScheduler,
  sns: openSns,
  ssm: openSsm,
  sts: openSts,
};

export function isServiceName(name: string): name is keyof Services {
  return Object.hasOwn(factories, name);
}

const models = new Map<keyof Services, Model>();

/** Each model is read when its service is first asked. */
export function loadModel(name: keyof Services): Model {
  const existing = models.get(name);
  if (existing !== undefined) return existing;
  const model = readModel(name);
  models.set(name, model);
  return model;
}
