// CloudWatch Logs: groups, streams and events; searching them in pages, following them in a stream.
import type {
  CreateLogGroupCommandInput,
  CreateLogStreamCommandInput,
  DescribeLogGroupsCommandInput,
  DescribeLogStreamsCommandInput,
  FilteredLogEvent,
  FilterLogEventsCommandInput,
  PutLogEventsCommandInput,
  PutRetentionPolicyCommandInput,
  StartLiveTailCommandInput,
} from "@aws-sdk/client-cloudwatch-logs";
import { parseFilterPattern } from "./filter-pattern.ts";
import type { LogEvent, LogGroup } from "./log-group.ts";
import { openLogStreams } from "./log-streams.ts";
import { tailOf } from "./logs-tail.ts";
import { AwsError } from "./protocol/error.ts";
import type { World } from "./world.ts";

/** "The maximum number of events to return. The default is 10,000 events." */
const MAX_EVENTS = 10_000;

/** "As many log events as can fit in 1 MB". */
const MAX_PAGE_BYTES = 1024 * 1024;

/** How many events one call looks through before it answers with what it has, be it nothing. For people more than for tests. */
const SCANNED_EVENTS = 2_000;
const SCANNED_EVENTS_BY_CLOCK = 20_000;

const RETENTIONS = new Set([
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
]);

const notFound = (what: string) =>
  new AwsError("ResourceNotFoundException", `The specified log ${what} does not exist.`);

export function openLogs(world: World, region: string) {
  const groups = world.collection<LogGroup>("logs", region, "groups");
  /** When something was last written, by stream, by group; of the groups that were asked for it. */
  const lastEvents = new Map<string, { readonly times: Map<string, number>; readonly read: Promise<void> }>();
  const streams = openLogStreams(world, region);
  const followers = new Set<(group: string, event: LogEvent) => void>([streams.onEvent]);
  let lastId = 0;
  const settings = { scannedEvents: world.options.runsByClock ? SCANNED_EVENTS_BY_CLOCK : SCANNED_EVENTS };

  const eventsOf = (group: string) =>
    world.series<LogEvent>("logs", region, `events of ${group}`, ({ timestamp }) => timestamp);

  const groupNamed = (name: string | undefined): LogGroup => {
    const group = groups.get((name ?? "").replace(/^arn:aws:logs:[^:]*:\d*:log-group:/, "").replace(/:\*$/, ""));
    if (group === undefined) throw notFound("group");
    return group;
  };

  const createGroup = (name: string, tags: Readonly<Record<string, string>> = {}): LogGroup => {
    const group: LogGroup = {
      name,
      arn: `arn:aws:logs:${region}:${world.accountId}:log-group:${name}`,
      createdAt: world.clock.now(),
      streams: new Map(),
      tags: new Map(Object.entries(tags)),
    };
    groups.set(name, group);
    return group;
  };

  /** Writes as the platform does: group and stream are made if they are missing, and there is something to write. */
  const append = (groupName: string, stream: string, events: readonly { timestamp: number; message: string }[]) => {
    if (events.length === 0) return;
    if (groups.peek(groupName)?.streams.has(stream) !== true)
      (groups.get(groupName) ?? createGroup(groupName)).streams.set(stream, { createdAt: world.clock.now() });
    const added = events.map(({ timestamp, message }) => {
      // Ids grow, in the next run of the sandbox, too.
      lastId = Math.max(lastId + 1, world.clock.base.nowMs() * 1000);
      return { id: String(lastId).padStart(56, "0"), stream, timestamp, ingestedAt: world.clock.now(), message };
    });
    eventsOf(groupName).append(added);
    for (const event of added) {
      lastEvents.get(groupName)?.times.set(stream, event.timestamp);
      for (const follow of followers) follow(groupName, event);
    }
  };

  const lastEventsOf = async (group: string): Promise<ReadonlyMap<string, number>> => {
    const entry = lastEvents.get(group);
    if (entry !== undefined) return entry.read.then(() => entry.times);
    const times = new Map<string, number>();
    const reading = async () => {
      for await (const events of eventsOf(group).sorted(0, Infinity, () => 0)) {
        // Events that came meanwhile are newer.
        for (const { stream, timestamp } of events) times.set(stream, Math.max(timestamp, times.get(stream) ?? 0));
      }
    };
    const read = reading();
    lastEvents.set(group, { times, read });
    await read;
    return times;
  };

  const operations = {
    CreateLogGroup(input: CreateLogGroupCommandInput) {
      const name = input.logGroupName ?? "";
      if (!/^[\w./#-]{1,512}$/.test(name))
        throw new AwsError(
          "InvalidParameterException",
          `1 validation error detected: Value '${name}' at 'logGroupName' failed to satisfy constraint`,
        );
      if (groups.has(name))
        throw new AwsError("ResourceAlreadyExistsException", "The specified log group already exists");
      createGroup(name, input.tags);
    },
    DeleteLogGroup(input: { logGroupName?: string }) {
      const { name } = groupNamed(input.logGroupName);
      groups.delete(name);
      streams.removeSubscriptions(name);
      eventsOf(name).clear();
      lastEvents.delete(name);
    },
    DescribeLogGroups(input: DescribeLogGroupsCommandInput) {
      const { logGroupNamePrefix = "", logGroupNamePattern = "" } = input;
      const own = [...groups.values()]
        .filter(({ name }) => name.startsWith(logGroupNamePrefix) && name.includes(logGroupNamePattern))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
      const { page, nextToken } = paged(own, input.nextToken, input.limit ?? 50);
      return {
        logGroups: page.map((group) => ({
          logGroupName: group.name,
          creationTime: group.createdAt,
          arn: `${group.arn}:*`,
          logGroupArn: group.arn,
          metricFilterCount: 0,
          storedBytes: eventsOf(group.name).bytes,
          ...(group.retentionInDays !== undefined && { retentionInDays: group.retentionInDays }),
        })),
        ...(nextToken !== undefined && { nextToken }),
      };
    },
    PutRetentionPolicy(input: PutRetentionPolicyCommandInput) {
      const group = groupNamed(input.logGroupName);
      const days = input.retentionInDays ?? 0;
      if (!RETENTIONS.has(days))
        throw new AwsError(
          "InvalidParameterException",
          `1 validation error detected: Value '${days}' at 'retentionInDays' failed to satisfy constraint: Member must satisfy enum value set`,
        );
      group.retentionInDays = days;
    },
    DeleteRetentionPolicy(input: { logGroupName?: string }) {
      delete groupNamed(input.logGroupName).retentionInDays;
    },
    TagResource(input: { resourceArn?: string; tags?: Record<string, string> }) {
      const { tags } = groupNamed(input.resourceArn);
      for (const [key, value] of Object.entries(input.tags ?? {})) tags.set(key, value);
    },
    ListTagsForResource: tagsOfGroup(groupNamed),
    CreateLogStream(input: CreateLogStreamCommandInput) {
      const group = groupNamed(input.logGroupName);
      const name = input.logStreamName ?? "";
      if (group.streams.has(name))
        throw new AwsError("ResourceAlreadyExistsException", "The specified log stream already exists");
      group.streams.set(name, { createdAt: world.clock.now() });
    },
    async DescribeLogStreams(input: DescribeLogStreamsCommandInput) {
      const group = groupNamed(input.logGroupName ?? input.logGroupIdentifier);
      const last = await lastEventsOf(group.name);
      const own = [...group.streams]
        .filter(([name]) => name.startsWith(input.logStreamNamePrefix ?? ""))
        .sort(([a], [b]) =>
          input.orderBy === "LastEventTime" ? (last.get(a) ?? 0) - (last.get(b) ?? 0) : a < b ? -1 : 1,
        );
      if (input.descending) own.reverse();
      const { page, nextToken } = paged(own, input.nextToken, input.limit ?? 50);
      return {
        logStreams: page.map(([name, { createdAt }]) => ({
          logStreamName: name,
          creationTime: createdAt,
          arn: `${group.arn}:log-stream:${name}`,
          ...(last.has(name) && { lastEventTimestamp: last.get(name) }),
        })),
        ...(nextToken !== undefined && { nextToken }),
      };
    },
    PutLogEvents(input: PutLogEventsCommandInput) {
      const group = groupNamed(input.logGroupName);
      const stream = input.logStreamName ?? "";
      if (!group.streams.has(stream)) throw notFound("stream");
      const events = (input.logEvents ?? []).map(({ timestamp = 0, message = "" }) => ({ timestamp, message }));
      if (events.some((event, i) => i > 0 && event.timestamp < events[i - 1]!.timestamp)) {
        throw new AwsError(
          "InvalidParameterException",
          "Log events in a single PutLogEvents request must be in chronological order.",
        );
      }
      append(group.name, stream, events);
      return { nextSequenceToken: String(lastId) };
    },
    async FilterLogEvents(input: FilterLogEventsCommandInput) {
      const group = groupNamed(input.logGroupName ?? input.logGroupIdentifier);
      const pattern = parseFilterPattern(input.filterPattern ?? "");
      if (!pattern.ok) throw new AwsError("InvalidParameterException", pattern.problems[0]);
      if (input.logStreamNames !== undefined && input.logStreamNamePrefix !== undefined) {
        throw new AwsError(
          "InvalidParameterException",
          "logStreamNamePrefix and logStreamNames can not be used together",
        );
      }
      const { startTime = 0, endTime = Number.POSITIVE_INFINITY, limit = MAX_EVENTS } = input;
      if (startTime > endTime) throw new AwsError("InvalidParameterException", "startTime must be before endTime");
      const isOfStream = (stream: string) =>
        (input.logStreamNames?.includes(stream) ?? true) && stream.startsWith(input.logStreamNamePrefix ?? "");
      const last = positionOf(input.nextToken);
      const isDone = ({ timestamp, id }: LogEvent) =>
        last !== undefined && (timestamp < last.timestamp || (timestamp === last.timestamp && id <= last.id));
      // "Events with a timestamp later than endTime are not returned": those at it are. All streams together by time; what
      // came later at the same time is later.
      const batches = eventsOf(group.name).sorted(Math.max(startTime, last?.timestamp ?? 0), endTime + 1, (a, b) =>
        a.id < b.id ? -1 : 1,
      );
      const events: FilteredLogEvent[] = [];
      let [scanned, bytes] = [0, 0];
      let at: LogEvent | undefined;
      for await (const some of batches) {
        for (const event of some) {
          if (!isOfStream(event.stream) || isDone(event)) continue;
          const isFull = events.length >= Math.min(limit, MAX_EVENTS) || bytes >= MAX_PAGE_BYTES;
          if (isFull || scanned >= settings.scannedEvents) {
            return { events, searchedLogStreams: [], nextToken: at === undefined ? input.nextToken : tokenAfter(at) };
          }
          at = event;
          scanned += 1;
          if (!pattern.matches(event.message)) continue;
          bytes += event.message.length;
          events.push({
            eventId: event.id,
            logStreamName: event.stream,
            timestamp: event.timestamp,
            ingestionTime: event.ingestedAt,
            message: event.message,
          });
        }
      }
      return { events, searchedLogStreams: [] };
    },
    StartLiveTail(input: StartLiveTailCommandInput) {
      const groups = (input.logGroupIdentifiers ?? []).map((name) => groupNamed(name).name);
      const pattern = parseFilterPattern(input.logEventFilterPattern ?? "");
      if (!pattern.ok) throw new AwsError("InvalidParameterException", pattern.problems[0]);
      return {
        responseStream: tailOf(input, {
          groups,
          matches: pattern.matches,
          followers,
          accountId: world.accountId,
          clock: world.clock.base,
        }),
      };
    },
  };
  return { operations, groups, append, settings, streams, close: streams.close };
}

const tagsOfGroup = (groupNamed: (name: string | undefined) => LogGroup) => (input: { resourceArn?: string }) => ({
  tags: Object.fromEntries(groupNamed(input.resourceArn).tags),
});

/** A page begins after the event at which the one before ended, whatever came meanwhile. */
function tokenAfter(event: LogEvent): string {
  return Buffer.from(`${event.timestamp} ${event.id}`).toString("base64url");
}

function positionOf(token: string | undefined): { readonly timestamp: number; readonly id: string } | undefined {
  if (token === undefined) return undefined;
  const [, timestamp, id = ""] = /^(\d+) (\d{56})$/.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (timestamp === undefined) throw new AwsError("InvalidParameterException", "The specified nextToken is invalid.");
  return { timestamp: Number(timestamp), id };
}

function paged<Item>(items: readonly Item[], token: string | undefined, limit: number) {
  const begin = token === undefined ? 0 : Number(token);
  const page = items.slice(begin, begin + limit);
  return { page, nextToken: begin + limit < items.length ? String(begin + limit) : undefined };
}
