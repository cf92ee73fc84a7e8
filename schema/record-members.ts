// The parts of tool.schema.json that describe records of the log service: rpc.schema.json has what their members are.
// Called by generate.ts.

type Schema = Record<string, unknown>;

/** The keywords that a member takes over from the record. Bounds of texts and lists beyond these have no message in tool.json. */
const TAKEN = ["description", "type", "enum", "minimum", "maximum", "minLength", "default"];

/**
 * tool.schema.json with the definitions that are marked `"x-record": "Alert"` filled in: each of their members that the
 * record has is the record's, with what the definition says of it in place of that. A member that is written as another
 * type (a duration as a text) keeps none of the record's bounds.
 */
export function withRecordMembers(schema: Schema, records: Record<string, Schema>): Schema {
  const definitions = Object.entries(schema.definitions as Record<string, Schema>).map(([name, definition]) => {
    const { "x-record": record, ...own } = definition;
    return [name, record === undefined ? definition : { ...own, properties: membersOf(own, records[String(record)]) }];
  });
  return { ...schema, definitions: Object.fromEntries(definitions) };
}

function membersOf({ title, properties }: Schema, record: Schema | undefined): Schema {
  const theirs = record?.properties as Record<string, Schema> | undefined;
  if (theirs === undefined) throw new Error(`tool.schema.json: the record of ${title} is not in rpc.schema.json`);
  return Object.fromEntries(
    Object.entries(properties as Record<string, Schema>).map(([name, own]) => {
      const member = theirs[name];
      if (member === undefined) {
        if (own.type === undefined && own.$ref === undefined)
          throw new Error(`tool.schema.json: ${name} of ${title} is not a member of the record and has no type`);
        return [name, own];
      }
      return [name, withWords({ ...taken(member, own), ...own, ...itemsOf(member, own) })];
    }),
  );
}

function taken(member: Schema, own: Schema): Schema {
  const isOther = own.type !== undefined && own.type !== member.type;
  const names = isOther ? ["description"] : TAKEN;
  // A text that is too short has no message but that it is empty.
  const isKept = (name: string, value: unknown) => names.includes(name) && (name !== "minLength" || value === 1);
  return Object.fromEntries(Object.entries(member).filter(([name, value]) => isKept(name, value)));
}

function itemsOf({ items }: Schema, own: Schema): Schema {
  if (items === undefined) return {};
  return { items: { ...taken(items as Schema, (own.items ?? {}) as Schema), ...(own.items as Schema) } };
}

/** With the words of a hover: what it is, and the value without it. */
function withWords(member: Schema): Schema {
  if (member.markdownDescription !== undefined) return member;
  const { description, default: value } = member;
  const usual =
    value === undefined ? "" : `\n\nDefault \`${typeof value === "string" ? value : JSON.stringify(value)}\`.`;
  return { ...member, markdownDescription: `${description}${usual}` };
}
