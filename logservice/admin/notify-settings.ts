import { OperatorError } from "../error.ts";
import type { Mailer } from "../mail/mailer.ts";
import { type NotifySettings, PAGERDUTY_URL } from "../notify/settings.ts";
import { readSmsSettings } from "../notify/sms-settings.ts";

/** The operator's options for the delivery of alerts, as they were written. */
export interface NotifyOptions {
  /** The provider of text messages: a twilio:// URL or JSON; it holds secrets. */
  readonly sms?: string | undefined;
  readonly pagerdutyUrl?: string | undefined;
  /** Whether alerts may call private addresses and plain http. */
  readonly allowsPrivate?: boolean | undefined;
}

/** Reads what the operator says about the delivery of alerts. Throws an OperatorError. */
export function readNotify(options: NotifyOptions, mailer: Mailer | undefined): NotifySettings {
  const { sms, pagerdutyUrl = PAGERDUTY_URL, allowsPrivate = false } = options;
  if (!URL.canParse(pagerdutyUrl) || !/^https?:$/.test(new URL(pagerdutyUrl).protocol))
    throw new OperatorError(`${JSON.stringify(pagerdutyUrl)} is not a URL`, {
      hint: `write --pagerduty-url ${PAGERDUTY_URL}`,
    });
  return { mailer, sms: sms === undefined ? undefined : readSmsSettings(sms), pagerdutyUrl, allowsPrivate };
}
