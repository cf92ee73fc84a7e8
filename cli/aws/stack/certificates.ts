import { createHash } from "node:crypto";
import type { ACM, CertificateDetail, Tag } from "@aws-sdk/client-acm";
import { getDomain } from "tldts";
import type { Clock } from "../../../grammar/units/clock.ts";
import type { DomainCertificate } from "../../platform/stack.ts";
import type { Cloud } from "../clients.ts";
import { hasEdge, TAGS } from "../names.ts";
import type { Zones } from "./resource.ts";
import { zoneOf } from "./zones.ts";

/** The region of certificates for edge-optimized domains, whatever the app's region is. */
export const CERTIFICATE_REGION = "us-east-1";

/** The mailboxes of a domain that ACM sends validation emails to. */
const MAILBOXES = ["admin", "administrator", "hostmaster", "postmaster", "webmaster"];

/** The validation record is known some seconds after the request. */
const RECORD_WAIT_MS = 30_000;
const RECORD_POLL_MS = 1000;

/** TTL of a validation record, the same as ACM's console sets. */
const RECORD_TTL_S = 300;

export interface KnownCertificate extends DomainCertificate {
  readonly arn: string | undefined;
}

/**
 * The certificate of each domain: the one in use if it is still issued, else another issued one that covers the domain, else
 * a pending one. None if the region has no edge-optimized domains.
 */
export async function findCertificates(
  cloud: Cloud,
  domains: readonly string[],
  inUse: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<KnownCertificate[]> {
  if (domains.length === 0 || !hasEdge(cloud.region)) return [];
  const acm = await cloud.acm(CERTIFICATE_REGION);
  const arns = new Map<string, Set<string>>(domains.map((domain) => [domain, new Set()]));
  for (let NextToken: string | undefined; ; ) {
    const page = await acm.listCertificates(
      { MaxItems: 1000, ...(NextToken && { NextToken }) },
      { abortSignal: signal },
    );
    for (const { CertificateArn, DomainName, SubjectAlternativeNameSummaries = [] } of page.CertificateSummaryList ??
      []) {
      for (const domain of domains) {
        const names = [DomainName ?? "", ...SubjectAlternativeNameSummaries];
        if (names.some((name) => covers(name, domain))) arns.get(domain)!.add(CertificateArn!);
      }
    }
    NextToken = page.NextToken;
    if (NextToken === undefined) break;
  }
  const details = new Map<string, CertificateDetail>();
  for (const arn of new Set([...arns.values()].flatMap((set) => [...set]))) {
    details.set(arn, (await acm.describeCertificate({ CertificateArn: arn }, { abortSignal: signal })).Certificate!);
  }
  return domains.map((domain) => {
    const candidates = [...arns.get(domain)!].map((arn) => details.get(arn)!);
    const rank = (one: CertificateDetail) => [
      stateOf(one) === "issued" ? 0 : stateOf(one) === "pending" ? 1 : 2,
      one.CertificateArn === inUse[domain] ? 0 : 1,
      // A certificate that waits for email is kept when a zone is added: the first one to be issued is used.
      one.DomainValidationOptions?.[0]?.ValidationMethod === "DNS" ? 0 : 1,
      one.DomainName === domain ? 0 : 1,
    ];
    const best = candidates.sort((a, b) => compare(rank(a), rank(b)))[0];
    if (best === undefined)
      return { domain, arn: undefined, state: "missing", reason: undefined, validation: undefined };
    return certificateOf(domain, best);
  });
}

export interface CertificateRequest {
  readonly app: string;
  readonly domain: string;
  /** Whether the domain's zone is in the account, or is created by this apply. */
  readonly isZoneOurs: boolean;
  readonly tags: readonly Tag[];
  /** The zones that exist already. */
  readonly zones: Zones;
}

/**
 * Requests a certificate, and writes its validation record if the zone exists already. Other zones are validated by email.
 */
export async function requestCertificate(
  cloud: Cloud,
  { app, domain, isZoneOurs, tags, zones }: CertificateRequest,
  signal: AbortSignal,
): Promise<KnownCertificate> {
  const acm = await cloud.acm(CERTIFICATE_REGION);
  const owner = getDomain(domain) ?? domain;
  const method = isZoneOurs ? "DNS" : "EMAIL";
  const { CertificateArn } = await acm.requestCertificate(
    {
      DomainName: domain,
      ValidationMethod: method,
      // Emails for api.example.com go to mailboxes of example.com, as the subdomain has none.
      ...(!isZoneOurs && { DomainValidationOptions: [{ DomainName: domain, ValidationDomain: owner }] }),
      // Within an hour the same token returns the same certificate, so that an interrupted run can request it again.
      IdempotencyToken: createHash("sha256").update(`${app} ${domain} ${method}`).digest("hex").slice(0, 32),
      Tags: [...tags],
    },
    { abortSignal: signal },
  );
  const detail = await describeSoon(acm, CertificateArn!, isZoneOurs, { signal, clock: cloud.clock });
  return writeValidationRecord(cloud, certificateOf(domain, detail), zones, signal);
}

/** Writes the validation record of a pending certificate if its zone is ours. Writing it twice changes nothing. */
export async function writeValidationRecord(
  cloud: Cloud,
  certificate: KnownCertificate,
  zones: Zones,
  signal: AbortSignal,
): Promise<KnownCertificate> {
  const { validation, domain } = certificate;
  const zone = zoneOf(domain, zones);
  if (validation?.by !== "record" || zone === undefined) return certificate;
  await changeRecord(cloud, { action: "UPSERT", zoneId: zone.id, record: validation }, signal);
  return { ...certificate, validation: { ...validation, isMade: true } };
}

/** Updates the tags of our certificates to the stack's. Only tags in `before`, the stack's tags until now, are removed. */
export async function tagCertificates(
  cloud: Cloud,
  certificates: readonly KnownCertificate[],
  { wanted, before }: { readonly wanted: readonly Tag[]; readonly before: readonly Tag[] },
  signal: AbortSignal,
): Promise<void> {
  const textOf = (tags: readonly Tag[]) => JSON.stringify(tags.map(({ Key, Value }) => [Key, Value]).sort());
  if (textOf(wanted) === textOf(before)) return;
  const acm = await cloud.acm(CERTIFICATE_REGION);
  const options = { abortSignal: signal };
  const app = wanted.find(({ Key }) => Key === TAGS.app)?.Value;
  const isNamed = (tags: readonly Tag[], tag: Tag) => tags.some(({ Key }) => Key === tag.Key);
  for (const { arn: CertificateArn } of certificates) {
    if (CertificateArn === undefined) continue;
    const { Tags: current = [] } = await acm.listTagsForCertificate({ CertificateArn }, options);
    if (!current.some(({ Key, Value }) => Key === TAGS.app && Value === app)) continue;
    const gone = current.filter((tag) => isNamed(before, tag) && !isNamed(wanted, tag));
    const changed = wanted.filter((tag) => !current.some(({ Key, Value }) => Key === tag.Key && Value === tag.Value));
    // Removed first, as a certificate has at most 50 tags.
    const names = gone.map(({ Key }) => ({ Key }));
    if (gone.length > 0) await acm.removeTagsFromCertificate({ CertificateArn, Tags: names }, options);
    if (changed.length > 0) await acm.addTagsToCertificate({ CertificateArn, Tags: changed }, options);
  }
}

export interface RecordChange {
  readonly action: "UPSERT" | "DELETE";
  readonly zoneId: string;
  readonly record: { readonly name: string; readonly value: string };
}

/** Writes or deletes a validation record. */
export async function changeRecord(
  cloud: Cloud,
  { action, zoneId, record: { name, value } }: RecordChange,
  signal: AbortSignal,
): Promise<void> {
  const route53 = await cloud.route53();
  const ResourceRecordSet = {
    Name: name,
    Type: "CNAME" as const,
    TTL: RECORD_TTL_S,
    ResourceRecords: [{ Value: value }],
  };
  await route53.changeResourceRecordSets(
    { HostedZoneId: zoneId, ChangeBatch: { Changes: [{ Action: action, ResourceRecordSet }] } },
    { abortSignal: signal },
  );
}

async function describeSoon(
  acm: ACM,
  arn: string,
  byRecord: boolean,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: Clock },
): Promise<CertificateDetail> {
  const end = clock.monotonicMs() + RECORD_WAIT_MS;
  for (;;) {
    const { Certificate } = await acm.describeCertificate({ CertificateArn: arn }, { abortSignal: signal });
    const options = Certificate!.DomainValidationOptions?.[0];
    const isKnown = byRecord ? options?.ResourceRecord !== undefined : options !== undefined;
    if (isKnown || clock.monotonicMs() > end) return Certificate!;
    await clock.sleep(RECORD_POLL_MS, signal);
  }
}

function certificateOf(domain: string, detail: CertificateDetail): KnownCertificate {
  const state = stateOf(detail);
  const option =
    detail.DomainValidationOptions?.find(({ DomainName }) => DomainName === domain) ??
    detail.DomainValidationOptions?.[0];
  const record = option?.ResourceRecord;
  const owner = option?.ValidationDomain ?? getDomain(domain) ?? domain;
  return {
    domain,
    arn: detail.CertificateArn,
    state,
    reason: detail.FailureReason ?? (state === "failed" ? detail.Status : undefined),
    validation:
      state !== "pending"
        ? undefined
        : record !== undefined
          ? { by: "record", name: record.Name!, value: record.Value!, isMade: false }
          : {
              by: "email",
              addresses: option?.ValidationEmails?.length
                ? option.ValidationEmails
                : MAILBOXES.map((mailbox) => `${mailbox}@${owner}`),
            },
  };
}

function stateOf({ Status }: CertificateDetail): DomainCertificate["state"] {
  return Status === "ISSUED" ? "issued" : Status === "PENDING_VALIDATION" ? "pending" : "failed";
}

/** A wildcard matches one label (RFC 6125 section 6.4.3). */
function covers(name: string, domain: string): boolean {
  if (name.toLowerCase() === domain) return true;
  return name.startsWith("*.") && domain.split(".").slice(1).join(".") === name.slice(2).toLowerCase();
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}
