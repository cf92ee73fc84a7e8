// The compact model of the sandbox's services: of the operations in operations.json, the shapes that they reach, from the
// SDK's clients, which the product then need not load. cli/sandbox/cloud/protocol/shape.ts reads it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { translateTraits } from "@smithy/core/schema";

const require = createRequire(import.meta.url);

/** The kinds of the first shapes of each table, by the SDK's number of each; `unit` has none. */
const KINDS = new Map([
  ["unit", "unit"],
  [0, "string"],
  [1, "number"],
  [2, "boolean"],
  [4, "time"],
  [5, "date-time"],
  [6, "http-date"],
  [7, "epoch-seconds"],
  [21, "blob"],
  [42, "stream"],
]);
const SIMPLE = [...KINDS.values()];

/** Traits that change what is on the wire, or what is looked for there. */
const WIRE_TRAITS = [
  "eventPayload",
  "httpHeader",
  "httpLabel",
  "httpPayload",
  "httpPrefixHeaders",
  "httpQuery",
  "httpQueryParams",
  "httpResponseCode",
  "jsonName",
  "streaming",
  "xmlAttribute",
  "xmlFlattened",
  "xmlName",
];

/** The model's module: the text of each service's JSON, by the service's name. */
export function sandboxModelModule(root) {
  const services = JSON.parse(readFileSync(join(root, "cli/sandbox/cloud/protocol/operations.json"), "utf8"));
  const texts = Object.entries(services).map(([name, service]) => {
    const model = modelOf(require(service.client), service);
    return `  ${JSON.stringify(name)}: ${JSON.stringify(JSON.stringify(model))},\n`;
  });
  return (
    `/** By service. As text: a string is scanned faster than code, and parsed when the service is first asked. */\n` +
    `export const models: Readonly<Record<string, string>> = {\n${texts.join("")}};\n`
  );
}

/** `client` is what the package of a client exports. */
function modelOf(client, { client: packageName, protocol, operations: names }) {
  const operations = new Map();
  const statuses = {};
  for (const value of Object.values(client)) {
    if (!Array.isArray(value)) continue;
    if (value[0] === 9) operations.set(value[2], value);
    if (value[0] === -3) {
      const { httpError, awsQueryError } = translateTraits(value[3]);
      const status = awsQueryError?.[1] ?? httpError;
      if (status === undefined) continue;
      statuses[value[2]] = status;
      // Its name in the query protocol, also in a service that spoke it and speaks JSON now.
      if (awsQueryError !== undefined) statuses[awsQueryError[0]] = status;
    }
  }
  const absent = names.filter((name) => !operations.has(name));
  if (absent.length > 0) throw new Error(`${packageName} has no operation ${absent.join(", ")}`);
  const table = new ShapeTable();
  const isRest = protocol.startsWith("rest-");
  const rows = [];
  for (const [name, [, , , traits, input, output]] of operations) {
    const http = isRest ? translateTraits(traits).http : undefined;
    if (names.includes(name)) rows.push([name, table.refer(input), table.refer(output), ...(http ?? [])]);
    // By its path and query alone a request for another operation could be taken for one of these.
    else if (isRest) rows.push([name, table.referLabels(input), 0, ...http]);
  }
  // An error without a status has 400.
  const unusual = Object.fromEntries(Object.entries(statuses).filter(([, status]) => status !== 400));
  return { protocol, operations: rows, shapes: table.shapes, statuses: unusual };
}

class ShapeTable {
  shapes = [...SIMPLE];
  #places = new Map();

  /** The place of a shape in the table, or [place, traits] if traits change it here. */
  refer(reference) {
    // Members are [schema, traits].
    const [target, memberTraits] = Array.isArray(reference) && reference.length === 2 ? reference : [reference, 0];
    const schema = deref(target);
    const merged = { ...translateTraits(Array.isArray(schema) ? schema[3] : 0), ...translateTraits(memberTraits) };
    const traits = Object.fromEntries(
      WIRE_TRAITS.filter((name) => merged[name] !== undefined).map((name) => [name, merged[name]]),
    );
    const place = this.#placeOf(schema);
    return Object.keys(traits).length > 0 ? [place, traits] : place;
  }

  /** The place of an input with nothing but what the path says. */
  referLabels(input) {
    const [, , , , members = [], types = []] = deref(input);
    const labels = members.filter((_, i) => Array.isArray(types[i]) && translateTraits(types[i][1]).httpLabel);
    const key = labels.join(" ");
    if (!this.#places.has(key)) {
      this.#places.set(key, this.shapes.length);
      this.shapes.push(["struct", "Labels", ...labels.flatMap((label) => [label, [1, { httpLabel: 1 }]])]);
    }
    return this.#places.get(key);
  }

  #placeOf(schema) {
    if (Array.isArray(schema) && schema[0] === 0) return this.#placeOf(schema[4]);
    if (KINDS.has(schema)) return SIMPLE.indexOf(KINDS.get(schema));
    const existing = this.#places.get(schema);
    if (existing !== undefined) return existing;
    const place = this.shapes.length;
    this.#places.set(schema, place);
    // Before its members, which may name it.
    this.shapes.push(0);
    this.shapes[place] = this.#shapeOf(schema);
    return place;
  }

  #shapeOf(schema) {
    // 64 and 128 are the bits of a list and of a map of what the other bits say.
    if (typeof schema === "number" && schema >= 64) {
      return schema >= 128 ? ["map", 1, this.refer(schema & 63)] : ["list", this.refer(schema & 63)];
    }
    switch (Array.isArray(schema) ? schema[0] : undefined) {
      case 1:
        return ["list", this.refer(schema[4])];
      case 2:
        return ["map", this.refer(schema[4]), this.refer(schema[5])];
      case 3:
      case -3:
      case 4: {
        const [, , name, , members, types] = schema;
        return ["struct", name, ...members.flatMap((member, i) => [member, this.refer(types[i])])];
      }
      default:
        throw new Error(`the sandbox has no kind of shape for ${JSON.stringify(schema)}`);
    }
  }
}

/** A function stands for a schema that is defined later. */
function deref(schema) {
  return typeof schema === "function" ? schema() : schema;
}
