import type { Change } from "../../platform/stack.ts";

interface Asked {
  readonly removed: boolean;
  readonly replaced: boolean;
}

/** Visitors or other systems would notice: an address, a name or a right is gone, for a while or for good. */
const ASKS: Asked = { removed: true, replaced: true };
/** What goes is made again by the next apply, or follows from what asks already. */
const GOES: Asked = { removed: false, replaced: false };

/** Every type that our templates have. */
export const CONFIRMATIONS: Readonly<Record<string, Asked>> = {
  // Another API is another default address for every stage.
  "AWS::ApiGateway::RestApi": ASKS,
  "AWS::ApiGateway::Stage": ASKS,
  "AWS::ApiGateway::DomainName": ASKS,
  "AWS::ApiGateway::BasePathMapping": ASKS,
  // Without it the gateway answers 500.
  "AWS::Lambda::Permission": ASKS,
  // A new zone has other name servers; one that is kept in the account is no longer looked after.
  "AWS::Route53::HostedZone": ASKS,
  "AWS::Route53::RecordSet": ASKS,
  "AWS::ApiGateway::Resource": GOES,
  "AWS::ApiGateway::Method": GOES,
  // Another shape of the API is another deployment.
  "AWS::ApiGateway::Deployment": GOES,
  "AWS::CloudWatch::Alarm": GOES,
  "AWS::IAM::Role": GOES,
  "AWS::Lambda::Function": GOES,
  "AWS::SNS::Subscription": GOES,
  "AWS::SNS::Topic": GOES,
  "AWS::Scheduler::Schedule": GOES,
};

/** Whether `stack apply` asks before it makes this change. What may be replaced counts as replaced. */
export function needsConfirmation({ action, type, replaced }: Pick<Change, "action" | "type" | "replaced">): boolean {
  const asked = CONFIRMATIONS[type] ?? ASKS;
  return (action === "remove" && asked.removed) || (replaced !== "no" && asked.replaced);
}
