/** The words that stages begin with, each with an example. */
export const STAGE_USES = {
  count: "count by path",
  stats: "stats avg(duration), p99(duration) by path",
  timeseries: "timeseries 5m count() by level",
  top: "top 10 path",
  where: "where count > 10",
  sort: "sort count desc",
  limit: "limit 10",
  fields: "fields timestamp, path, status",
  unique: "unique user.id",
} as const;

export const STAGE_WORDS = Object.keys(STAGE_USES) as (keyof typeof STAGE_USES)[];
