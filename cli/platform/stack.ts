// The infrastructure in front of an app's function, as commands see it. That CloudFormation makes it is known below
// cli/aws only.

/** The stack of one app. Every method throws a `PlatformError` where the outside world failed. */
export interface Stack {
  /** Undefined where there is none. */
  status(watch: StackWatch): Promise<StackStatus | undefined>;
  /** What `apply` would do. Changes nothing. */
  plan(watch: StackWatch): Promise<StackPlan>;
  /**
   * Requests the certificates that are missing and makes the stack what tool.json asks for. `confirm` is asked before
   * an existing stack is changed, and may stop it.
   */
  apply(confirm: (plan: StackPlan) => Promise<boolean>, watch: StackWatch): Promise<ApplyResult>;
  /** What `remove` would remove, and what it would leave, with the reason, as far as that is known beforehand. */
  inventory(
    options: { readonly logs: boolean },
    watch: StackWatch,
  ): Promise<readonly (Owned & { readonly stays: string | undefined })[]>;
  /** Removes all that deploying made for the app. */
  remove(options: { readonly logs: boolean }, watch: StackWatch): Promise<RemoveResult>;
}

export interface StackWatch {
  readonly signal: AbortSignal;
  readonly report: (event: StackEvent) => void;
}

/** What happens while one waits. */
export type StackEvent =
  | {
      readonly kind: "resource";
      readonly id: string;
      readonly type: string;
      /** In the user's words. */
      readonly about: string;
      readonly stage: string | undefined;
      readonly action: "create" | "update" | "delete";
      readonly state: "begun" | "done" | "failed";
      /** Whether the change is taken back. */
      readonly isRollback: boolean;
      readonly reason: string | undefined;
      readonly at: Date;
    }
  /** Something to know: a wait for another run, a stack that is made again. */
  | { readonly kind: "note"; readonly text: string };

export interface StackStatus {
  readonly name: string;
  readonly region: string;
  readonly state: string;
  readonly stages: readonly StageStatus[];
  readonly certificates: readonly Certificate[];
  readonly zones: readonly Zone[];
  readonly resources: readonly StackResource[];
  /** Whether tool.json asks for what the stack is not. */
  readonly isBehind: boolean;
}

export interface StageStatus {
  readonly stage: string;
  readonly endpoint: string;
  readonly domain: string | undefined;
  /** Where a record of the domain has to point; undefined until the domain is in the stack. */
  readonly target: string | undefined;
  readonly isDeployed: boolean;
}

export interface Zone {
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
export interface Certificate {
  readonly domain: string;
  readonly state: "issued" | "pending" | "failed" | "missing";
  readonly reason: string | undefined;
  /** How the domain's owner proves it, while it is pending. */
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
  readonly changes: readonly Change[];
  /** Of the domains whose certificate is not issued: they are left out. */
  readonly certificates: readonly Certificate[];
}

export interface Change {
  readonly action: "add" | "change" | "remove";
  readonly id: string;
  readonly type: string;
  readonly about: string;
  readonly stage: string | undefined;
  /** It would be made anew: `possibly` where only the platform knows, once it is at it. */
  readonly replaced: "yes" | "possibly" | "no";
  /** Removed from the stack, but left in the account. */
  readonly isKept: boolean;
  /** `apply` asks first: something that others rely on is removed or replaced. */
  readonly needsConfirmation: boolean;
  readonly properties: readonly PropertyChange[];
}

export interface PropertyChange {
  readonly path: string;
  /** As JSON; undefined where there was none, or it is a secret. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface ApplyResult {
  readonly outcome: "created" | "updated" | "unchanged" | "cancelled";
  readonly plan: StackPlan;
  readonly status: StackStatus | undefined;
}

/** Something that deploying made. */
export interface Owned {
  readonly kind: string;
  readonly name: string;
}

export interface RemoveResult {
  readonly removed: readonly Owned[];
  /** What stays, and why. */
  readonly left: readonly (Owned & { readonly reason: string })[];
}
