import { PlatformError } from "../../platform.ts";
import type { Cloud } from "../clients.ts";
import { functionName, stackName } from "../names.ts";
import { findCertificates, type KnownCertificate, proveCertificate, requestCertificate } from "./certificates.ts";
import { stageDomain, zonesOf } from "./domains.ts";
import { describeStack, type StackState, stateOf } from "./state.ts";
import {
  buildTemplate,
  resolved,
  type StackInput,
  type StackTemplate,
  type Template,
  wantedStages,
} from "./template.ts";
import { findZones } from "./zones.ts";

/** What tool.json asks for, and all of the account that matters to it. */
export interface Survey {
  readonly input: StackInput;
  readonly state: StackState | undefined;
  /** The template in force. */
  readonly before: Template | undefined;
  readonly wanted: StackTemplate;
  readonly certificates: readonly KnownCertificate[];
}

export interface SurveyOptions {
  readonly signal: AbortSignal;
  /** Whether missing certificates are requested, and domains of our zones proven. */
  readonly request: boolean;
}

/** Looks at everything that the template depends on. Throws where tool.json cannot be made so. */
export async function survey(cloud: Cloud, input: StackInput, options: SurveyOptions): Promise<Survey> {
  const { signal } = options;
  const name = stackName(input.name);
  const stack = await describeStack(cloud, name, signal);
  const isMade = stack !== undefined && !/^(REVIEW_IN_PROGRESS|ROLLBACK_|CREATE_FAILED)/.test(stack.StackStatus!);
  const state = isMade ? stateOf(stack, cloud.region) : undefined;
  const [before, aliases] = await Promise.all([
    state === undefined ? undefined : templateOf(cloud, state.id, signal),
    aliasesOf(cloud, input.name, signal),
  ]);
  const { config } = resolved(input);
  const stages = wantedStages(input.config, [...(state?.stages.map((stage) => stage.name) ?? []), ...aliases]);
  const ours = Object.fromEntries((state?.zones ?? []).map((zone) => [zone.name, zone.id]));
  const others = await findZones(
    cloud,
    zonesOf(config, stages).filter((zone) => !Object.hasOwn(ours, zone)),
    signal,
  );
  const domains = [...new Set(stages.flatMap((stage) => stageDomain(config, stage) ?? []))];
  const found = await findCertificates(cloud, domains, certificatesIn(before), signal);
  const zones = { ...others, ...ours };
  const certificates: KnownCertificate[] = [];
  for (const certificate of found) {
    if (!options.request || certificate.state === "issued") certificates.push(certificate);
    else if (certificate.state === "pending")
      certificates.push(await proveCertificate(cloud, certificate, zones, signal));
    else certificates.push(await requestCertificate(cloud, input.name, certificate.domain, zones, signal));
  }
  const wanted = buildTemplate(input, {
    stages,
    deployed: new Set(aliases),
    certificates: Object.fromEntries(
      certificates.flatMap(({ domain, state, arn }) =>
        state === "issued" && arn !== undefined ? [[domain, arn]] : [],
      ),
    ),
    zones: others,
  });
  const problem = wanted.problems[0];
  if (problem !== undefined) throw new PlatformError(problem.code, problem.message, problem.hint);
  return { input, state, before, wanted, certificates };
}

export async function templateOf(cloud: Cloud, stackId: string, signal: AbortSignal): Promise<Template> {
  const client = await cloud.cloudFormation();
  const { TemplateBody } = await client.getTemplate({ StackName: stackId }, { abortSignal: signal });
  return JSON.parse(TemplateBody!) as Template;
}

/** The names of the function's aliases; none where there is no function. */
async function aliasesOf(cloud: Cloud, app: string, signal: AbortSignal): Promise<string[]> {
  const lambda = await cloud.lambda();
  const names: string[] = [];
  try {
    for (let Marker: string | undefined; ; ) {
      const page = await lambda.listAliases(
        { FunctionName: functionName(app), ...(Marker && { Marker }) },
        { abortSignal: signal },
      );
      names.push(...(page.Aliases ?? []).map(({ Name }) => Name!));
      Marker = page.NextMarker;
      if (!Marker) return names;
    }
  } catch (error) {
    if ((error as Error).name === "ResourceNotFoundException") return [];
    throw error;
  }
}

/** The certificates that a template names, by domain. */
function certificatesIn(template: Template | undefined): Record<string, string> {
  const domains = Object.values(template?.Resources ?? {}).filter(({ Type }) => Type === "AWS::ApiGateway::DomainName");
  return Object.fromEntries(
    domains.map(({ Properties }) => [Properties.DomainName as string, Properties.CertificateArn as string]),
  );
}
