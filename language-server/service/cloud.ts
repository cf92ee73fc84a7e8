/** The kinds of names in an AWS account that a tool.json may hold. */
export const CLOUD_KINDS = [
  "certificates",
  "layers",
  "roles",
  "security-groups",
  "stages",
  "subnets",
  "zones",
] as const;

export type CloudKind = (typeof CLOUD_KINDS)[number];

/** Asks for the names of one kind, as the account of an app's credentials has them. */
export interface CloudQuestion {
  readonly kind: CloudKind;
  /** The app's name, for its stages. */
  readonly app?: string | undefined;
  /** `profile` of tool.json. */
  readonly profile?: string | undefined;
  /** The first of its `regions`. */
  readonly region?: string | undefined;
}

export interface CloudName {
  /** As tool.json has it: `example.com`, an ARN, `staging`. */
  readonly name: string;
  /** A few words to show beside it. */
  readonly detail?: string;
  /** The address of a stage. */
  readonly url?: string;
  /** The VPC of a subnet or a security group, if the account tells: those of one function are of the same. */
  readonly network?: string;
}

export interface CloudAnswer {
  readonly names: readonly CloudName[];
  /** Whether the account is being asked: the names may be other ones in a moment. */
  readonly isPending: boolean;
}

export const NO_NAMES: CloudAnswer = { names: [], isPending: false };
