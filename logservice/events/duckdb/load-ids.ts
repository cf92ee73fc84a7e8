import type { IdLoader, RecentMap } from "../dedup.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import type { ProjectSegments } from "./projects.ts";
import { SegmentsLost } from "./segment.ts";
import { fromFiles } from "./segment-schema.ts";
import type { Segments } from "./segments.ts";

/** Reads the ids of the `maxIds` newest events of a project from its segments. */
export function idLoader(projects: ProjectSegments, pool: ConnectionPool, maxIds: number): IdLoader {
  return async (project, ids) => {
    const segments = projects.get(project);
    if (segments !== undefined) await loadIds(segments, ids, pool, maxIds);
  };
}

/** A segment that cannot be read is left out: a retry of events that are lost may as well store them again. */
async function loadIds(of: Segments, ids: RecentMap, pool: ConnectionPool, maxIds: number): Promise<void> {
  const snapshot = of.snapshot();
  const session = pool.begin();
  const never = new AbortController().signal;
  let left = maxIds;
  try {
    for (const segment of [...snapshot.segments].sort((a, b) => b.sequence - a.sequence)) {
      if (left <= 0) break;
      // A merged segment has a million events: all of its ids would push out those of newer ones.
      const newest = segment.events > left ? ` order by q desc limit ${left}` : "";
      const statement = `select id from ${fromFiles([segment])} where id is not null${newest}`;
      left -= segment.events;
      try {
        await of.check([segment]);
        await session.opens([segment]);
        await pool.run(statement, [], never, ([column]) => ids.addOlder(column as string[]));
      } catch (error) {
        if (error instanceof SegmentsLost) continue;
        const fault = await of.examine(segment);
        if (fault === undefined) throw error;
        await of.markLost(segment, fault);
      }
    }
  } finally {
    session.end();
    snapshot.release();
  }
}
