import { parsePipeline } from "../../grammar/query/index.ts";
import { visibleQuery } from "../../grammar/query/visible.ts";
import { FIRST_EVENTS, type FirstData, type FirstEvents, HISTOGRAM_STEPS, TABLE_ROWS } from "../address/first-data.ts";
import type { Page } from "../address/page.ts";
import { rangeTexts, timesOf, viewOf } from "../address/view.ts";
import type { Call, Service } from "../rpc/call.ts";
import { JsonText, type Printable, printOutput } from "../rpc/json-text.ts";
import { operations } from "../rpc/operations.ts";

/** The request of an address for its first data. `run` bounds a query as it bounds those of the operations. */
export interface FirstRequest {
  /** How long the page may wait for events: after that it comes without them and asks itself. */
  readonly eventsMs: number;
  readonly service: Service;
  readonly version: string;
  readonly page: Page;
  /** The query of the address. */
  readonly search: string;
  readonly call: Call;
  run<T>(until: AbortSignal, query: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

/** The first answers for an address, as JSON. What fails is left out: the page asks again and says what is wrong. */
export async function firstData(request: FirstRequest): Promise<string> {
  const { service, version, page, call } = request;
  const { account } = await operations.get_account(service, {}, call);
  const isOfTeam = call.grant.team !== "" && call.grant.scopes.has("projects:read");
  const isOfEvents = page.kind === "project" && page.section === "events";
  const [listed, events] = await Promise.all([
    isOfTeam ? operations.get_projects(service, {}, call) : undefined,
    isOfTeam && isOfEvents ? settled(() => firstEvents(request, page.project)) : undefined,
  ]);
  const data: Printable<FirstData> = {
    account,
    version,
    isMailing: service.account.mails !== undefined,
    isTexting: service.notifies.isTexting,
    ...(listed !== undefined && { projects: listed.projects }),
    ...(events !== undefined && { events: new JsonText(printOutput(events)) }),
  };
  return printOutput(data);
}

async function firstEvents(
  { service, search, call, run, eventsMs }: FirstRequest,
  project_id: string,
): Promise<Printable<FirstEvents>> {
  const { query, range } = viewOf(search);
  const { startMs, stopMs } = timesOf(range, service.nowMs());
  const parsed = parsePipeline(query);
  if (!parsed.ok) {
    const shown = parsePipeline(visibleQuery(query));
    return { startMs, stopMs, problems: shown.ok ? parsed.problems : shown.problems };
  }
  const input = { project_id, query, ...rangeTexts({ startMs, stopMs }) };
  // Queries that take longer are given up: the page asks again, and shows meanwhile what it waits for.
  const late = new AbortController();
  const timer = service.clock.after(eventsMs, () => late.abort(), { isBackground: true });
  const over = AbortSignal.any([call.signal, late.signal]);
  const ask = async (answer: (timed: Call) => Promise<object>): Promise<JsonText | undefined> => {
    const output = await settled(() => run(over, (signal) => answer({ ...call, signal })));
    const text = output && printOutput(output);
    return text === undefined || text.length > MOST_LENGTH ? undefined : new JsonText(text);
  };
  try {
    if (parsed.value.pipes.length > 0) {
      const table = await ask((timed) => operations.aggregate(service, { ...input, limit: TABLE_ROWS }, timed));
      return { startMs, stopMs, ...(table && { table }) };
    }
    const [search, levels] = await Promise.all([
      ask((timed) => operations.search(service, { ...input, limit: FIRST_EVENTS }, timed)),
      ask((timed) => operations.get_level_timeseries(service, { ...input, max_points: HISTOGRAM_STEPS }, timed)),
    ]);
    return { startMs, stopMs, ...(search && { search }), ...(levels && { levels }) };
  } finally {
    timer.stop();
  }
}

/** The page shows nothing before its data are whole: larger answers are asked for by the page. */
const MOST_LENGTH = 1_000_000;

async function settled<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch {
    return undefined;
  }
}
