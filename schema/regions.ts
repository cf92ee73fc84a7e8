/**
 * The regions of the function platform, as published in November 2025. The list will be out of date: unknown ids are a
 * warning.
 */
export const REGIONS: readonly string[] = [
  "af-south-1",
  "ap-east-1",
  "ap-east-2",
  "ap-northeast-1",
  "ap-northeast-2",
  "ap-northeast-3",
  "ap-south-1",
  "ap-south-2",
  "ap-southeast-1",
  "ap-southeast-2",
  "ap-southeast-3",
  "ap-southeast-4",
  "ap-southeast-5",
  "ap-southeast-6",
  "ap-southeast-7",
  "ca-central-1",
  "ca-west-1",
  "eu-central-1",
  "eu-central-2",
  "eu-north-1",
  "eu-south-1",
  "eu-south-2",
  "eu-west-1",
  "eu-west-2",
  "eu-west-3",
  "il-central-1",
  "me-central-1",
  "me-south-1",
  "mx-central-1",
  "sa-east-1",
  "us-east-1",
  "us-east-2",
  "us-west-1",
  "us-west-2",
];

/** Regions that need an account of their own kind: known by name, never meant by a glob. */
export const SEPARATE_REGIONS: readonly string[] = ["cn-north-1", "cn-northwest-1", "us-gov-east-1", "us-gov-west-1"];

export const DEFAULT_REGION = "us-west-2";

/** Whether a pattern says `*` and the like, rather than naming one region. */
export const isGlob = (pattern: string) => /[*?[\]{}\\]/.test(pattern);
