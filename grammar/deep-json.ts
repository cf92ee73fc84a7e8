/**
 * A value of JSON.parse as JSON without blanks, however deep it nests: JSON.parse takes any depth, and JSON.stringify throws
 * RangeError at some thousands. `prepare` gets each object, and returns the one that is written.
 */
export function deepJson(value: unknown, prepare?: (object: object) => object): string {
  const replacer =
    prepare &&
    ((_: string, member: unknown) => (isObject(member) && !Array.isArray(member) ? prepare(member) : member));
  try {
    return JSON.stringify(value, replacer) ?? "null";
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return written(value, prepare ?? ((object) => object));
  }
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** An object or a list of which some members are written. */
interface Open {
  readonly members: Iterator<readonly [string | number, unknown]>;
  readonly isList: boolean;
  isEmpty: boolean;
}

function written(value: unknown, prepare: (object: object) => object): string {
  let text = "";
  const open: Open[] = [];
  const begin = (one: unknown) => {
    if (!isObject(one)) {
      text += JSON.stringify(one) ?? "null";
      return;
    }
    const isList = Array.isArray(one);
    text += isList ? "[" : "{";
    open.push({ members: isList ? one.entries() : Object.entries(prepare(one)).values(), isList, isEmpty: true });
  };
  begin(value);
  for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
    const { done, value: member } = at.members.next();
    if (done === true) {
      text += at.isList ? "]" : "}";
      open.pop();
      continue;
    }
    const [name, one] = member;
    if (!at.isEmpty) text += ",";
    at.isEmpty = false;
    if (!at.isList) text += `${JSON.stringify(name)}:`;
    begin(one);
  }
  return text;
}
