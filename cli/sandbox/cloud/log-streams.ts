// Subscriptions of log groups, and the streams of Firehose that get what those give.
import { isLoopback } from "../../../grammar/address/loopback.ts";
import { parseFilterPattern } from "./filter-pattern.ts";
import { type LogStream, openFirehose } from "./firehose.ts";
import type { LogEvent } from "./log-group.ts";
import { AwsError } from "./protocol/error.ts";
import type { World } from "./world.ts";

export interface LogSubscription {
  readonly group: string;
  readonly name: string;
  readonly pattern: string;
  readonly streamArn: string;
}

/** "You can associate up to two subscription filters with a log group." */
const MAX_SUBSCRIPTIONS = 2;

export function openLogStreams(world: World, region: string) {
  const streams = world.collection<LogStream>("logs", region, "streams of Firehose");
  const subscriptions = world.collection<LogSubscription>("logs", region, "subscriptions");
  const firehose = openFirehose(world, (name) => streams.peek(name));
  /** Those that there are, so that a line costs no look at the collection. */
  let current: (LogSubscription & { readonly matches: (message: string) => boolean })[] | undefined;

  const currentOnes = () => {
    current ??= [...subscriptions.keys()].flatMap((key) => {
      const one = subscriptions.peek(key)!;
      const pattern = parseFilterPattern(one.pattern);
      return pattern.ok ? [{ ...one, matches: pattern.matches }] : [];
    });
    return current;
  };

  const streamOf = (arn: string) => streams.peek(arn.split("/").pop() ?? "");

  return {
    streams,
    subscriptions,
    /** Called for each event of a log group. */
    onEvent(group: string, event: LogEvent): void {
      for (const one of currentOnes()) {
        if (one.group !== group || !one.matches(event.message)) continue;
        const stream = streamOf(one.streamArn);
        if (stream !== undefined) firehose.put(stream, { group, filter: one.name, event });
      }
    },
    putStream(stream: LogStream): void {
      const { url } = stream.destination;
      const address = URL.canParse(url) ? new URL(url) : undefined;
      // "HTTPS endpoints at port 443"; one of this machine is for tests.
      const isTaken =
        address?.protocol === "https:"
          ? address.port === ""
          : address?.protocol === "http:" && isLoopback(address.hostname);
      if (!isTaken) {
        throw new AwsError("InvalidArgumentException", `The endpoint URL ${url} is not a valid HTTPS endpoint.`);
      }
      streams.set(stream.name, stream);
    },
    removeStream(name: string): void {
      streams.delete(name);
      firehose.forget(name);
    },
    putSubscription(subscription: LogSubscription): void {
      const key = `${subscription.group} ${subscription.name}`;
      const others = [...subscriptions.keys()].filter(
        (one) => one !== key && subscriptions.peek(one)!.group === subscription.group,
      );
      if (others.length >= MAX_SUBSCRIPTIONS) throw new AwsError("LimitExceededException", "Resource limit exceeded.");
      if (!parseFilterPattern(subscription.pattern).ok) {
        throw new AwsError("InvalidParameterException", "Invalid filter pattern");
      }
      if (streamOf(subscription.streamArn) === undefined) {
        throw new AwsError(
          "InvalidParameterException",
          "Could not deliver test message to specified Firehose stream. Check if the given Firehose stream is in ACTIVE state.",
        );
      }
      subscriptions.set(key, subscription);
      current = undefined;
    },
    removeSubscription(group: string, name: string): void {
      subscriptions.delete(`${group} ${name}`);
      current = undefined;
    },
    /** With its log group. */
    removeSubscriptions(group: string): void {
      for (const key of [...subscriptions.keys()])
        if (subscriptions.peek(key)!.group === group) subscriptions.delete(key);
      current = undefined;
    },
    close: firehose.close,
  };
}
