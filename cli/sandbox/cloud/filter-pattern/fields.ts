// [a, b = x, ..., c > 1]: conditions on the fields of an event between spaces, "quotes" or [brackets].
import { COMPARISON, ordering, parseOperand } from "./operand.ts";
import { type Matcher, PatternReader, PatternSyntaxError } from "./reader.ts";
import { MAX_REGEXES } from "./regex.ts";

/** Up to what closes or joins conditions. */
const BARE = /[^\s,\]&|"%]+/y;

type Condition = (field: string) => boolean;

interface Slot {
  readonly name: string;
  readonly condition: Condition;
  readonly isConditional: boolean;
}

export function parseFieldsPattern(pattern: string): Matcher {
  const reader = new PatternReader(pattern);
  const counts = { regexes: 0 };
  reader.expect(/\[\s*/y, "[");
  const slots: (Slot | "...")[] = [];
  if (reader.token(/\]/y) !== undefined) {
    reader.end();
    return () => true;
  }
  do slots.push(parseSlot(reader, counts));
  while (reader.token(/,/y) !== undefined);
  if (reader.token(/\]/y) === undefined) throw reader.error(", or ]");
  reader.end();
  const names = slots.flatMap((slot) => (slot === "..." ? slot : slot.name || []));
  if (new Set(names).size < names.length) throw new PatternSyntaxError("Invalid filter pattern: a name is there twice");
  if (counts.regexes > MAX_REGEXES)
    throw new PatternSyntaxError("Invalid filter pattern: too many regular expressions");
  const gap = slots.indexOf("...");
  const head = slots.slice(0, gap === -1 ? undefined : gap) as Slot[];
  const tail = gap === -1 ? [] : (slots.slice(gap + 1) as Slot[]);
  return (message) => {
    const fields = fieldsOf(message);
    if (fields.length < head.length + tail.length) return false;
    // Without `...` the last name stands for all that is left: its condition does not hold then, as others observed.
    if (gap === -1 && fields.length > head.length && head.at(-1)?.isConditional === true) return false;
    const last = fields.slice(fields.length - tail.length);
    return head.every((slot, i) => slot.condition(fields[i]!)) && tail.every((slot, i) => slot.condition(last[i]!));
  };
}

/** name, name = x, name != x && name != y; or nothing, for a field without a name. */
function parseSlot(reader: PatternReader, counts: { regexes: number }): Slot | "..." {
  if (reader.token(/\.\.\./y) !== undefined) return "...";
  const name = reader.token(/[\w-]+/y) ?? "";
  if (name === "") return { name, condition: () => true, isConditional: false };
  const first = parseCondition(reader, counts);
  let condition: Condition = first ?? (() => true);
  const alternatives: Condition[] = [];
  for (;;) {
    const joint = reader.token(/&&|\|\|/y);
    if (joint === undefined) break;
    if (reader.token(/[\w-]+/y) !== name) throw reader.error(`${name} before this`);
    const next = parseCondition(reader, counts);
    if (next === undefined) throw reader.error("an operator");
    if (joint === "||") {
      alternatives.push(condition);
      condition = next;
    } else {
      const left = condition;
      condition = (field) => left(field) && next(field);
    }
  }
  alternatives.push(condition);
  return { name, condition: (field) => alternatives.some((one) => one(field)), isConditional: first !== undefined };
}

function parseCondition(reader: PatternReader, counts: { regexes: number }): Condition | undefined {
  const operator = reader.token(COMPARISON);
  if (operator === undefined) return undefined;
  const operand = parseOperand(reader, BARE);
  if (operand.kind === "regex") counts.regexes += 1;
  const order = ordering(operator);
  if (order !== undefined) {
    if (operand.kind !== "number") throw reader.error(`a number before this, for ${operator}`);
    return (field) => /\d/.test(field) && order(Number(field), operand.value);
  }
  return (field) => {
    const isSame =
      operand.kind === "number"
        ? field === operand.text || (/\d/.test(field) && Number(field) === operand.value)
        : operand.kind === "regex"
          ? operand.regex.test(field)
          : operand.matches(field);
    return isSame === (operator === "=");
  };
}

/** "The characters between a pair of square brackets or two double quotes are treated as a single field." */
function fieldsOf(message: string): string[] {
  return Array.from(
    message.matchAll(/"([^"]*)"|\[([^\]]*)\]|\S+/g),
    ([whole, quoted, bracketed]) => quoted ?? bracketed ?? whole,
  );
}
