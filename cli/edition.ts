import type { Edition } from "../schema/statement.ts";

/** A build that refuses features of Pro, or asks about them. */
export interface Release {
  readonly edition: Edition;
  /** The account service, whose statements decide about Pro. Without one everything is on, and nobody is asked. */
  readonly account: ReleaseAccount | undefined;
}

export interface ReleaseAccount {
  /** The service's origin. */
  readonly url: string;
  /** The raw public key of its statements in base64: the only one that is believed. */
  readonly key: string;
}

// Inserted by the bundler: build/edition.mjs. What runs unbundled is Pro, as is all that is built from source.
declare const TOOL_EDITION: Edition;
declare const TOOL_ACCOUNT: ReleaseAccount | undefined;

export const edition: Edition = typeof TOOL_EDITION === "undefined" ? "pro" : TOOL_EDITION;
export const releaseAccount: ReleaseAccount | undefined =
  typeof TOOL_ACCOUNT === "undefined" ? undefined : TOOL_ACCOUNT;
