// Certificates, region by region: requested, pending until somebody validates them, issued.
import { randomUUID } from "node:crypto";
import type {
  AddTagsToCertificateCommandInput,
  CertificateDetail,
  DescribeCertificateCommandInput,
  ListCertificatesCommandInput,
  RequestCertificateCommandInput,
} from "@aws-sdk/client-acm";
import { AwsError } from "./protocol/error.ts";
import { randomId } from "./random-name.ts";
import type { World } from "./world.ts";

export interface Certificate {
  readonly arn: string;
  readonly domain: string;
  readonly names: readonly string[];
  readonly method: string;
  readonly createdAt: Date;
  status: "PENDING_VALIDATION" | "ISSUED" | "FAILED" | "VALIDATION_TIMED_OUT";
  issuedAt: Date | undefined;
  readonly inUseBy: Set<string>;
  readonly tags: Map<string, string>;
  /** Some seconds after the request it is known what proves the domain. */
  hasRecord: boolean;
  readonly record: { readonly name: string; readonly value: string };
}

/** How long a certificate stays pending after its records are there, in the cloud's time. */
const VALIDATION_MS = 60_000;

/** How long after the request the record is known, in the cloud's time. */
const RECORD_MS = 2_000;

const MAILBOXES = ["admin", "administrator", "hostmaster", "postmaster", "webmaster"];

export function openAcm(world: World, region: string) {
  const certificates = world.collection<Certificate>("acm", region, "certificates");
  const certificateByArn = (arn: string | undefined): Certificate => {
    const certificate = certificates.get(arn ?? "");
    if (certificate === undefined) {
      throw new AwsError(
        "ResourceNotFoundException",
        `Could not find certificate ${arn} in account ${world.accountId}.`,
      );
    }
    return certificate;
  };

  const issue = (certificate: Certificate) => {
    certificate.status = "ISSUED";
    certificate.issuedAt = world.clock.date();
  };

  let isDelegated = true;
  /** Whether a zone of the account holds the record that proves the domain, and is asked by the world. */
  const isProved = ({ record, method }: Certificate) =>
    method === "DNS" && isDelegated && world.service("route53").hasRecord(record.name, "CNAME", record.value);

  const tasks = world.tasks("acm", region, {
    showRecord(arn) {
      const certificate = certificates.get(arn);
      if (certificate !== undefined) certificate.hasRecord = true;
    },
    validate(arn) {
      const certificate = certificates.get(arn);
      if (certificate?.status !== "PENDING_VALIDATION") return;
      if (isProved(certificate)) issue(certificate);
      else tasks.after(VALIDATION_MS, "validate", arn);
    },
  });

  const operations = {
    RequestCertificate(input: RequestCertificateCommandInput) {
      const domain = input.DomainName ?? "";
      if (!/^(\*\.)?([a-z0-9-]{1,63}\.)+[a-z]{2,63}$/i.test(domain)) {
        throw new AwsError(
          "ValidationException",
          `1 validation error detected: Value '${domain}' at 'domainName' failed to satisfy constraint`,
        );
      }
      const names = [domain, ...(input.SubjectAlternativeNames ?? []).filter((name) => name !== domain)];
      if (names.length > 10)
        throw new AwsError("LimitExceededException", "Certificate exceeded the maximum number of domain names: 10");
      const again = [...certificates.values()].find(
        ({ tags }) => input.IdempotencyToken !== undefined && tags.get("aws:token") === input.IdempotencyToken,
      );
      if (again !== undefined) return { CertificateArn: again.arn };
      const arn = `arn:aws:acm:${region}:${world.accountId}:certificate/${randomUUID()}`;
      const certificate: Certificate = {
        arn,
        domain,
        names,
        method: input.ValidationMethod ?? "EMAIL",
        createdAt: world.clock.date(),
        status: "PENDING_VALIDATION",
        issuedAt: undefined,
        inUseBy: new Set(),
        tags: new Map(input.Tags?.map(({ Key = "", Value = "" }) => [Key, Value])),
        hasRecord: false,
        record: {
          name: `_${randomId(32)}.${domain.replace(/^\*\./, "")}.`,
          value: `_${randomId(32)}.acm-validations.aws.`,
        },
      };
      if (input.IdempotencyToken !== undefined) certificate.tags.set("aws:token", input.IdempotencyToken);
      certificates.set(arn, certificate);
      if (world.options.issuesAtOnce) {
        certificate.hasRecord = true;
        issue(certificate);
        return { CertificateArn: arn };
      }
      tasks.after(RECORD_MS, "showRecord", arn);
      tasks.after(VALIDATION_MS, "validate", arn);
      return { CertificateArn: arn };
    },
    DescribeCertificate: (input: DescribeCertificateCommandInput) => ({
      Certificate: described(certificateByArn(input.CertificateArn)),
    }),
    ListCertificates(input: ListCertificatesCommandInput) {
      const own = [...certificates.values()].filter(
        ({ status }) => input.CertificateStatuses?.includes(status) ?? true,
      );
      const begin = Number(input.NextToken ?? 0);
      const limit = input.MaxItems ?? 100;
      return {
        CertificateSummaryList: own.slice(begin, begin + limit).map((certificate) => ({
          CertificateArn: certificate.arn,
          DomainName: certificate.domain,
          SubjectAlternativeNameSummaries: certificate.names,
          Status: certificate.status,
          Type: "AMAZON_ISSUED",
          InUse: certificate.inUseBy.size > 0,
          CreatedAt: certificate.createdAt,
        })),
        ...(begin + limit < own.length && { NextToken: String(begin + limit) }),
      };
    },
    DeleteCertificate(input: DescribeCertificateCommandInput) {
      const certificate = certificateByArn(input.CertificateArn);
      if (certificate.inUseBy.size > 0) {
        throw new AwsError(
          "ResourceInUseException",
          `Certificate ${certificate.arn} in account ${world.accountId} is in use.`,
        );
      }
      certificates.delete(certificate.arn);
    },
    ResendValidationEmail(input: { CertificateArn?: string }) {
      certificateByArn(input.CertificateArn);
    },
    AddTagsToCertificate(input: AddTagsToCertificateCommandInput) {
      const { tags } = certificateByArn(input.CertificateArn);
      for (const { Key = "", Value = "" } of input.Tags ?? []) tags.set(Key, Value);
    },
    RemoveTagsFromCertificate(input: AddTagsToCertificateCommandInput) {
      const { tags } = certificateByArn(input.CertificateArn);
      for (const { Key = "" } of input.Tags ?? []) tags.delete(Key);
    },
    ListTagsForCertificate: (input: DescribeCertificateCommandInput) => ({
      Tags: [...certificateByArn(input.CertificateArn).tags].flatMap(([Key, Value]) =>
        Key === "aws:token" ? [] : { Key, Value },
      ),
    }),
  };
  return {
    operations,
    certificates,
    /** Issues a certificate, as the owner's click in the mail does, or records in a zone elsewhere. */
    issue: (arn: string) => issue(certificateByArn(arn)),
    /**
     * Whether the registrars of the domains name the servers of the account's zones; they do unless a test says otherwise.
     */
    delegate(is: boolean) {
      isDelegated = is;
    },
  };
}

function described(certificate: Certificate): CertificateDetail {
  return {
    CertificateArn: certificate.arn,
    DomainName: certificate.domain,
    SubjectAlternativeNames: [...certificate.names],
    Status: certificate.status,
    Type: "AMAZON_ISSUED",
    CreatedAt: certificate.createdAt,
    IssuedAt: certificate.issuedAt,
    InUseBy: [...certificate.inUseBy],
    KeyAlgorithm: "RSA_2048",
    DomainValidationOptions: certificate.names.map((name) => {
      const bare = name.replace(/^\*\./, "");
      return {
        DomainName: name,
        ValidationDomain: bare,
        ValidationStatus: certificate.status === "ISSUED" ? "SUCCESS" : "PENDING_VALIDATION",
        ValidationMethod: certificate.method as "DNS",
        ...(certificate.method === "DNS" &&
          certificate.hasRecord && {
            ResourceRecord: { Name: certificate.record.name, Type: "CNAME" as const, Value: certificate.record.value },
          }),
        ...(certificate.method === "EMAIL" && { ValidationEmails: MAILBOXES.map((box) => `${box}@${bare}`) }),
      };
    }),
  };
}
