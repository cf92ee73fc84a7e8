import type { IdLoader, RecentMap } from "../dedup.ts";
import { RECENT_IDS } from "../store.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import type { ProjectSegments } from "./projects.ts";
import { SegmentsLost } from "./segment.ts";
import { fromFiles } from "./segment-schema.ts";
import type { Segments } from "./segments.ts";

/** Reads ids of events from the newest segments of a project. */
export function idLoader(projects: ProjectSegments, pool: ConnectionPool, nowMs: () => number): IdLoader {
  return async (project, ids) => {
    const segments = projects.get(project);
    if (segments !== undefined) await loadIds(segments, ids, pool, nowMs);
  };
}

/** A segment that cannot be read is left out: a retry of events that are lost may as well store them again. */
async function loadIds(of: Segments, ids: RecentMap, pool: ConnectionPool, nowMs: () => number): Promise<void> {
  const snapshot = of.snapshot();
  const session = pool.begin();
  const never = new AbortController().signal;
  let left = RECENT_IDS;
  try {
    for (const segment of [...snapshot.segments].sort((a, b) => b.sequence - a.sequence)) {
      if (left <= 0) break;
      left -= segment.events;
      const statement = `select id from ${fromFiles([segment])} where id is not null`;
      const readMs = nowMs();
      try {
        await of.check([segment]);
        await session.opens([segment]);
        await pool.run(statement, [], never, ([column]) => {
          for (const id of column as string[]) ids.add(id, readMs);
        });
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
