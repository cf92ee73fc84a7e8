import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { rangeTexts } from "../../address/view.ts";
import { call } from "../data/call.ts";
import { serviceNow } from "../data/clock.ts";
import { Dialog } from "../kit/dialog.tsx";
import { count, missingText, timeText, zoneName } from "../kit/format.ts";
import { useSending } from "../kit/sending.ts";
import { Text } from "../kit/text.tsx";
import { say } from "../kit/toasts.tsx";
import type { ExplorerState, QueryResult } from "./explorer-state.ts";

type Format = "csv" | "ndjson";

export interface ExportDialogProps {
  readonly state: ExplorerState;
  /** The result that is on the screen: the file has the same. */
  readonly result: QueryResult;
  onClose(): void;
}

/** Asks how events, or the table of a query with stages, are to be downloaded. */
export function ExportDialog({ state, result, onClose }: ExportDialogProps) {
  const { columns, isLive } = state.view.value;
  const [format, setFormat] = useState<Format>("csv");
  const [isAll, setAll] = useState(columns.length === 0);
  const sending = useSending();
  // While it is live, what has arrived since is on the screen, too.
  const [times] = useState(() => (isLive ? { ...result.times, stopMs: serviceNow() } : result.times));
  const { startMs, stopMs } = times;
  const isTable = result.table.value !== undefined;
  const total = isLive ? undefined : result.histogram.value?.total;
  const send = async () => {
    const fields = format === "csv" && !isTable && !isAll ? { fields: [...columns] } : {};
    const request = { project_id: state.projectId, query: result.query, ...rangeTexts(times), format, ...fields };
    const isSent = await sending.send(async () => download((await call("add_export", request)).ticket));
    if (!isSent) return;
    // The ticket keeps a place for the export, so it is not refused now.
    say("The download has started. Your browser shows its progress.");
    onClose();
  };
  return (
    <Dialog title="Export" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p class="lead">
          {isTable ? "The table of this query" : total === undefined ? "All events" : eventsText(total)}, from{" "}
          {timeText(startMs)} to {timeText(stopMs)} {zoneName()}
          {isTable ? "." : ", newest first."}
        </p>
        {result.query !== "" && (
          <div class="field code">
            <pre>
              <Text text={result.query} keepsLines />
            </pre>
          </div>
        )}
        {result.missingBytes.value > 0 && (
          <p class="note warning">
            {missingText(result.missingBytes.value, "in this range")} The file is without them.
          </p>
        )}
        <fieldset class="field">
          <legend>Format</legend>
          <div>
            <Choice name="format" isChosen={format === "csv"} onChoose={() => setFormat("csv")}>
              <strong>CSV</strong>, for spreadsheets. Values that look like formulas get a leading apostrophe.
            </Choice>
            <Choice name="format" isChosen={format === "ndjson"} onChoose={() => setFormat("ndjson")}>
              <strong>NDJSON</strong>, for programs: {isTable ? "a row" : "an event with all its fields"} per line.
            </Choice>
          </div>
        </fieldset>
        {format === "csv" && !isTable && (
          <fieldset class="field">
            <legend>Columns</legend>
            <div>
              <Choice name="columns" isChosen={isAll} onChoose={() => setAll(true)}>
                All fields of these events
              </Choice>
              <Choice name="columns" isChosen={!isAll} onChoose={() => setAll(false)}>
                {columns.length === 0 ? (
                  "Only time, level and message"
                ) : (
                  <>
                    Time, level, message and the columns shown: <Text text={columns.join(", ")} />
                  </>
                )}
              </Choice>
            </div>
          </fieldset>
        )}
        {sending.problem && (
          <p class="note error" role="alert">
            {sending.problem}
          </p>
        )}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={sending.isSending}>
            Download
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly isChosen: boolean;
  readonly children: ComponentChildren;
  onChoose(): void;
}

function Choice({ name, isChosen, children, onChoose }: ChoiceProps) {
  return (
    <label class="check">
      <input type="radio" name={name} checked={isChosen} onChange={onChoose} />
      <span>{children}</span>
    </label>
  );
}

const eventsText = (total: number) => (total === 1 ? "1 event" : `All ${count(total)} events`);

/**
 * Downloads as by a link, so that the browser writes the file as it comes, shows how far it is and can end it. The page
 * itself would have to hold all of it.
 */
function download(ticket: string): void {
  const link = document.createElement("a");
  link.href = `/export?${new URLSearchParams({ ticket })}`;
  // The name is the service's. Without this, an answer that is an error would take the place of the page.
  link.download = "";
  document.body.append(link);
  link.click();
  link.remove();
}
