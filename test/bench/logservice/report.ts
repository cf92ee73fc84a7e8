// The results as a table of test/bench/README.md. What falls short of its goal is in bold.
import type { Comparison, Spread } from "./asking.ts";
import type { ReadsBeside } from "./beside.ts";
import type { Ingested } from "./ingest.ts";
import type { Memory } from "./processes.ts";
import { RIVAL_TITLES, type RivalName } from "./rivals.ts";

export interface RivalResult {
  /** Undefined where it was not loaded in this run. */
  readonly ingestRate: number | undefined;
  readonly bytesPerEvent: number;
}

export interface Results {
  readonly date: string;
  readonly machine: string;
  readonly events: number;
  readonly rounds: number;
  readonly connections: number;
  /** Undefined where the events were there already. */
  readonly ingested: Ingested | undefined;
  readonly bytesPerEvent: number;
  readonly rivals: Readonly<Partial<Record<RivalName, RivalResult>>>;
  readonly questions: readonly Comparison[];
  readonly readsBeside: ReadsBeside | undefined;
  /** While questions were asked, with the reads beside ingest where they were. */
  readonly memoryMostReading: Memory;
  readonly memoryAfterReading: Memory;
  /** Load average of the machine over one minute, at the beginning and at the end. */
  readonly load: readonly [number, number];
}

/** The goals are for 10 million events. */
const GOALS = { rate: 100_000, burstRate: 130_000, bytesPerEvent: 100, memoryBytes: 800e6, besideRatio: 3 };

export function markdown(results: Results): string {
  const names = Object.keys(results.rivals) as RivalName[];
  const row = (what: string, goal: string, ours: string, theirs: (name: RivalName) => string = () => "-") =>
    `| ${[what, goal, ours, ...names.map(theirs)].join(" | ")} |`;
  const { ingested, readsBeside } = results;
  const rows = [
    row("what", "goal", "ours, over HTTP", (name) => RIVAL_TITLES[name]),
    row("---", "---", "---", () => "---"),
  ];
  if (ingested !== undefined) {
    const theirRate = (name: RivalName) => whole(results.rivals[name]!.ingestRate);
    rows.push(
      row(
        `ingest, batches of 1,000, ${results.connections} connections, each durable when acknowledged, the flusher beside, events/s`,
        ">= 100,000",
        bold(whole(ingested.rate), ingested.rate < GOALS.rate),
        theirRate,
      ),
      row(
        "the same, the first 200,000",
        ">= 130,000",
        bold(whole(ingested.burstRate), ingested.burstRate < GOALS.burstRate),
      ),
      row(
        "an acknowledgement, ms p50, p99, most",
        "-",
        [ingested.acknowledgeMs.p50, ingested.acknowledgeMs.p99, ingested.acknowledgeMs.most]
          .map(formatNumber)
          .join(", "),
      ),
      row("batches refused for the moment and sent again", "-", whole(ingested.refused)),
      row(
        "processor time an event: service, flusher, load, us",
        "-",
        [ingested.serviceMicrosPerEvent, ingested.flusherMicrosPerEvent, ingested.loadMicrosPerEvent]
          .map(formatNumber)
          .join(", "),
      ),
      row("from the last acknowledgement until the flusher rests, s", "-", formatNumber(ingested.drainSeconds)),
    );
  }
  const { bytesPerEvent } = results;
  rows.push(
    row("bytes an event on disk", "<= 100", bold(whole(bytesPerEvent), bytesPerEvent > GOALS.bytesPerEvent), (name) =>
      whole(results.rivals[name]!.bytesPerEvent),
    ),
  );
  if (ingested !== undefined) {
    rows.push(
      row(
        "resident memory while ingesting, most: together (service, flusher), MB",
        "<= 800",
        memory(ingested.memoryMost),
      ),
    );
    rows.push(row("the same after it", "-", memory(ingested.memoryAfter)));
  }
  const during = readsBeside === undefined ? "while asked" : "while asked and ingesting";
  rows.push(row(`resident memory ${during}, most, MB`, "<= 800", memory(results.memoryMostReading)));
  rows.push(row("the same at the end", "-", memory(results.memoryAfterReading)));
  for (const { what, goalMs, ours, rivals } of results.questions) {
    const goal = goalMs === undefined ? "-" : `<= ${goalMs}`;
    rows.push(
      row(`${what}, ms`, goal, spread(ours, goalMs), (name) =>
        rivals[name] === undefined ? "-" : spread(rivals[name]),
      ),
    );
  }
  if (readsBeside !== undefined) {
    const { idle } = readsBeside;
    rows.push(
      row("reads of a page in turn, idle, ms p50, p99", "-", `${formatNumber(idle.p50)}, ${formatNumber(idle.p99)}`),
    );
    for (const { eventsPerSecond, acknowledgedRate, reads } of readsBeside.beside) {
      const ratio = reads.p99 / idle.p99;
      const aim = eventsPerSecond === undefined ? "full speed" : `${whole(eventsPerSecond)} events/s`;
      rows.push(
        row(
          `the same beside ingest at ${aim} (${whole(acknowledgedRate)} acknowledged); p99 over idle`,
          "<= 3x",
          `${formatNumber(reads.p50)}, ${formatNumber(reads.p99)}; ${bold(`${ratio.toFixed(1)}x`, ratio > GOALS.besideRatio)}`,
        ),
      );
    }
  }
  const [before, after] = results.load;
  return `${results.machine}. ${whole(results.events)} events of about 400 bytes, ${results.rounds} rounds a
query, p50 (least to most); rivals in turn, each in its own process and asked there. Load of the machine ${before.toFixed(1)} at the
beginning, ${after.toFixed(1)} at the end.

${rows.join("\n")}`;
}

function memory({ service, flusher, together }: Memory): string {
  const megabytes = (bytes: number) => whole(bytes / 1e6);
  return `${bold(megabytes(together), together > GOALS.memoryBytes)} (${megabytes(service)}, ${megabytes(flusher)})`;
}

function spread({ p50, least, most }: Spread, goalMs = Number.POSITIVE_INFINITY): string {
  return `${bold(formatNumber(p50), p50 > goalMs)} (${formatNumber(least)} to ${formatNumber(most)})`;
}

const bold = (text: string, isShort: boolean) => (isShort ? `**${text}**` : text);
const formatNumber = (value: number) => (value < 10 ? value.toFixed(1) : whole(value));
const whole = (value: number | undefined) => (value === undefined ? "-" : Math.round(value).toLocaleString("en"));
