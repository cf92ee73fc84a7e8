// When schedules run, by the user guide of EventBridge Scheduler ("Schedule types"): at(...), rate(...) and cron(...).

export type ScheduleExpression =
  /** Once, at a local time. */
  | { readonly kind: "at"; readonly local: LocalTime }
  | { readonly kind: "rate"; readonly everyMs: number }
  | { readonly kind: "cron"; readonly fields: CronFields };

/** A time that a clock on the wall shows, as if it were UTC. */
type LocalTime = number;

interface CronFields {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: ReadonlySet<number>;
  readonly years: ReadonlySet<number>;
  /** Whether the day is one, by day of the month or of the week. */
  readonly isDay: (day: Date) => boolean;
}

const UNIT_MS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };

const DAY_MS = 86_400_000;

/** Undefined if it is none. */
export function parseScheduleExpression(text: string): ScheduleExpression | undefined {
  const [, count, unit = ""] = /^rate\(([1-9]\d*) (minute|hour|day)s?\)$/.exec(text) ?? [];
  if (count !== undefined) return { kind: "rate", everyMs: Number(count) * UNIT_MS[unit]! };
  const [, time] = /^at\((\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\)$/.exec(text) ?? [];
  if (time !== undefined) {
    const local = Date.parse(`${time}Z`);
    return Number.isNaN(local) ? undefined : { kind: "at", local };
  }
  const [, fields] = /^cron\((.+)\)$/.exec(text) ?? [];
  const cron = fields === undefined ? undefined : cronOf(fields.split(/ +/));
  return cron && { kind: "cron", fields: cron };
}

export interface ScheduleContext {
  /** IANA's name; UTC if it is absent. */
  readonly timeZone?: string | undefined;
  /** From where on a rate is counted; it runs then for the first time. */
  readonly fromMs: number;
}

/** The first time after `afterMs`; undefined if there is none any more. */
export function nextTime(
  expression: ScheduleExpression,
  afterMs: number,
  { timeZone = "UTC", fromMs }: ScheduleContext,
): number | undefined {
  if (expression.kind === "rate") {
    const { everyMs } = expression;
    if (afterMs < fromMs) return fromMs;
    return fromMs + (Math.floor((afterMs - fromMs) / everyMs) + 1) * everyMs;
  }
  if (expression.kind === "at") {
    const time = timeOf(expression.local, timeZone);
    return time !== undefined && time > afterMs ? time : undefined;
  }
  return nextOfCron(expression.fields, afterMs, timeZone);
}

const LAST_YEAR = 2199;

function nextOfCron(fields: CronFields, afterMs: number, timeZone: string): number | undefined {
  const today = localOf(afterMs, timeZone);
  // The day before, as a clock that is set back may show times of it again.
  const first = Math.floor(today / DAY_MS) * DAY_MS - DAY_MS;
  for (let midnight = first; ; midnight += DAY_MS) {
    const day = new Date(midnight);
    if (day.getUTCFullYear() > LAST_YEAR) return undefined;
    if (!fields.years.has(day.getUTCFullYear()) || !fields.months.has(day.getUTCMonth() + 1) || !fields.isDay(day))
      continue;
    for (const hour of fields.hours) {
      // An hour that is surely past is not looked at minute by minute.
      if (midnight + hour * 3_600_000 < today - DAY_MS / 4) continue;
      for (const minute of fields.minutes) {
        const time = timeOf(midnight + hour * 3_600_000 + minute * 60_000, timeZone);
        if (time !== undefined && time > afterMs) return time;
      }
    }
  }
}

/**
 * The first moment at which the clock on the wall shows a time: one that it shows twice counts once. Undefined for a time
 * that is skipped when the clock is set forward: such a run is skipped, too.
 */
function timeOf(local: LocalTime, timeZone: string): number | undefined {
  if (timeZone === "UTC") return local;
  const offsets = [local - DAY_MS, local + DAY_MS].map((near) => localOf(near, timeZone) - near);
  const times = offsets.map((offset) => local - offset).filter((time) => localOf(time, timeZone) === local);
  return times.length === 0 ? undefined : Math.min(...times);
}

const formats = new Map<string, Intl.DateTimeFormat>();

function localOf(ms: number, timeZone: string): LocalTime {
  if (timeZone === "UTC") return ms;
  let format = formats.get(timeZone);
  if (format === undefined) {
    const two = "2-digit";
    const parts = { year: "numeric", month: two, day: two, hour: two, minute: two, second: two } as const;
    format = new Intl.DateTimeFormat("en-US", { timeZone, hourCycle: "h23", calendar: "gregory", ...parts });
    formats.set(timeZone, format);
  }
  const fields: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(ms)) fields[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((ms % 1000) + 1000) % 1000);
}

export function isTimeZone(name: string): boolean {
  try {
    return localOf(0, name) !== undefined;
  } catch {
    return false;
  }
}

const MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const DAYS = "SUN MON TUE WED THU FRI SAT".split(" ");

/** Minutes, hours, day of the month, month, day of the week and year. */
function cronOf(words: readonly string[]): CronFields | undefined {
  const [minuteWord = "", hourWord = "", dayWord = "", monthWord = "", weekdayWord = "", yearWord = ""] = words;
  // "You can't specify the day-of-month and day-of-week fields in the same expression": one of them is ?.
  if (words.length !== 6 || (dayWord === "?") === (weekdayWord === "?")) return undefined;
  const minutes = numbersOf(minuteWord, { least: 0, most: 59 });
  const hours = numbersOf(hourWord, { least: 0, most: 23 });
  const months = numbersOf(monthWord, { least: 1, most: 12, names: MONTHS });
  const years = numbersOf(yearWord, { least: 1970, most: LAST_YEAR });
  const isDay = weekdayWord === "?" ? daysOfMonth(dayWord) : daysOfWeek(weekdayWord);
  if (!minutes || !hours || !months || !years || !isDay) return undefined;
  return { minutes, hours, months: new Set(months), years: new Set(years), isDay };
}

interface Bounds {
  readonly least: number;
  readonly most: number;
  /** Names of the numbers from `least` on. */
  readonly names?: readonly string[];
}

/** Numbers in order: all, single ones, ranges, and steps of those. */
function numbersOf(word: string, { least, most, names = [] }: Bounds): number[] | undefined {
  const numberOf = (text: string) => {
    const nameIndex = names.indexOf(text.toUpperCase());
    const number = nameIndex === -1 ? Number(text) : nameIndex + least;
    return /^(\d+|[a-z]+)$/i.test(text) && number >= least && number <= most ? number : undefined;
  };
  const numbers = new Set<number>();
  for (const part of word.split(",")) {
    const [, range = "", step] = /^([^/]+)(?:\/(\d+))?$/.exec(part) ?? [];
    const [from = "", to] = range.split("-");
    const begin = range === "*" ? least : numberOf(from);
    const end = range === "*" ? most : to !== undefined ? numberOf(to) : step !== undefined ? most : begin;
    if (begin === undefined || end === undefined || step === "0") return undefined;
    const size = most - least + 1;
    // FRI-MON goes over the end of the week.
    const length = (end - begin + size) % size;
    for (let i = 0; i <= length; i += Number(step ?? 1)) numbers.add(((begin - least + i) % size) + least);
  }
  return [...numbers].sort((a, b) => a - b);
}

const lastOfMonth = (day: Date) => new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate();

function daysOfMonth(word: string): CronFields["isDay"] | undefined {
  if (word === "L") return (day) => day.getUTCDate() === lastOfMonth(day);
  const [, near] = /^(\d+|L)W$/.exec(word) ?? [];
  if (near !== undefined) {
    if (near !== "L" && !(Number(near) >= 1 && Number(near) <= 31)) return undefined;
    return (day) => day.getUTCDate() === nearestWorkday(day, near === "L" ? lastOfMonth(day) : Number(near));
  }
  const numbers = numbersOf(word, { least: 1, most: 31 });
  return numbers && ((day) => numbers.includes(day.getUTCDate()));
}

/** The weekday that is closest to a date, in the same month; undefined if the month has no such date. */
function nearestWorkday(day: Date, date: number): number | undefined {
  const last = lastOfMonth(day);
  if (date > last) return undefined;
  const weekday = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), date)).getUTCDay();
  if (weekday === 6) return date === 1 ? 3 : date - 1;
  if (weekday === 0) return date === last ? date - 2 : date + 1;
  return date;
}

function daysOfWeek(word: string): CronFields["isDay"] | undefined {
  const bounds = { least: 1, most: 7, names: DAYS };
  if (word === "L") return (day) => day.getUTCDay() === 6;
  const [, weekday = "", nth] = /^(\w+?)(?:#([1-5])|L)$/.exec(word) ?? [];
  if (weekday !== "") {
    const [dayNumber, ...more] = numbersOf(weekday, bounds) ?? [];
    if (dayNumber === undefined || more.length > 0) return undefined;
    const isWanted = (day: Date) => day.getUTCDay() + 1 === dayNumber;
    if (nth === undefined) return (day) => isWanted(day) && day.getUTCDate() > lastOfMonth(day) - 7;
    return (day) => isWanted(day) && Math.ceil(day.getUTCDate() / 7) === Number(nth);
  }
  const numbers = numbersOf(word, bounds);
  return numbers && ((day) => numbers.includes(day.getUTCDay() + 1));
}
