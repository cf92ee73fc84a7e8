/** Where domains are registered. Every method throws a `PlatformError` if a call fails. */
export interface Registrar {
  /** The domains of the account. */
  list(signal: AbortSignal): Promise<readonly OwnedDomain[]>;
  check(domain: string, signal: AbortSignal): Promise<DomainOffer>;
  /** Buys a domain for a year, with private contacts and automatic renewal. Returns the id of the registration. */
  buy(domain: string, contact: Contact, signal: AbortSignal): Promise<string>;
}

export interface OwnedDomain {
  readonly domain: string;
  /** RFC 3339. */
  readonly expires: string | undefined;
  readonly renews: boolean;
}

export interface DomainOffer {
  readonly domain: string;
  readonly isAvailable: boolean;
  /** Why it is not available, if the reason is another than that it is taken. */
  readonly reason: string | undefined;
  /** Price of a year; undefined if the registrar names none. */
  readonly price: { readonly amount: number; readonly currency: string; readonly renewal: number } | undefined;
}

export interface Contact {
  readonly firstName: string;
  readonly lastName: string;
  /** Empty for a person. */
  readonly organization: string;
  readonly email: string;
  /** With a dot after the country code: `+1.2125550123`. */
  readonly phone: string;
  readonly address: string;
  readonly city: string;
  /** Empty if the country has none. */
  readonly state: string;
  readonly zip: string;
  /** ISO 3166: `US`. */
  readonly country: string;
}
