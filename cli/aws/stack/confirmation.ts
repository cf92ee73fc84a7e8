import type { StackChange } from "../../platform/stack.ts";

interface Confirmation {
  readonly removed: boolean;
  readonly replaced: boolean;
}

/** Visitors or other systems would notice: an address, a name or a permission is gone, for a while or for good. */
const ASKS: Confirmation = { removed: true, replaced: true };
/** The next apply creates it again, or it follows from a change that asks already. */
const SILENT: Confirmation = { removed: false, replaced: false };

/** Every resource type in our templates. */
export const CONFIRMATIONS: Readonly<Record<string, Confirmation>> = {
  // A new API has another default URL for every stage.
  "AWS::ApiGateway::RestApi": ASKS,
  "AWS::ApiGateway::Stage": ASKS,
  "AWS::ApiGateway::DomainName": ASKS,
  "AWS::ApiGateway::BasePathMapping": ASKS,
  // Without it the gateway answers 500.
  "AWS::Lambda::Permission": ASKS,
  // A new zone has other name servers; one that is removed but kept is no longer updated.
  "AWS::Route53::HostedZone": ASKS,
  "AWS::Route53::RecordSet": ASKS,
  "AWS::ApiGateway::Resource": SILENT,
  "AWS::ApiGateway::Method": SILENT,
  // A changed API gets a new deployment.
  "AWS::ApiGateway::Deployment": SILENT,
  "AWS::CloudWatch::Alarm": SILENT,
  "AWS::IAM::Role": SILENT,
  "AWS::KinesisFirehose::DeliveryStream": SILENT,
  "AWS::Lambda::Function": SILENT,
  "AWS::Logs::SubscriptionFilter": SILENT,
  // It is kept unless it is empty.
  "AWS::S3::Bucket": SILENT,
  "AWS::SNS::Subscription": SILENT,
  "AWS::SNS::Topic": SILENT,
  "AWS::Scheduler::Schedule": SILENT,
};

/** Whether `stack apply` asks before this change. A possible replacement counts as one. */
export function needsConfirmation({
  action,
  type,
  replaced,
}: Pick<StackChange, "action" | "type" | "replaced">): boolean {
  const confirmation = CONFIRMATIONS[type] ?? ASKS;
  return (action === "remove" && confirmation.removed) || (replaced !== "no" && confirmation.replaced);
}
