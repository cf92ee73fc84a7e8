// The infrastructure in front of an app's function, as commands see it. That CloudFormation makes it is known below
// cli/aws only.

/** The stack of one app. Every method throws a `PlatformError` if a call to the platform fails. */
export interface Stack {
  /** Undefined if there is no stack. */
  status(watch: StackWatch): Promise<StackStatus | undefined>;
  /** The changes that `apply` would make. Changes nothing. */
  plan(watch: StackWatch): Promise<StackPlan>;
  /**
   * Requests missing certificates, then creates or updates the stack to match tool.json. `confirm` is called before an
   * existing stack is changed, and may prevent it. `streamKey` is asked for the token of the stream to the log service if
   * tool.json wants one.
   */
  apply(
    options: {
      readonly confirm: (plan: StackPlan) => Promise<boolean>;
      readonly streamKey: () => Promise<string>;
    },
    watch: StackWatch,
  ): Promise<ApplyResult>;
  /** Gives the stream to the log service another token, and changes nothing else. False if the stack has no stream. */
  changeStreamKey(key: string, watch: StackWatch): Promise<boolean>;
  /** Things that `remove` would delete, and those that it would keep and why, as far as they are known in advance. */
  inventory(
    options: RemoveOptions,
    watch: StackWatch,
  ): Promise<readonly (Owned & { readonly stays: string | undefined })[]>;
  /** Deletes everything that deploying created for the app. */
  remove(options: RemoveOptions, watch: StackWatch): Promise<RemoveResult>;
}

/** Whether things that a deploy did not make are removed, too: the logs, and the variables of `tool env`. */
export interface RemoveOptions {
  readonly logs: boolean;
  readonly env: boolean;
}

export interface StackWatch {
  readonly signal: AbortSignal;
  readonly report: (event: StackEvent) => void;
}

/** An event while an operation runs. */
export type StackEvent =
  | {
      readonly kind: "resource";
      readonly id: string;
      readonly type: string;
      /** The resource in the words of tool.json: `domain api.example.com`. */
      readonly about: string;
      readonly stage: string | undefined;
      readonly action: "create" | "update" | "delete";
      readonly state: "begun" | "done" | "failed";
      /** Whether the change is being rolled back. */
      readonly isRollback: boolean;
      readonly reason: string | undefined;
      readonly at: Date;
    }
  /** Something to know: another run has to finish first, a failed stack is created again. */
  | { readonly kind: "note"; readonly text: string };

export interface StackStatus {
  readonly name: string;
  readonly region: string;
  readonly state: string;
  readonly stages: readonly StageStatus[];
  readonly certificates: readonly DomainCertificate[];
  readonly zones: readonly StackZone[];
  readonly resources: readonly StackResource[];
  /** Whether tool.json has changes that were not applied yet. */
  readonly isBehind: boolean;
}

export interface StageStatus {
  readonly stage: string;
  readonly endpoint: string;
  readonly domain: string | undefined;
  /** The name that the domain's DNS record has to point to; undefined until the domain is in the stack. */
  readonly target: string | undefined;
  readonly isDeployed: boolean;
}

export interface StackZone {
  readonly name: string;
  readonly nameservers: readonly string[];
  /** Whether the stack made it. */
  readonly isOurs: boolean;
}

export interface StackResource {
  readonly id: string;
  readonly type: string;
  readonly about: string;
  readonly stage: string | undefined;
  readonly physicalId: string | undefined;
  readonly state: string;
}

/** The certificate of a domain. */
export interface DomainCertificate {
  readonly domain: string;
  readonly state: "issued" | "pending" | "failed" | "missing";
  readonly reason: string | undefined;
  /** How the domain's ownership is validated while the certificate is pending. */
  readonly validation:
    | { readonly by: "record"; readonly name: string; readonly value: string; readonly isMade: boolean }
    | { readonly by: "email"; readonly addresses: readonly string[] }
    | undefined;
}

export interface StackPlan {
  readonly name: string;
  readonly region: string;
  /** Whether there is no stack yet. */
  readonly isNew: boolean;
  readonly changes: readonly StackChange[];
  /** Certificates that are not issued yet; their domains are not in the plan. */
  readonly certificates: readonly DomainCertificate[];
}

export interface StackChange {
  readonly action: "add" | "change" | "remove";
  readonly id: string;
  readonly type: string;
  readonly about: string;
  readonly stage: string | undefined;
  /** Whether the resource is replaced; `possibly` if only the platform finds out, during the change. */
  readonly replaced: "yes" | "possibly" | "no";
  /** Removed from the stack, but kept in the account. */
  readonly isKept: boolean;
  /** Whether `apply` asks first: something that others rely on is removed or replaced. */
  readonly needsConfirmation: boolean;
  readonly properties: readonly PropertyChange[];
}

export interface PropertyChange {
  readonly path: string;
  /** As JSON; undefined if there is no value, or it is secret. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface ApplyResult {
  readonly outcome: "created" | "updated" | "unchanged" | "cancelled";
  readonly plan: StackPlan;
  readonly status: StackStatus | undefined;
}

/** Something that deploying created. */
export interface Owned {
  readonly kind: string;
  readonly name: string;
}

export interface RemoveResult {
  readonly removed: readonly Owned[];
  /** The things that are kept, and why. */
  readonly left: readonly (Owned & { readonly reason: string })[];
}
