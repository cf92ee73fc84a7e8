import type { Tag } from "@aws-sdk/client-cloudformation";
import type { Config } from "../../../schema/index.ts";
import { PlatformError } from "../../platform/error.ts";
import type { Cloud } from "../clients.ts";
import { functionName, stackName } from "../names.ts";
import { findCertificates, type KnownCertificate, requestCertificate, writeValidationRecord } from "./certificates.ts";
import { stageDomain, zonesOf } from "./domains.ts";
import { logicalId } from "./logical-id.ts";
import { resourceTags, type StackInput, type TemplateDocument } from "./resource.ts";
import { describeStack, readTemplate, type StackState, stateOf } from "./state.ts";
import { buildTemplate, resolveInput, type StackTemplate, wantedStages } from "./template.ts";
import { findZones, isInZone, zoneOf } from "./zones.ts";

/** The stack that tool.json asks for, and everything in the account that it depends on. */
export interface StackSurvey {
  readonly input: StackInput;
  readonly state: StackState | undefined;
  /** The stack's tags until now; none if there is no stack. */
  readonly tagsBefore: readonly Tag[];
  /** The current template. */
  readonly before: TemplateDocument | undefined;
  readonly wanted: StackTemplate;
  readonly certificates: readonly KnownCertificate[];
}

export interface SurveyOptions {
  readonly signal: AbortSignal;
  /** Whether to request missing certificates, and to write validation records into our zones. */
  readonly request: boolean;
  /** The token of the stream to the log service; a plan leaves it as it is. */
  readonly streamKey?: string | undefined;
}

/** Reads everything that the template depends on. Throws if the stack cannot have what tool.json asks for. */
export async function surveyStack(cloud: Cloud, input: StackInput, options: SurveyOptions): Promise<StackSurvey> {
  const { signal } = options;
  const name = stackName(input.name);
  const stack = await describeStack(cloud, name, signal);
  const isMade = stack !== undefined && !/^(REVIEW_IN_PROGRESS|ROLLBACK_|CREATE_FAILED)/.test(stack.StackStatus!);
  const state = isMade ? stateOf(stack, cloud) : undefined;
  const [before, aliases] = await Promise.all([
    state === undefined ? undefined : readTemplate(cloud, state.id, signal),
    aliasesOf(cloud, input.name, signal),
  ]);
  const { config } = resolveInput(input);
  const stages = wantedStages(input.config, [...(state?.stages.map((stage) => stage.name) ?? []), ...aliases]);
  const ours = Object.fromEntries((state?.zones ?? []).map((zone) => [zone.name, zone.id]));
  const wantedZones = zonesOf(config, stages);
  const others = await findZones(
    cloud,
    wantedZones.filter((zone) => !Object.hasOwn(ours, zone)),
    signal,
  );
  const domains = [...new Set(stages.flatMap((stage) => stageDomain(config, stage) ?? []))];
  const existing = await findCertificates(cloud, domains, certificatesIn(before), signal);
  const zones = { ...others, ...ours };
  const certificates: KnownCertificate[] = [];
  // Including zones that the apply creates.
  const isZoneOurs = (domain: string) => wantedZones.some((zone) => isInZone(domain, zone));
  for (const certificate of existing) {
    const { domain, state, validation } = certificate;
    // DNS validation is preferred to email when the zone has become ours.
    const isMailed = state === "pending" && validation?.by === "email" && isZoneOurs(domain);
    if (state === "issued" || !options.request) {
      const isMade = zoneOf(domain, zones) !== undefined;
      certificates.push(
        validation?.by === "record" ? { ...certificate, validation: { ...validation, isMade } } : certificate,
      );
    } else if (state === "pending" && !isMailed) {
      certificates.push(await writeValidationRecord(cloud, certificate, zones, signal));
    } else {
      const request = { app: input.name, domain, isZoneOurs: isZoneOurs(domain), tags: resourceTags(input), zones };
      certificates.push(await requestCertificate(cloud, request, signal));
    }
  }
  const issued = Object.fromEntries(
    certificates.flatMap(({ domain, state, arn }) => (state === "issued" && arn !== undefined ? [[domain, arn]] : [])),
  );
  const held = heldDomains(before, stages, (stage) => Object.hasOwn(issued, stageDomain(config, stage) ?? ""));
  const wanted = buildTemplate(
    { ...input, config: { ...input.config, stages: { ...input.config.stages, ...held.stages(input.config) } } },
    {
      stages,
      deployed: new Set(aliases),
      certificates: { ...held.certificates, ...issued },
      zones: others,
      streamKey: options.streamKey,
    },
  );
  const problem = wanted.problems[0];
  if (problem !== undefined) throw new PlatformError(problem.code, problem.message, problem.hint);
  return { input, state, tagsBefore: (isMade && stack.Tags) || [], before, wanted, certificates };
}

/** The names of the function's aliases; none if there is no function. */
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

/** The certificates in a template, by domain. */
function certificatesIn(template: TemplateDocument | undefined): Record<string, string> {
  const domains = Object.values(template?.Resources ?? {}).filter(({ Type }) => Type === "AWS::ApiGateway::DomainName");
  return Object.fromEntries(
    domains.map(({ Properties }) => [Properties.DomainName as string, Properties.CertificateArn as string]),
  );
}

/**
 * A stage whose new domain waits for its certificate keeps its old domain until then, unless it has no domain in tool.json
 * any more.
 */
function heldDomains(
  before: TemplateDocument | undefined,
  stages: readonly string[],
  isIssued: (stage: string) => boolean,
) {
  const certificates: Record<string, string> = {};
  const held = new Map<string, { readonly domain: string; readonly path: string }>();
  for (const stage of stages) {
    const mapping = before?.Resources[logicalId("Mapping", stage)]?.Properties;
    const reference = (mapping?.DomainName as { Ref?: string } | undefined)?.Ref;
    const domain = before?.Resources[reference ?? ""]?.Properties;
    if (mapping === undefined || domain === undefined || isIssued(stage)) continue;
    held.set(stage, { domain: domain.DomainName as string, path: (mapping.BasePath as string | undefined) ?? "" });
    certificates[domain.DomainName as string] = domain.CertificateArn as string;
  }
  return {
    certificates,
    stages: ({ stages: written = {} }: Config): NonNullable<Config["stages"]> =>
      Object.fromEntries(
        [...held].flatMap(([stage, old]) => {
          const stageConfig = written[stage];
          if (stageConfig?.domain === undefined) return [];
          // A named zone may belong to the new domain only; `false` applies to both.
          const { zone, ...rest } = stageConfig;
          return [[stage, { ...rest, ...(zone === false && { zone }), ...old }]];
        }),
      ),
  };
}
