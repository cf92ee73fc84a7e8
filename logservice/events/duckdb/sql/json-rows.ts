import type {
  DuckDBDataChunk,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBResult,
  DuckDBStructType,
  DuckDBStructValue,
  DuckDBType,
  DuckDBUnionValue,
  DuckDBValue,
  DuckDBVariantValue,
} from "@duckdb/node-api";
import { rfc3339 } from "./rfc3339.ts";

type Api = typeof import("@duckdb/node-api");

/** Prints a value other than null as JSON. */
type Print = (value: DuckDBValue) => string;

/**
 * Prints the rows of a result as JSON objects. Integers up to 2^53 and decimals of up to 15 digits are numbers; larger ones
 * are strings of their digits, since most readers of JSON have float64 only. NaN and infinities are strings. Times are RFC
 * 3339 in UTC. Values of type JSON are inserted as written. Structs are objects, or lists if their members have no names.
 * Any other type is a string as DuckDB shows it.
 */
export function rowPrinter(api: Api, result: DuckDBResult): (chunk: DuckDBDataChunk) => (row: number) => string {
  const columns = namesOf(result).map((name, i) => {
    return { key: `${JSON.stringify(name)}:`, print: printerOf(api, result.columnType(i)) };
  });
  return (chunk) => {
    const vectors = columns.map((_, i) => chunk.getColumnVector(i));
    for (const { type } of vectors) numberMembers(api, type);
    return (row) => {
      const members = columns.map(({ key, print }, i) => key + orNull(print, vectors[i]!.getItem(row)));
      return `{${members.join(",")}}`;
    };
  };
}

/** Column names, with a number added to each that is taken already: `x`, `x:1`. */
function namesOf(result: DuckDBResult): string[] {
  const takenNames = new Set(result.columnNames());
  const names = new Set<string>();
  for (const name of result.columnNames()) {
    let unique = name;
    for (let i = 1; names.has(unique); i++) {
      if (!takenNames.has(`${name}:${i}`)) unique = `${name}:${i}`;
    }
    takenNames.add(unique);
    names.add(unique);
  }
  return [...names];
}

const orNull = (print: Print, value: DuckDBValue | undefined) =>
  value === null || value === undefined ? "null" : print(value);

function printerOf(api: Api, type: DuckDBType): Print {
  const { DuckDBTypeId: Id } = api;
  const listOf = (valueType: DuckDBType): Print => {
    const print = printerOf(api, valueType);
    return (value) => `[${(value as DuckDBListValue).items.map((item) => orNull(print, item)).join(",")}]`;
  };
  switch (type.typeId) {
    case Id.BOOLEAN:
    case Id.TINYINT:
    case Id.SMALLINT:
    case Id.INTEGER:
    case Id.UTINYINT:
    case Id.USMALLINT:
    case Id.UINTEGER:
      return String;
    case Id.BIGINT:
    case Id.UBIGINT:
    case Id.HUGEINT:
    case Id.UHUGEINT:
    case Id.BIGNUM:
      return (value) => printInteger(value as bigint);
    case Id.FLOAT:
    case Id.DOUBLE:
      return (value) => (Number.isFinite(value) ? String(value) : JSON.stringify(String(value)));
    case Id.DECIMAL:
      return (value) => printDecimal(value as DuckDBDecimalValue);
    case Id.VARCHAR:
      return type.alias === "JSON" ? (value) => printJson(value as string) : JSON.stringify;
    case Id.TIMESTAMP:
    case Id.TIMESTAMP_TZ:
    case Id.TIMESTAMP_S:
    case Id.TIMESTAMP_MS:
    case Id.TIMESTAMP_NS:
    case Id.DATE:
      return (value) => JSON.stringify(rfc3339(value as Parameters<typeof rfc3339>[0]));
    case Id.LIST:
    case Id.ARRAY:
      return listOf(type.valueType);
    case Id.STRUCT: {
      const printers = type.entryTypes.map((entryType) => printerOf(api, entryType));
      if (isUnnamed(type)) {
        return (value) => {
          const { entries } = value as DuckDBStructValue;
          return `[${printers.map((print, i) => orNull(print, entries[i])).join(",")}]`;
        };
      }
      const names = type.entryNames.map((name) => ({ name, key: `${JSON.stringify(name)}:` }));
      return (value) => {
        const { entries } = value as DuckDBStructValue;
        return `{${names.map(({ name, key }, i) => key + orNull(printers[i]!, entries[name])).join(",")}}`;
      };
    }
    case Id.MAP: {
      const [printKey, printValue] = [printerOf(api, type.keyType), printerOf(api, type.valueType)];
      return (value) => {
        const entries = (value as DuckDBMapValue).entries.map(
          (entry) => `{"key":${orNull(printKey, entry.key)},"value":${orNull(printValue, entry.value)}}`,
        );
        return `[${entries.join(",")}]`;
      };
    }
    case Id.UNION: {
      const printers = new Map(type.memberTags.map((tag, i) => [tag, printerOf(api, type.memberTypes[i]!)]));
      return (value) => {
        const { tag, value: member } = value as DuckDBUnionValue;
        return `{"tag":${JSON.stringify(tag)},"value":${orNull(printers.get(tag)!, member)}}`;
      };
    }
    case Id.VARIANT:
      return (value) => {
        const { type: inner, value: content } = value as DuckDBVariantValue;
        return orNull(inner === undefined ? printText : printerOf(api, inner), content);
      };
    default:
      return printText;
  }
}

const isUnnamed = ({ entryNames }: DuckDBStructType) => entryNames.every((name) => name === "");

/**
 * Gives the members of unnamed structs their positions as names. The driver keys members by name, and would keep only the last
 * of those without one.
 */
function numberMembers(api: Api, type: DuckDBType): void {
  const { DuckDBTypeId: Id } = api;
  const number = (inner: DuckDBType) => numberMembers(api, inner);
  if (type.typeId === Id.LIST || type.typeId === Id.ARRAY) number(type.valueType);
  if (type.typeId === Id.MAP) [type.keyType, type.valueType].forEach(number);
  if (type.typeId === Id.UNION) type.memberTypes.forEach(number);
  if (type.typeId !== Id.STRUCT) return;
  type.entryTypes.forEach(number);
  if (isUnnamed(type))
    Object.assign(
      type.entryNames,
      type.entryNames.map((_, i) => String(i)),
    );
}

const printText: Print = (value) => JSON.stringify(String(value));

/** Up to here, float64 represents every integer. */
const MAX_INTEGER = 2n ** 53n;

const printInteger = (value: bigint) => (value <= MAX_INTEGER && value >= -MAX_INTEGER ? String(value) : `"${value}"`);

/** A decimal of at most 15 digits survives a round trip through float64. */
const MAX_DECIMAL = 10n ** 15n;

const printDecimal = (decimal: DuckDBDecimalValue) =>
  decimal.value < MAX_DECIMAL && decimal.value > -MAX_DECIMAL ? String(decimal) : `"${decimal}"`;

/** DuckDB accepts NaN, infinities and trailing commas in JSON; such a value is printed as a string. */
function printJson(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}
