// The contents of a log group, for its calls and for its tails.

export interface LogEvent {
  readonly id: string;
  readonly stream: string;
  readonly timestamp: number;
  readonly ingestedAt: number;
  readonly message: string;
}

export interface LogGroup {
  readonly name: string;
  readonly arn: string;
  readonly createdAt: number;
  readonly streams: Map<string, { readonly createdAt: number }>;
  retentionInDays?: number;
  readonly tags: Map<string, string>;
}
