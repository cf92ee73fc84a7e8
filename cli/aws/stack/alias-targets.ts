/**
 * The hosted zone that an ALIAS record has to name for its target; undefined if the name does not tell. From the "Service
 * endpoints" pages of the AWS General Reference (S3 websites, Elastic Load Balancing) and the documentation of AliasTarget
 * (CloudFront, Global Accelerator).
 */
export function aliasZone(target: string): string | undefined {
  if (target.endsWith(".cloudfront.net")) return "Z2FDTNDATAQYW2";
  if (target.endsWith(".awsglobalaccelerator.com")) return "Z2BJ6XQ5FK7U4H";
  const website = /(?:^|\.)s3-website[.-]([a-z0-9-]+)\.amazonaws\.com$/.exec(target)?.[1];
  if (website !== undefined) return S3_WEBSITES[website];
  const balancer = /\.([a-z0-9-]+)\.elb\.amazonaws\.com$/.exec(target)?.[1];
  return balancer === undefined ? undefined : LOAD_BALANCERS[balancer];
}

const S3_WEBSITES: Readonly<Record<string, string>> = {
  "ap-northeast-1": "Z2M4EHUR26P7ZW",
  "ap-northeast-2": "Z3W03O7B5YMIYP",
  "ap-south-1": "Z11RGJOFQNVJUP",
  "ap-southeast-1": "Z3O0J2DXBE1FTB",
  "ap-southeast-2": "Z1WCIGYICN2BYD",
  "eu-central-1": "Z21DNDUVLTQW6Q",
  "eu-west-1": "Z1BKCTXD74EZPE",
  "sa-east-1": "Z7KQH4QJS55SO",
  "us-east-1": "Z3AQBSTGFYJSTF",
  "us-east-2": "Z2O1EMRO9K5GLX",
  "us-west-1": "Z2F56UZL2M1ACD",
  "us-west-2": "Z3BJ6K6RIION7M",
};

/** Application and Classic Load Balancers. */
const LOAD_BALANCERS: Readonly<Record<string, string>> = {
  "ap-northeast-1": "Z14GRHDCWA56QT",
  "ap-northeast-2": "ZWKZPGTI48KDX",
  "ap-south-1": "ZP97RAFLXTNZK",
  "ap-southeast-1": "Z1LMS91P8CMLE5",
  "ap-southeast-2": "Z1GM3OXH4ZPM65",
  "ca-central-1": "ZQSVJUPU6J1EY",
  "eu-central-1": "Z215JYRZR1TBD5",
  "eu-north-1": "Z23TAZ6LKFMNIO",
  "eu-west-1": "Z32O12XQLNTSW2",
  "eu-west-2": "ZHURV8PSTC4K8",
  "eu-west-3": "Z3Q77PNBQS71R4",
  "sa-east-1": "Z2P70J7HTTTPLU",
  "us-east-1": "Z35SXDOTRQ7X7K",
  "us-east-2": "Z3AADJGX6KTTL2",
  "us-west-1": "Z368ELLRRE2KJ0",
  "us-west-2": "Z1H1FL5HABSF5",
};
