import { count, longDuration, timeText, zoneName } from "../kit/format.ts";
import { type Bar, STACKED } from "./histogram-data.ts";

/** The histogram for who does not see it: the bars that have events, and how many of each level. */
export function HistogramTable({ bars, stepMs }: { readonly bars: readonly Bar[]; readonly stepMs: number }) {
  const filled = bars.filter(({ total }) => total > 0);
  const levels = [...STACKED].reverse().filter((level) => filled.some(({ byLevel }) => byLevel.get(level)));
  return (
    // A table takes no height of its own: what is around it is what hides it.
    <div class="spoken">
      <table>
        <caption>
          Events by time ({zoneName()}), in steps of {longDuration(stepMs)}
        </caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Events</th>
            {levels.map((level) => (
              <th scope="col" key={level}>
                {level}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {filled.map(({ startMs, total, byLevel }) => (
            <tr key={startMs}>
              <th scope="row">{timeText(startMs)}</th>
              <td>{count(total)}</td>
              {levels.map((level) => (
                <td key={level}>{count(byLevel.get(level) ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
