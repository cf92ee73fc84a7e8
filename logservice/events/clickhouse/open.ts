import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "../../../grammar/units/clock.ts";
import { ClickHouseEvents } from "./clickhouse-store.ts";
import { ClickHouseConnection, type ClickHouseConnectionOptions, type Row } from "./connection.ts";
import { CREATE_TABLE, EVENTS_TABLE } from "./schema.ts";

export interface ClickHouseOptions extends ClickHouseConnectionOptions {
  readonly clock?: Clock;
}

/** Opens the events in a database of ClickHouse, which must exist; the table is created if it is missing. */
export async function openClickHouseEvents({
  clock = systemClock,
  ...options
}: ClickHouseOptions): Promise<ClickHouseEvents> {
  const connection = new ClickHouseConnection(options);
  try {
    await connection.command(CREATE_TABLE);
    const held: Row[] = [];
    await connection.select(`SELECT DISTINCT project FROM ${EVENTS_TABLE}`, new AbortController().signal, (rows) => {
      held.push(...rows);
    });
    return new ClickHouseEvents(connection, clock, {
      node: randomBytes(4).toString("hex"),
      held: held.map(([project]) => project as string),
    });
  } catch (error) {
    await connection.close();
    throw error;
  }
}
