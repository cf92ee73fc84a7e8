import { useState } from "preact/hooks";
import type { Project } from "../../../schema/rpc.generated.ts";
import { pathOf } from "../../address/page.ts";
import { call } from "../data/call.ts";
import { serviceNow } from "../data/clock.ts";
import { useLoaded } from "../data/loaded.ts";
import { projects, teamId } from "../data/session.ts";
import { STACKED } from "../explorer/histogram-data.ts";
import { bytes, count } from "../kit/format.ts";
import { Failure, Waiting } from "../kit/state.tsx";
import { Table } from "../kit/table.tsx";
import { Text } from "../kit/text.tsx";
import { totalUsage, type UsageDay, type UsageSum, usageByDay, withoutEmptyRuns } from "./usage-by-day.ts";

const RANGES = [7, 30, 90] as const;

/** The events and bytes of the team's projects by day, how long they are kept, and the room that the disk has. */
export function Usage() {
  const [days, setDays] = useState<number>(30);
  const [only, setOnly] = useState("");
  const loaded = useLoaded((signal) => call("get_usage", { days }, { signal }), [days, teamId.value]);
  const usage = loaded.value.value;
  const error = loaded.error.value;
  const all = projects.value ?? [];
  const range = { nowMs: serviceNow(), days };
  return (
    <div class="page usage">
      <header>
        <h1>Usage</h1>
        <fieldset class="row tabs" aria-label="Days">
          {RANGES.map((one) => (
            <button
              type="button"
              key={one}
              class="button small"
              aria-pressed={days === one}
              onClick={() => setDays(one)}
            >
              {one} days
            </button>
          ))}
        </fieldset>
      </header>
      {error !== undefined && <Failure error={error} retry={() => void loaded.load()} />}
      {usage === undefined ? (
        error === undefined && <Waiting />
      ) : (
        <>
          {usage.disk && <Disk free={usage.disk.free_bytes} total={usage.disk.total_bytes} />}
          <section>
            <h2 id="usage-projects">By project</h2>
            <Table
              columns={["Project", "#Events", "#Errors", "#Received", "#On disk", "Kept"]}
              labelledBy="usage-projects"
            >
              {usage.projects.map((one) => (
                <tr key={one.project_id}>
                  <td class="named">
                    <ProjectName id={one.project_id} of={all.find(({ id }) => id === one.project_id)} />
                  </td>
                  <Sums of={totalUsage(usageByDay([one], range))} />
                  <td>
                    <span class="when-stacked">kept </span>
                    {keptText(all.find(({ id }) => id === one.project_id)?.retention)}
                  </td>
                </tr>
              ))}
            </Table>
          </section>
          <section>
            <div class="row usage-head">
              <h2 id="usage-days">By day</h2>
              <select
                aria-label="Project of the days"
                value={only}
                onChange={(event) => setOnly(event.currentTarget.value)}
              >
                <option value="">All projects</option>
                {all.map(({ id, name }) => (
                  <option value={id} key={id}>
                    {name}
                  </option>
                ))}
              </select>
              <span class="hint">Days in UTC, by the events' own time</span>
            </div>
            <Days
              of={usageByDay(
                usage.projects.filter((one) => only === "" || one.project_id === only),
                range,
              )}
            />
          </section>
        </>
      )}
    </div>
  );
}

function Disk({ free, total }: { readonly free: number; readonly total: number }) {
  const share = total > 0 ? (total - free) / total : 0;
  return (
    <section class="card usage-disk">
      <p>
        <strong>{bytes(total - free)}</strong> of {bytes(total)} used on the disk of the service (
        {Math.ceil(share * 100)} %), {bytes(free)} free
      </p>
      <div class="usage-track" aria-hidden="true">
        <span style={{ width: `${share * 100}%` }} />
      </div>
    </section>
  );
}

function ProjectName({ id, of }: { readonly id: string; readonly of: Project | undefined }) {
  return (
    <a class="strong" href={pathOf({ kind: "project", team: teamId.value, project: id, section: "settings" })}>
      <Text text={of?.name ?? id} />
    </a>
  );
}

function Days({ of }: { readonly of: readonly UsageDay[] }) {
  const most = Math.max(1, ...of.map(({ events }) => events));
  return (
    <Table columns={["Day", "By level", "#Events", "#Errors", "#Received", "#On disk"]} labelledBy="usage-days">
      {withoutEmptyRuns(of).map((row) =>
        "emptyDays" in row ? (
          <tr key={row.last}>
            <td>{row.emptyDays === 1 ? row.last : `${row.first} to ${row.last}`}</td>
            <td colSpan={5} class="hint">
              no events{row.emptyDays > 1 && ` for ${row.emptyDays} days`}
            </td>
          </tr>
        ) : (
          <tr key={row.day}>
            <td class="named">{row.day}</td>
            <td class="usage-levels wide">
              <Levels of={row} most={most} />
            </td>
            <Sums of={row} />
          </tr>
        ),
      )}
    </Table>
  );
}

/** The events of a day as a bar of its levels. */
function Levels({ of: { events, byLevel }, most }: { readonly of: UsageSum; readonly most: number }) {
  const levels = STACKED.flatMap((level) => {
    const events = byLevel.get(level);
    return events === undefined ? [] : [{ level, events }];
  });
  const text = levels.map(({ level, events }) => `${count(events)} ${level}`).join(", ");
  return (
    <div class="usage-bar" role="img" aria-label={text} title={text}>
      <svg
        viewBox="0 0 100 10"
        preserveAspectRatio="none"
        aria-hidden="true"
        style={{ width: `${(events / most) * 100}%` }}
      >
        {levels.map(({ level, events: own }, at) => {
          const before = levels.slice(0, at).reduce((sum, one) => sum + one.events, 0);
          return (
            <rect
              key={level}
              class={`bar-${level}`}
              x={(before / events) * 100}
              width={(own / events) * 100}
              height="10"
            />
          );
        })}
      </svg>
    </div>
  );
}

function Sums({ of: { events, errors, bytes: received, storedBytes } }: { readonly of: UsageSum }) {
  return (
    <>
      <td class="number">
        {count(events)}
        <span class="when-stacked"> events</span>
      </td>
      <td class="number">
        {count(errors)}
        <span class="when-stacked"> errors</span>
      </td>
      <td class="number">
        {bytes(received)}
        <span class="when-stacked"> received</span>
      </td>
      <td class="number">
        {bytes(storedBytes)}
        <span class="when-stacked"> on disk</span>
      </td>
    </>
  );
}

function keptText(retention: number | undefined): string {
  return retention ? `${count(retention)} ${retention === 1 ? "day" : "days"}` : "forever";
}
