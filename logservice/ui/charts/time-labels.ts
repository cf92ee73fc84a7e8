import { timeParts } from "../kit/format.ts";

/** The texts of times on the axis: the clock, and the day where another one begins; days with the year where it changes. */
export function timeLabels(seconds: readonly number[]): string[] {
  const apart = seconds.length > 1 ? seconds[1]! - seconds[0]! : 0;
  const years = new Set(seconds.map((at) => timeParts(at * 1000).year));
  let before = "";
  let yearBefore = years.size > 1 ? undefined : [...years][0];
  return seconds.map((at) => {
    const { day, year, minute, second } = timeParts(at * 1000);
    const clock = apart < 60 ? second : minute;
    const isNew = day !== before;
    before = day;
    const isNewYear = year !== yearBefore;
    yearBefore = year;
    if (apart >= DAY_SECONDS) return isNewYear ? `${day}\n${year}` : day;
    return isNew ? `${clock}\n${day}` : clock;
  });
}

const DAY_SECONDS = 86_400;
