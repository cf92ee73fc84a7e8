import type { Mailer } from "../mail/mailer.ts";
import type { SmsSettings } from "./sms-settings.ts";

/** The operator's settings for the delivery of alerts. */
export interface NotifySettings {
  readonly mailer: Mailer | undefined;
  readonly sms: SmsSettings | undefined;
  /** Where PagerDuty is: PAGERDUTY_URL unless told otherwise. */
  readonly pagerdutyUrl: string;
  /** Permits targets on the service's own network, and plain http. */
  readonly allowsPrivate: boolean;
}

export const PAGERDUTY_URL = "https://events.pagerduty.com";

/** The kinds of notification that are not delivered, each with the option that is missing: `email: no --smtp`. */
export function missingSettings({ mailer, sms }: Pick<NotifySettings, "mailer" | "sms">): string[] {
  return [...(mailer === undefined ? ["email: no --smtp"] : []), ...(sms === undefined ? ["sms: no --sms"] : [])];
}
