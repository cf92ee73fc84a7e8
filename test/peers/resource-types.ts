// The types of resources that the stand-in makes, beside their published schemas: which properties there are, which must
// be there, which make a new resource, and what Fn::GetAtt gives. The schemas are those that cfn-lint carries, which
// moto depends on.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { RESOURCE_TYPES } from "../../cli/sandbox/cloud/cloudformation/types/index.ts";
import type { Property, ResourceType } from "../../cli/sandbox/cloud/cloudformation/types/type.ts";
import { requires } from "../support/require.ts";
import { installPeers, sitePackages } from "./servers.ts";

interface Schema {
  readonly properties: Readonly<Record<string, SchemaProperty>>;
  readonly definitions?: Readonly<Record<string, SchemaProperty>>;
  readonly required?: readonly string[];
  readonly readOnlyProperties?: readonly string[];
  readonly createOnlyProperties?: readonly string[];
  readonly conditionalCreateOnlyProperties?: readonly string[];
}

interface SchemaProperty {
  readonly type?: string | readonly string[];
  readonly $ref?: string;
}

/** Where the pages of the types say otherwise than the schemas. */
const BY_THE_PAGES: Readonly<Record<string, readonly string[]>> = {
  "AWS::Events::Rule": ["attributes Arn, in the schema Arn RuleName"],
  "AWS::Route53::RecordSet": ["Name: Always, in the schema Never"],
  "AWS::SNS::Topic": ["attributes TopicArn TopicName, in the schema TopicArn"],
};

const missing = requires("python3") || installPeers();

t.test("resource types and their schemas", { skip: missing || false }, async (t) => {
  const folder = join(sitePackages(), "cfnlint/data/schemas");
  const index: Record<string, string> = JSON.parse(readFileSync(join(folder, "providers/eu-west-1.json"), "utf8"));
  for (const [name, type] of Object.entries(RESOURCE_TYPES)) {
    const schema: Schema = JSON.parse(readFileSync(join(folder, `resources/${index[name]}.json`), "utf8"));
    t.same(differences(type, schema), BY_THE_PAGES[name] ?? [], name);
  }
});

function differences(type: ResourceType, schema: Schema): string[] {
  const namesIn = (pointers: readonly string[] = []) =>
    new Set(pointers.map((pointer) => pointer.replace("/properties/", "")));
  const readOnly = namesIn(schema.readOnlyProperties);
  const createOnly = namesIn(schema.createOnlyProperties);
  const conditional = namesIn(schema.conditionalCreateOnlyProperties);
  const lines: string[] = [];
  const compare = (what: string, own: string, published: string) => {
    if (own !== published) lines.push(`${what} ${own}, in the schema ${published}`);
  };
  const published = Object.keys(schema.properties).filter((name) => !readOnly.has(name));
  compare("properties", Object.keys(type.properties).sort().join(" "), published.sort().join(" "));
  for (const [name, property] of Object.entries(type.properties)) {
    compare(
      `${name}:`,
      property.recreation,
      createOnly.has(name) ? "Always" : conditional.has(name) ? "Conditionally" : "Never",
    );
    compare(`${name} is required:`, String(property.isRequired), String(schema.required?.includes(name) ?? false));
    compare(`${name} is`, property.kind, kindOf(schema, schema.properties[name]));
  }
  compare(
    "attributes",
    [...type.attributes].sort().join(" "),
    [...readOnly]
      .filter((name) => !name.includes("/"))
      .sort()
      .join(" "),
  );
  return lines;
}

function kindOf(schema: Schema, property: SchemaProperty | undefined): Property["kind"] {
  const definition = property?.$ref === undefined ? property : schema.definitions?.[property.$ref.split("/").pop()!];
  switch (definition?.type) {
    case "string":
      return "text";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "array":
      return "list";
    case "object":
      return "object";
    default:
      return "json";
  }
}
