// The mails and text messages that topics send, in the words of the service, and what functions send to chats.

/** A mail as `tool sandbox mail` shows it. */
export interface Mail {
  readonly id: string;
  readonly at: Date;
  readonly protocol: "chat" | "email" | "email-json" | "sms";
  /** Mail address, phone number, or host of a chat's webhook. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface TopicNotification {
  readonly id: string;
  readonly at: Date;
  readonly topicArn: string;
  readonly displayName: string;
  readonly subject: string | undefined;
  readonly message: string;
}

export interface MailRecipient {
  readonly arn: string;
  readonly protocol: Exclude<Mail["protocol"], "chat">;
  readonly endpoint: string;
}

export function mailOf(notification: TopicNotification, { arn, protocol, endpoint }: MailRecipient): Mail {
  const { id, at, subject = "AWS Notification Message" } = notification;
  const envelope = { id: `${id}/${arn}`, at, protocol, to: endpoint };
  if (protocol === "sms") return { ...envelope, subject: "", text: textMessageOf(notification) };
  const text =
    protocol === "email-json"
      ? jsonOf(notification)
      : `${alarmText(notification) ?? notification.message}\n${footerOf(arn, endpoint)}`;
  return { ...envelope, subject, text };
}

/** "SMS: maximum of 140 characters": the sender's name, then the subject, which stands for a long message. */
function textMessageOf({ displayName, subject, message }: TopicNotification): string {
  return [displayName, subject ?? message]
    .filter((part) => part !== "")
    .join("> ")
    .slice(0, 140);
}

function jsonOf({ id, at, topicArn, subject, message }: TopicNotification): string {
  const members = { Type: "Notification", MessageId: id, TopicArn: topicArn, Subject: subject, Message: message };
  return JSON.stringify({ ...members, Timestamp: at.toISOString() }, null, 2);
}

function footerOf(subscriptionArn: string, endpoint: string): string {
  return `
--
If you wish to stop receiving notifications from this topic, please click or visit the link below to unsubscribe:
https://sns.invalid/unsubscribe.html?SubscriptionArn=${subscriptionArn}&Endpoint=${endpoint}

Please do not reply directly to this email. This is a mail of the sandbox: it was never sent.
`;
}

interface AlarmMessage {
  readonly AlarmName: string;
  readonly AlarmDescription: string | null;
  readonly AWSAccountId: string;
  readonly NewStateValue: string;
  readonly NewStateReason: string;
  readonly StateChangeTime: string;
  readonly Region: string;
  readonly AlarmArn: string;
  readonly OldStateValue: string;
  readonly OKActions: readonly string[];
  readonly AlarmActions: readonly string[];
  readonly InsufficientDataActions: readonly string[];
  readonly Trigger: {
    readonly MetricName: string;
    readonly Namespace: string;
    readonly Statistic: string;
    readonly Unit: string | null;
    readonly Dimensions: readonly { readonly name: string; readonly value: string }[];
    readonly Period: number;
    readonly EvaluationPeriods: number;
    readonly DatapointsToAlarm: number;
    readonly ComparisonOperator: string;
    readonly Threshold: number;
    readonly TreatMissingData: string;
  };
}

/** The service writes out what CloudWatch sends as JSON; undefined for a message of anybody else. */
function alarmText({ message }: TopicNotification): string | undefined {
  const alarm = alarmOf(message);
  if (alarm === undefined) return undefined;
  const { Trigger: trigger } = alarm;
  const time = longTime(alarm.StateChangeTime);
  const dimensions = trigger.Dimensions.map(({ name, value }) => `[${name} = ${value}]`).join(" ");
  const actions = (arns: readonly string[]) => arns.map((arn) => ` [${arn}]`).join("");
  return `You are receiving this email because your Amazon CloudWatch Alarm "${alarm.AlarmName}" in the ${alarm.Region} region has entered the ${alarm.NewStateValue} state, because "${alarm.NewStateReason}" at "${time}".

Alarm Details:
- Name:                       ${alarm.AlarmName}
- Description:                ${alarm.AlarmDescription ?? ""}
- State Change:               ${alarm.OldStateValue} -> ${alarm.NewStateValue}
- Reason for State Change:    ${alarm.NewStateReason}
- Timestamp:                  ${time}
- AWS Account:                ${alarm.AWSAccountId}
- Alarm Arn:                  ${alarm.AlarmArn}

Threshold:
- The alarm is in the ALARM state when the metric is ${trigger.ComparisonOperator} ${trigger.Threshold} for at least ${trigger.DatapointsToAlarm} of the last ${trigger.EvaluationPeriods} period(s) of ${trigger.Period} seconds.

Monitored Metric:
- MetricNamespace:            ${trigger.Namespace}
- MetricName:                 ${trigger.MetricName}
- Dimensions:                 ${dimensions}
- Period:                     ${trigger.Period} seconds
- Statistic:                  ${trigger.Statistic}
- Unit:                       ${trigger.Unit ?? "not specified"}
- TreatMissingData:           ${trigger.TreatMissingData}

State Change Actions:
- OK:${actions(alarm.OKActions)}
- ALARM:${actions(alarm.AlarmActions)}
- INSUFFICIENT_DATA:${actions(alarm.InsufficientDataActions)}
`.replaceAll(/ +$/gm, "");
}

function alarmOf(message: string): AlarmMessage | undefined {
  try {
    const read = JSON.parse(message) as Partial<AlarmMessage> | null;
    return read?.AlarmArn !== undefined && read.Trigger !== undefined ? (read as AlarmMessage) : undefined;
  } catch {
    return undefined;
  }
}

/** "Wednesday 04 August, 2021 02:31:45 UTC" */
function longTime(time: string): string {
  const date = new Date(time.replace("+0000", "Z"));
  const part = (options: Intl.DateTimeFormatOptions) => date.toLocaleString("en-US", { timeZone: "UTC", ...options });
  const [weekday, month] = [part({ weekday: "long" }), part({ month: "long" })];
  const day = String(date.getUTCDate()).padStart(2, "0");
  return `${weekday} ${day} ${month}, ${date.getUTCFullYear()} ${date.toISOString().slice(11, 19)} UTC`;
}
