// Topics with their subscriptions, and what was published.
import { randomUUID } from "node:crypto";
import type { PublishCommandInput, SubscribeCommandInput } from "@aws-sdk/client-sns";
import { type Mail, mailOf, type TopicNotification } from "./mail.ts";
import { AwsError } from "./protocol/error.ts";
import type { World } from "./world.ts";

export interface Topic {
  readonly arn: string;
  readonly name: string;
  displayName: string;
  policy: string | undefined;
  readonly subscriptions: Map<string, { readonly protocol: string; readonly endpoint: string; isConfirmed: boolean }>;
  readonly messages: { readonly subject: string | undefined; readonly message: string }[];
  readonly tags: Map<string, string>;
}

/** The newest ones are kept, of a topic's messages and of all mails. */
const MAX_MESSAGES = 100;
const MAX_MAILS = 1_000;

export function openSns(world: World, region: string) {
  const topics = world.collection<Topic>("sns", region, "topics");
  /** The mails that were sent, the oldest first. */
  const mails = world.collection<Mail>("sns", region, "mails");
  const topicByArn = (arn: string | undefined): Topic => {
    const topic = topics.get(arn ?? "");
    if (topic === undefined) throw new AwsError("NotFound", "Topic does not exist", 404);
    return topic;
  };
  const listed = (own: readonly Topic[]) => subscriptionsOf(own, world.accountId);

  const keep = (mail: Mail) => {
    mails.set(mail.id, mail);
    for (const oldest of mails.keys()) {
      if (mails.size <= MAX_MAILS) break;
      mails.delete(oldest);
    }
  };

  const operations = {
    CreateTopic(input: {
      Name?: string;
      Attributes?: Record<string, string>;
      Tags?: { Key?: string; Value?: string }[];
    }) {
      const name = input.Name ?? "";
      if (!/^[\w-]{1,256}$/.test(name)) throw new AwsError("InvalidParameter", "Invalid parameter: Topic Name");
      const arn = `arn:aws:sns:${region}:${world.accountId}:${name}`;
      // "If the requester already owns a topic with the specified name, that topic's ARN is returned."
      if (!topics.has(arn)) {
        const tags = new Map(input.Tags?.map(({ Key = "", Value = "" }) => [Key, Value] as const));
        topics.set(arn, {
          arn,
          name,
          displayName: input.Attributes?.DisplayName ?? "",
          policy: input.Attributes?.Policy,
          subscriptions: new Map(),
          messages: [],
          tags,
        });
      }
      return { TopicArn: arn };
    },
    DeleteTopic(input: { TopicArn?: string }) {
      topics.delete(input.TopicArn ?? "");
    },
    ListTopics: () => ({ Topics: Array.from(topics.keys(), (TopicArn) => ({ TopicArn })) }),
    GetTopicAttributes(input: { TopicArn?: string }) {
      const topic = topicByArn(input.TopicArn);
      return {
        Attributes: {
          TopicArn: topic.arn,
          DisplayName: topic.displayName,
          ...(topic.policy !== undefined && { Policy: topic.policy }),
        },
      };
    },
    Subscribe(input: SubscribeCommandInput) {
      const topic = topicByArn(input.TopicArn);
      const [protocol, endpoint] = [input.Protocol ?? "", input.Endpoint ?? ""];
      if (!/^(email|email-json|sms|lambda|https?|sqs)$/.test(protocol))
        throw new AwsError("InvalidParameter", "Invalid parameter: Protocol");
      if (protocol === "email" && !endpoint.includes("@"))
        throw new AwsError("InvalidParameter", "Invalid parameter: Email address");
      if (protocol === "sms" && !/^\+?[\d-]{6,}$/.test(endpoint))
        throw new AwsError("InvalidParameter", `Invalid parameter: Invalid SMS endpoint: ${endpoint}`);
      const existing = [...topic.subscriptions].find(
        ([, one]) => one.protocol === protocol && one.endpoint === endpoint,
      );
      const arn = existing?.[0] ?? `${topic.arn}:${randomUUID()}`;
      const isMail = protocol === "email" || protocol === "email-json";
      const isConfirmed = /^(lambda|sms|sqs)$/.test(protocol) || (isMail && world.options.confirmsMail === true);
      if (existing === undefined) topic.subscriptions.set(arn, { protocol, endpoint, isConfirmed });
      return { SubscriptionArn: isConfirmed || input.ReturnSubscriptionArn ? arn : "pending confirmation" };
    },
    Unsubscribe(input: { SubscriptionArn?: string }) {
      for (const { subscriptions } of topics.values()) subscriptions.delete(input.SubscriptionArn ?? "");
    },
    ListSubscriptions: () => ({ Subscriptions: listed([...topics.values()]) }),
    ListSubscriptionsByTopic: (input: { TopicArn?: string }) => ({
      Subscriptions: listed([topicByArn(input.TopicArn)]),
    }),
    async Publish(input: PublishCommandInput) {
      const topic = topicByArn(input.TopicArn);
      const { Message: message = "", Subject: subject } = input;
      topic.messages.push({ subject, message });
      topic.messages.splice(0, topic.messages.length - MAX_MESSAGES);
      const { arn: topicArn, displayName } = topic;
      const notification = { id: randomUUID(), at: world.clock.date(), topicArn, displayName, subject, message };
      for (const [arn, { protocol, endpoint, isConfirmed }] of topic.subscriptions) {
        if (!isConfirmed) continue;
        if (protocol === "lambda") await invoke(endpoint, notification);
        if (protocol !== "email" && protocol !== "email-json" && protocol !== "sms") continue;
        keep(mailOf(notification, { arn, protocol, endpoint }));
      }
      return { MessageId: notification.id };
    },
  };

  const invoke = async (endpoint: string, { id, at, topicArn, subject, message }: TopicNotification) => {
    const record = {
      EventSource: "aws:sns",
      EventVersion: "1.0",
      Sns: {
        Type: "Notification",
        MessageId: id,
        TopicArn: topicArn,
        Subject: subject,
        Message: message,
        Timestamp: at.toISOString(),
      },
    };
    const { operations: lambda } = world.service("lambda", region);
    const Payload = Buffer.from(JSON.stringify({ Records: [record] }));
    await lambda.Invoke({ FunctionName: endpoint, InvocationType: "Event", Payload }).catch((error: Error) => {
      // Whoever publishes learns nothing of a subscriber that is gone.
      if (!(error instanceof AwsError)) throw error;
    });
  };

  return { operations, topics, topicByArn, mails, keep };
}

function subscriptionsOf(topics: readonly Topic[], accountId: string) {
  return topics.flatMap((topic) =>
    Array.from(topic.subscriptions, ([SubscriptionArn, { protocol, endpoint, isConfirmed }]) => ({
      TopicArn: topic.arn,
      SubscriptionArn: isConfirmed ? SubscriptionArn : "PendingConfirmation",
      Protocol: protocol,
      Endpoint: endpoint,
      Owner: accountId,
    })),
  );
}
