import type { BatchReport } from "../../schema/rpc.generated.ts";
import type { Grant } from "../access/grant.ts";
import type { EventArrivals } from "../alerts/arrivals.ts";
import { RpcError } from "../error.ts";
import type { EventsStore } from "../events/store.ts";
import type { Records } from "../records/open.ts";
import { eventsPlaceOf, type ProjectKey, type ProjectMode } from "../records/projects.ts";
import { RecordsReplaced } from "../records/replaced.ts";
import type { ReadBatch } from "./read-events.ts";

/** The stores that an append works on. */
interface Stores {
  readonly records: Records;
  readonly events: EventsStore;
  readonly appends: OpenAppends;
  readonly arrivals: Pick<EventArrivals, "note">;
}

/** Where a batch belongs, and who sent it. */
interface Appended {
  readonly grant: Grant;
  readonly project: string;
  /** How many seconds events take at most that come this way, where it has a lateness of its own. */
  readonly lateness?: number;
}

/** Makes a retried batch count once: the header Idempotency-Key, and a hash of the body that came with it. */
export interface BatchKey {
  readonly idempotencyKey: string;
  readonly digest: string;
}

/**
 * Stores the batch that `read` returns for the mode of the project, and returns it: the way of all events into the store.
 * Events that are sent with the token of a deployed app get the stage of that. Rejects with `forbidden`, `not_found`, and with
 * RecordsReplaced.
 */
export async function append(
  { records, events, appends, arrivals }: Stores,
  { grant, project: id, lateness }: Appended,
  read: (mode: ProjectMode) => ReadBatch,
  batchKey: BatchKey | undefined,
): Promise<ReadBatch> {
  const project = { team_id: grant.team, id };
  if (grant.app !== undefined && grant.app.project !== id) {
    throw new RpcError("forbidden", `this token may write to the project ${JSON.stringify(grant.app.project)} alone`);
  }
  return appends.run(project, async () => {
    const { key, mode } = await eventsPlaceOf(records.db, project);
    const batch = atStage(read(mode), mode === "plain_text" ? undefined : grant.app?.stage);
    // The project may be gone with the next start.
    if (records.isReplaced()) throw new RecordsReplaced();
    if (batch.events.length === 0) return batch;
    await events.append(key, batch.events, batchKey);
    await arrivals.note(key, batch.events, lateness);
    return batch;
  });
}

/** The batch with one stage, if there is one: a preview cannot pose as production. */
function atStage(batch: ReadBatch, stage: string | undefined): ReadBatch {
  if (!stage) return batch;
  const events = batch.events.map((event) => {
    if (event.fields.stage === stage) return event;
    return { ...event, fields: { ...event.fields, stage }, fieldsJson: undefined };
  });
  return { ...batch, events };
}

/** The batch as a project of this mode keeps it: in one of plain text, an event has no fields. */
export function inMode(batch: ReadBatch, mode: ProjectMode): ReadBatch {
  if (mode !== "plain_text") return batch;
  const events = batch.events.map(({ id, timestamp, level, message, truncated }) => {
    return { id, timestamp, level, message, truncated, fields: {} };
  });
  return { ...batch, events };
}

/** The answer to a partial batch. Events that the project already has count as accepted. */
export function reportOf({ events, errors }: ReadBatch): BatchReport {
  return { accepted: events.length, errors };
}

/**
 * The appends under way, by project, so that the removal of a project waits for them: events stored after it dropped the
 * others would be kept for ever under a key that no project has. An append is counted before it looks the project up, so
 * that the removal either waits for it or it does not find the project.
 */
export class OpenAppends {
  readonly #open = new Map<string, number>();
  /** For each project being removed, what to call when its last append has ended. */
  readonly #removing = new Map<string, () => void>();

  async run<T>(key: ProjectKey, append: () => Promise<T>): Promise<T> {
    this.#refuseRemoved(key);
    const project = nameOf(key);
    this.#open.set(project, (this.#open.get(project) ?? 0) + 1);
    try {
      return await append();
    } finally {
      const left = this.#open.get(project)! - 1;
      if (left > 0) this.#open.set(project, left);
      else {
        this.#open.delete(project);
        this.#removing.get(project)?.();
      }
    }
  }

  /** Waits for the appends under way, then removes. Appends are refused until the removal has ended. */
  async remove<T>(key: ProjectKey, remove: () => Promise<T>): Promise<T> {
    this.#refuseRemoved(key);
    const project = nameOf(key);
    const last = new Promise<void>((resolve) => this.#removing.set(project, resolve));
    try {
      if (this.#open.has(project)) await last;
      return await remove();
    } finally {
      this.#removing.delete(project);
    }
  }

  /** Not `not_found`: the removal may still fail. */
  #refuseRemoved(key: ProjectKey): void {
    if (!this.#removing.has(nameOf(key))) return;
    const message = `the project ${JSON.stringify(key.id)} is being removed: try again`;
    throw new RpcError("unavailable", message, { retryAfterMs: 1_000 });
  }
}

/** A slug of a team has no slash. */
const nameOf = ({ team_id, id }: ProjectKey) => `${team_id}/${id}`;
