import { useMemo, useState } from "preact/hooks";
import type { Event } from "../../../schema/rpc.generated.ts";
import { fieldName } from "../../events/field-paths.ts";
import { copy } from "../kit/copy.tsx";
import { number } from "../kit/format.ts";
import { Menu } from "../kit/menu.tsx";
import { Text } from "../kit/text.tsx";
import { visibleText } from "../kit/visible.ts";
import { textOfValue } from "./field-values.ts";
import { FoldButton } from "./fold-button.tsx";
import { jsonIn } from "./json-text.ts";
import { JsonTree } from "./json-tree.tsx";
import { isDeep, treeIndent } from "./tree-place.ts";
import type { ValueActions } from "./value-actions.ts";

export interface FieldTreeProps {
  readonly event: Event;
  readonly actions: ValueActions;
  readonly columns: readonly string[];
}

/** The fields of an event as a tree. Every value has its filters beside it. */
export function FieldTree({ event, actions, columns }: FieldTreeProps) {
  const entries = Object.entries(event.fields);
  return (
    <div class="tree">
      <Leaf name="level" value={event.level} field="level" depth={0} actions={actions} columns={columns} />
      {entries.map(([name, value]) => (
        <Branch key={name} name={name} value={value} path={[name]} depth={0} actions={actions} columns={columns} />
      ))}
      {entries.length === 0 && <p class="hint">The event has no fields.</p>}
      <p class="hint event-id">
        event <code>{event.id}</code>
      </p>
    </div>
  );
}

interface BranchProps extends Omit<FieldTreeProps, "event"> {
  readonly name: string;
  readonly value: unknown;
  /** The keys of the field; an element of a list has those of the list, by which queries find it. */
  readonly path: readonly string[];
  readonly depth: number;
  readonly isElement?: boolean;
}

/** Deeper ones are folded at first, unless they hold a single one. */
const OPEN_DEPTH = 3;
/** So many members are drawn at first. */
const MOST_MEMBERS = 100;

function Branch({ name, value, path, depth, isElement = false, ...rest }: BranchProps) {
  const isAlone = typeof value === "object" && value !== null && Object.keys(value).length === 1;
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH || isAlone);
  const [isAll, setAll] = useState(false);
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0)
    return <Leaf name={name} value={value} field={fieldName(path)} depth={depth} {...rest} />;
  const isList = Array.isArray(value);
  const members = Object.entries(value);
  const visibleMembers = isAll ? members : members.slice(0, MOST_MEMBERS);
  return (
    <div class="branch">
      <FoldButton
        name={name}
        isList={isList}
        size={members.length}
        depth={depth}
        isOpen={isOpen}
        onTurn={() => setOpen(!isOpen)}
      />
      {isOpen &&
        visibleMembers.map(([key, member]) => (
          <Branch
            key={key}
            name={key}
            value={member}
            path={isList || isElement ? path : [...path, key]}
            isElement={isElement || isList}
            depth={depth + 1}
            {...rest}
          />
        ))}
      {isOpen && visibleMembers.length < members.length && (
        <button type="button" class="button small" onClick={() => setAll(true)}>
          Show {number(members.length - visibleMembers.length)} more
        </button>
      )}
    </div>
  );
}

interface LeafProps extends Omit<FieldTreeProps, "event"> {
  readonly name: string;
  readonly value: unknown;
  /** Absent for what no query finds by a name. */
  readonly field: string | undefined;
  readonly depth: number;
}

/** A value of no more characters has room beside its name on a phone. */
const SHORT = 20;
/** A longer one is folded at first: the trace of a stack is not. */
const LONG = 1_200;

function Leaf({ name, value, field, depth, actions, columns }: LeafProps) {
  const [isLong, setLong] = useState(false);
  const whole = textOfValue(value);
  const json = useMemo(() => (typeof value === "string" ? jsonIn(value) : undefined), [value]);
  const [isJson, setJson] = useState(false);
  const text = whole.length > LONG && !isLong ? `${whole.slice(0, LONG)}…` : whole;
  // As a text of several lines, or a long one on a narrow screen, it has the whole width.
  const shape = /\n/.test(whole) ? " lines" : whole.length > SHORT ? " long" : "";
  return (
    <>
      <div class={`leaf${shape}${isDeep(depth) ? " deep" : ""}`} style={isDeep(depth) ? treeIndent(depth) : undefined}>
        <span class="name" style={isDeep(depth) ? undefined : treeIndent(depth)}>
          <Text text={name} />
        </span>
        <span class={`value value-${typeof value}`}>
          <Text text={text} keepsLines />
          {whole.length > LONG && (
            <button type="button" class="button small" onClick={() => setLong(!isLong)}>
              {isLong ? "Show less" : `Show all ${number(whole.length)} characters`}
            </button>
          )}
          {json && (
            <button type="button" class="button small" aria-pressed={isJson} onClick={() => setJson(!isJson)}>
              As JSON
            </button>
          )}
        </span>
        {field !== undefined && (
          <span class="leaf-actions">
            <button
              type="button"
              class="button quiet small icon"
              aria-label={visibleText(`Only events with ${name} = ${text}`)}
              title="Only this value"
              onClick={() => actions.filterIn(field, value)}
            >
              +
            </button>
            <button
              type="button"
              class="button quiet small icon"
              aria-label={visibleText(`No events with ${name} = ${text}`)}
              title="Not this value"
              onClick={() => actions.filterOut(field, value)}
            >
              −
            </button>
            <Menu
              class="button quiet small icon"
              name={visibleText(`More for ${name}`)}
              label={<span aria-hidden="true">⋮</span>}
              align="right"
              entries={[
                { text: "All events with this value", onChoose: () => actions.alone(field, value) },
                { text: "Only events with this field", onChoose: () => actions.exists(field) },
                { text: "Count by this field", onChoose: () => actions.groupBy(field) },
                {
                  text: columns.includes(field) ? "Remove the column" : "Show as a column",
                  onChoose: () => actions.toggleColumn(field),
                },
                { text: "Copy the value", onChoose: () => void copy(whole, "Value copied") },
              ]}
            />
          </span>
        )}
      </div>
      {isJson && json && <JsonTree key={whole} node={json} name={`${name}, as JSON`} depth={depth + 1} />}
    </>
  );
}
