import type { ContactDetail, CountryCode, Route53Domains } from "@aws-sdk/client-route-53-domains";
import type { Clock } from "../../grammar/units/clock.ts";
import { PlatformError } from "../platform/error.ts";
import type { Contact, DomainOffer, OwnedDomain, Registrar } from "../platform/registrar.ts";
import type { SandboxAccess } from "../platform/sandbox.ts";
import { openCloud } from "./clients.ts";
import { explained } from "./errors.ts";

/** The registrar's only region. */
const REGION = "us-east-1";

/** The registrar answers PENDING until a slow registry has answered. */
const PENDING_TRIES = 10;
const PENDING_WAIT_MS = 1000;

interface Waiting {
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

export function openRegistrar({
  env,
  clock,
  profile,
  sandbox,
}: {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly profile?: string | undefined;
  readonly sandbox: SandboxAccess | undefined;
}): Registrar {
  const cloud = openCloud({ env, clock, region: REGION, profile, sandbox });
  const call = <T>(run: (client: Route53Domains) => Promise<T>) =>
    explained({ region: REGION, profile, isSandbox: sandbox !== undefined }, async () => run(await cloud.domains()));
  return {
    list: (signal) => call((client) => listDomains(client, signal)),
    check: (domain, signal) => call((client) => checkDomain(client, domain, { signal, clock })),
    buy: (domain, contact, signal) => call((client) => buyDomain(client, domain, contact, signal)),
  };
}

async function listDomains(client: Route53Domains, signal: AbortSignal): Promise<OwnedDomain[]> {
  const domains: OwnedDomain[] = [];
  for (let Marker: string | undefined; ; ) {
    const page = await client.listDomains({ ...(Marker && { Marker }) }, { abortSignal: signal });
    for (const { DomainName, Expiry, AutoRenew } of page.Domains ?? []) {
      domains.push({ domain: DomainName!, expires: Expiry?.toISOString(), renews: AutoRenew === true });
    }
    Marker = page.NextPageMarker;
    if (!Marker) return domains;
  }
}

async function checkDomain(client: Route53Domains, domain: string, { signal, clock }: Waiting): Promise<DomainOffer> {
  const availability = await untilKnown(client, domain, { signal, clock });
  const isAvailable = /^AVAILABLE/.test(availability);
  const offer = { domain, isAvailable, reason: isAvailable ? undefined : REASONS[availability] };
  if (!isAvailable) return { ...offer, price: undefined };
  const Tld = domain.slice(domain.indexOf(".") + 1);
  const { Prices } = await client.listPrices({ Tld }, { abortSignal: signal });
  const { RegistrationPrice, RenewalPrice } = Prices?.[0] ?? {};
  if (RegistrationPrice?.Price === undefined) return { ...offer, price: undefined };
  const { Price: amount, Currency: currency = "USD" } = RegistrationPrice;
  return { ...offer, price: { amount, currency, renewal: RenewalPrice?.Price ?? amount } };
}

const REASONS: Readonly<Record<string, string>> = {
  RESERVED: "it is reserved",
  INVALID_NAME_FOR_TLD: "its ending does not allow such a name",
  DONT_KNOW: "the registry does not answer: try later",
  PENDING: "the registry has not answered yet: try later",
};

async function untilKnown(client: Route53Domains, domain: string, { signal, clock }: Waiting): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const { Availability } = await explainingDomain(
      domain,
      client.checkDomainAvailability({ DomainName: domain }, { abortSignal: signal }),
    );
    if (Availability !== "PENDING" || attempt === PENDING_TRIES) return Availability ?? "DONT_KNOW";
    await clock.sleep(PENDING_WAIT_MS, signal);
  }
}

async function buyDomain(
  client: Route53Domains,
  domain: string,
  contact: Contact,
  signal: AbortSignal,
): Promise<string> {
  const detail = detailOf(contact);
  const { OperationId } = await explainingDomain(
    domain,
    client.registerDomain(
      {
        DomainName: domain,
        DurationInYears: 1,
        AutoRenew: true,
        AdminContact: detail,
        RegistrantContact: detail,
        TechContact: detail,
        PrivacyProtectAdminContact: true,
        PrivacyProtectRegistrantContact: true,
        PrivacyProtectTechContact: true,
      },
      { abortSignal: signal },
    ),
  );
  return OperationId ?? "";
}

function detailOf(contact: Contact): ContactDetail {
  return {
    ContactType: contact.organization === "" ? "PERSON" : "COMPANY",
    FirstName: contact.firstName,
    LastName: contact.lastName,
    ...(contact.organization !== "" && { OrganizationName: contact.organization }),
    Email: contact.email,
    PhoneNumber: contact.phone,
    AddressLine1: contact.address,
    City: contact.city,
    ...(contact.state !== "" && { State: contact.state }),
    ZipCode: contact.zip,
    CountryCode: contact.country as CountryCode,
  };
}

/** Explains errors that are about the domain, not about the call. */
async function explainingDomain<T>(domain: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const { name, message } = error as Error;
    if (name === "UnsupportedTLD") {
      const ending = domain.slice(domain.indexOf("."));
      throw new PlatformError(
        "domains/unsupported",
        `domains that end with ${ending} cannot be bought here`,
        "choose another top-level domain, or buy it elsewhere and create its records there",
        { cause: error },
      );
    }
    if (name !== "InvalidInput") throw error;
    throw new PlatformError(
      "domains/refused",
      `the registrar refuses ${domain}: ${message.replace(/\.$/, "")}`,
      undefined,
      {
        cause: error,
      },
    );
  }
}
