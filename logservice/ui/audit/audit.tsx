import { useState } from "preact/hooks";
import type { AuditEntry } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { mayDo, projects } from "../data/session.ts";
import { count } from "../kit/format.ts";
import { ProblemNote } from "../kit/problem.tsx";
import { WhenLoaded } from "../kit/state.tsx";
import { Table } from "../kit/table.tsx";
import { visibleText } from "../kit/visible.ts";
import { matchingEntries } from "./matching.ts";
import { AuditEntryRow } from "./row.tsx";
import { useAudit } from "./use-audit.ts";
import { useNames } from "./use-names.ts";

const DAY_MS = 86_400_000;

/** How far back is asked for. */
const RANGES: readonly { readonly text: string; readonly lastMs: number | undefined }[] = [
  { text: "Any time", lastMs: undefined },
  { text: "The last day", lastMs: DAY_MS },
  { text: "The last 7 days", lastMs: 7 * DAY_MS },
  { text: "The last 30 days", lastMs: 30 * DAY_MS },
];

/** Who did what in the team, and what was refused. */
export function Audit() {
  if (mayDo("tokens:read")) return <Entries />;
  return (
    <div class="empty">
      <h1>Audit</h1>
      <p>Admins and owners of the team see who did what. Ask one of them.</p>
    </div>
  );
}

function Entries() {
  const [project, setProject] = useState("");
  const [range, setRange] = useState(0);
  const [typed, setTyped] = useState("");
  const [isRefused, setRefused] = useState(false);
  const tokens = useLoaded(
    async (signal) =>
      new Map((await call("get_tokens", {}, { signal })).tokens.map((one) => [one.id!, one.description!])),
    [],
  );
  const { first, entries, hasOlder, sending, loadOlder } = useAudit({ project, lastMs: RANGES[range]!.lastMs });
  const names = useNames(entries);
  const matches = matchingEntries(entries, { typed, isRefused });
  const isFiltered = typed.trim() !== "" || isRefused;
  return (
    <div class="page">
      <header>
        <h1>Audit</h1>
      </header>
      <p class="lead">
        Changes, sign-ins and SQL statements, newest first, and requests that were refused. Changes are kept forever,
        SQL and refusals for 90 days.
      </p>
      <div class="row filters">
        <select aria-label="Project" value={project} onChange={(event) => setProject(event.currentTarget.value)}>
          <option value="">All of the team</option>
          {(projects.value ?? []).map(({ id, name }) => (
            <option key={id} value={id}>
              {visibleText(name)}
            </option>
          ))}
        </select>
        <select aria-label="Time" value={range} onChange={(event) => setRange(Number(event.currentTarget.value))}>
          {RANGES.map(({ text }, i) => (
            <option key={text} value={i}>
              {text}
            </option>
          ))}
        </select>
        <input
          type="search"
          aria-label="Filter what is loaded"
          placeholder="A person, a thing, an address"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <label class="check">
          <input type="checkbox" checked={isRefused} onChange={(event) => setRefused(event.currentTarget.checked)} />
          Refused only
        </label>
      </div>
      <WhenLoaded of={first}>
        {() => (
          <>
            <p class="hint" role="status">
              {isFiltered
                ? `${count(matches.length)} of the ${count(entries.length)} entries that are loaded${hasOlder ? "; older ones are not searched yet" : ""}`
                : `${count(entries.length)} ${entries.length === 1 ? "entry" : "entries"}${hasOlder ? " so far" : ""}`}
            </p>
            {matches.length > 0 && (
              <EntryTable entries={matches} tokens={tokens.value.value ?? NO_TOKENS} names={names} />
            )}
            {matches.length === 0 && !hasOlder && (
              <div class="empty card">
                <h2>Nothing here</h2>
                <p>{isFiltered ? "No entry matches: ask for less." : "Nothing was changed or refused in this time."}</p>
              </div>
            )}
            <ProblemNote text={sending.problem} />
            {hasOlder && (
              <div class="row more">
                <button type="button" class="button" disabled={sending.isSending} onClick={() => void loadOlder()}>
                  Load older entries
                </button>
              </div>
            )}
          </>
        )}
      </WhenLoaded>
    </div>
  );
}

const NO_TOKENS: ReadonlyMap<string, string> = new Map();

interface EntryTableProps {
  readonly entries: readonly AuditEntry[];
  readonly tokens: ReadonlyMap<string, string>;
  readonly names: ReadonlyMap<string, string>;
}

function EntryTable({ entries, tokens, names }: EntryTableProps) {
  return (
    <Table class="stacks audit" label="Entries of the audit" columns={["When", "Who", "What", "From"]}>
      {entries.map((entry) => (
        <AuditEntryRow key={entry.id} entry={entry} tokens={tokens} names={names} />
      ))}
    </Table>
  );
}
