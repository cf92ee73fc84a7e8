import { useState } from "preact/hooks";
import { pathOf } from "../../address/page.ts";
import { searchOf } from "../../address/view.ts";
import { go, here } from "../data/location.ts";
import { facets, requests, wrap } from "../data/preferences.ts";
import { mayDo, teamId } from "../data/session.ts";
import { copy } from "../kit/copy.tsx";
import { late } from "../kit/late.tsx";
import { Menu, type MenuEntry } from "../kit/menu.tsx";
import { Text } from "../kit/text.tsx";
import { kindOfQuery } from "../language/query.ts";
import { pastQueries } from "../query-box/history.ts";
import type { ExplorerState } from "./explorer-state.ts";
import { endingNow } from "./range-steps.ts";

const SearchDialog = late(() => import("../searches/search-dialog.tsx").then(({ SearchDialog }) => SearchDialog));

const ExportDialog = late(() => import("./export-dialog.tsx").then(({ ExportDialog }) => ExportDialog));

/** The actions on the result that is on the screen: live, save, alert, export, and the look of the list. */
export function ToolBar({ state }: { readonly state: ExplorerState }) {
  const [isSaving, setSaving] = useState(false);
  const [isExporting, setExporting] = useState(false);
  const result = state.result.value;
  const hasResult = result !== undefined && (result.histogram.value ?? result.table.value) !== undefined;
  const { query, range, isLive, isOldestFirst, columns } = state.view.value;
  const past = pastQueries(state.projectId);
  const isTable = kindOfQuery(query) === "stages";
  const history: readonly MenuEntry[] =
    past.length === 0
      ? [{ title: "No earlier queries yet" }]
      : past.map((text) => ({
          text: (
            <code>
              <Text text={text} />
            </code>
          ),
          onChoose: () => state.change({ query: text }),
        }));
  const alertPath = pathOf({
    ...{ kind: "item", team: teamId.value, project: state.projectId, section: "alerts", id: "new" },
  } as const);
  const saveEntries: readonly MenuEntry[] = [
    ...(result === undefined
      ? []
      : [{ text: "Copy a link to this", onChoose: () => void copyLink(state, result.times) }]),
    ...(mayDo("searches:write") ? [{ text: "Save this search", onChoose: () => setSaving(true) }] : []),
    ...(mayDo("alerts:write")
      ? [{ text: "Alert on this search", onChoose: () => go(`${alertPath}?${new URLSearchParams({ query })}`) }]
      : []),
    ...(hasResult ? [{ text: "Export", onChoose: () => setExporting(true) }] : []),
  ];
  return (
    <div class="tool-bar">
      <Menu class="button icon" name="Earlier queries" label={<Clock />} entries={history} align="right" />
      <button
        type="button"
        class="button live"
        aria-pressed={isLive}
        disabled={isTable}
        title={isTable ? "A query with stages cannot be live" : "Show events as they arrive  l"}
        onClick={() => state.change({ isLive: !isLive, range: endingNow(range) })}
      >
        Live
      </button>
      <Menu
        label={
          <>
            Save or share <span aria-hidden="true">▾</span>
          </>
        }
        align="right"
        entries={saveEntries}
      />
      <Menu
        name="View options"
        class="button icon"
        label={<span aria-hidden="true">⋯</span>}
        align="right"
        entries={[
          {
            text: "Wrap long messages",
            isOn: wrap.value === "wrapped",
            onChoose: () => {
              wrap.value = wrap.value === "wrapped" ? "one line" : "wrapped";
            },
          },
          {
            text: "Fold requests into responses",
            isOn: requests.value === "folded",
            onChoose: () => {
              requests.value = requests.value === "folded" ? "apart" : "folded";
            },
          },
          {
            text: "Oldest first",
            isOn: isOldestFirst,
            onChoose: () => {
              // Events that arrive have no place in a list that begins with the oldest.
              if (isLive) state.change({ isLive: false, isOldestFirst: true, range: endingNow(range) });
              else state.change({ isOldestFirst: !isOldestFirst });
            },
          },
          {
            text: "Show fields",
            isOn: facets.value === "shown",
            onChoose: () => {
              facets.value = facets.value === "shown" ? "hidden" : "shown";
            },
          },
          ...(columns.length > 0
            ? (["line", { text: "Remove all columns", onChoose: () => state.change({ columns: [] }) }] as const)
            : []),
        ]}
      />
      {isSaving && <SearchDialog projectId={state.projectId} first={{ query }} onClose={() => setSaving(false)} />}
      {isExporting && hasResult && <ExportDialog state={state} result={result} onClose={() => setExporting(false)} />}
    </div>
  );
}

function Clock() {
  return (
    <svg class="stroked" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <circle cx="8" cy="8" r="6.25" />
      <path d="M8 4.500V8l2.500 1.500" />
    </svg>
  );
}

/** Copies an address that shows the same later: with the times of now in the place of a range that ends now. */
function copyLink(
  { view }: ExplorerState,
  times: { readonly startMs: number; readonly stopMs: number },
): Promise<void> {
  const range = "lastMs" in view.peek().range ? times : view.peek().range;
  const search = searchOf({ ...view.peek(), range, isLive: false });
  return copy(new URL(here.peek().path + search, location.href).href, "Link copied");
}
