// Route 53 Domains: names that are free, taken, ours, and what they cost. It is in us-east-1 only.
import { randomUUID } from "node:crypto";
import type {
  CheckDomainAvailabilityCommandInput,
  GetOperationDetailCommandInput,
  ListPricesCommandInput,
  RegisterDomainCommandInput,
} from "@aws-sdk/client-route-53-domains";
import { AwsError } from "./protocol/error.ts";
import type { World } from "./world.ts";

/** Prices of some endings, in dollars a year. */
const PRICES: Readonly<Record<string, number>> = { com: 15, net: 17, org: 15, dev: 17, io: 71, app: 19, de: 9 };

/** How long a registration takes, in the cloud's time: some minutes. */
const REGISTRATION_MS = 300_000;

interface Registration {
  status: string;
  readonly domain: string;
  readonly at: Date;
  readonly years: number;
  readonly autoRenew: boolean;
}

const endingOf = (name: string) => name.split(".").slice(1).join(".");

export function openRoute53Domains(world: World) {
  const domains = world.collection<{ readonly expiresAt: Date; readonly autoRenew: boolean }>(
    "route53domains",
    "",
    "domains",
  );
  const taken = new Set(["example.com", "example.org", "example.net"]);
  const running = world.collection<Registration>("route53domains", "", "registrations");

  const tasks = world.tasks("route53domains", "", {
    register(id) {
      const registration = running.get(id);
      if (registration === undefined) return;
      const expiresAt = new Date(world.clock.now() + registration.years * 365 * 86_400_000);
      domains.set(registration.domain, { expiresAt, autoRenew: registration.autoRenew });
      // A registration makes a zone, too.
      world.service("route53").operations.CreateHostedZone({
        Name: registration.domain,
        CallerReference: id,
        HostedZoneConfig: { Comment: "HostedZone created by Route53 Registrar" },
      });
      registration.status = "SUCCESSFUL";
    },
  });

  const checkEnding = (name: string) => {
    if (PRICES[endingOf(name)] === undefined)
      throw new AwsError("UnsupportedTLD", `Amazon Route 53 does not support the top-level domain ${endingOf(name)}`);
  };
  const isFree = (name: string) => !taken.has(name) && !domains.has(name);

  const operations = {
    ListDomains: () => ({
      Domains: Array.from(domains, ([DomainName, { expiresAt, autoRenew }]) => ({
        DomainName,
        AutoRenew: autoRenew,
        TransferLock: true,
        Expiry: expiresAt,
      })),
    }),
    CheckDomainAvailability(input: CheckDomainAvailabilityCommandInput) {
      checkEnding(input.DomainName ?? "");
      return { Availability: isFree(input.DomainName ?? "") ? "AVAILABLE" : "UNAVAILABLE" };
    },
    ListPrices(input: ListPricesCommandInput) {
      const own = Object.entries(PRICES).filter(([ending]) => input.Tld === undefined || ending === input.Tld);
      if (own.length === 0)
        throw new AwsError("UnsupportedTLD", `Amazon Route 53 does not support the top-level domain ${input.Tld}`);
      return {
        Prices: own.map(([Name, Price]) => ({
          Name,
          RegistrationPrice: { Price, Currency: "USD" },
          RenewalPrice: { Price, Currency: "USD" },
          TransferPrice: { Price, Currency: "USD" },
        })),
      };
    },
    RegisterDomain(input: RegisterDomainCommandInput) {
      const domain = input.DomainName ?? "";
      checkEnding(domain);
      if (!isFree(domain)) throw new AwsError("InvalidInput", `The domain ${domain} is not available`);
      const id = randomUUID();
      running.set(id, {
        status: "IN_PROGRESS",
        domain,
        at: world.clock.date(),
        years: input.DurationInYears ?? 1,
        autoRenew: input.AutoRenew ?? true,
      });
      tasks.after(REGISTRATION_MS, "register", id);
      return { OperationId: id };
    },
    GetOperationDetail(input: GetOperationDetailCommandInput) {
      const registration = running.get(input.OperationId ?? "");
      if (registration === undefined) throw new AwsError("InvalidInput", "The operation ID is not valid");
      return {
        OperationId: input.OperationId,
        Status: registration.status,
        DomainName: registration.domain,
        Type: "REGISTER_DOMAIN",
        SubmittedDate: registration.at,
      };
    },
    GetDomainDetail(input: { DomainName?: string }) {
      const domain = domains.get(input.DomainName ?? "");
      if (domain === undefined) throw new AwsError("InvalidInput", `Domain ${input.DomainName} not found in account`);
      return { DomainName: input.DomainName, ExpirationDate: domain.expiresAt, AutoRenew: domain.autoRenew };
    },
  };
  return { operations, domains, taken };
}
