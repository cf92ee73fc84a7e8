/** A time for people, to the minute: `23 Nov 2026, 14:05 UTC`. */
export function utcTime(time: Date): string {
  const [year, month, day] = [time.getUTCFullYear(), MONTHS[time.getUTCMonth()], time.getUTCDate()];
  return `${day} ${month} ${year}, ${time.toISOString().slice(11, 16)} UTC`;
}

/** Intl says "Sept" in British English and puts the month first in American English. */
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
