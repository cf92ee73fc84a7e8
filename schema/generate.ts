// Makes tool.schema.json into types, a validator and embedded text, and rpc.schema.json likewise. Run by `npm run generate`;
// the one file of this folder that touches the disk.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import { compile, type JSONSchema } from "json-schema-to-typescript";
import { generateRpc, withoutSiblingsOfRef } from "./generate-rpc.ts";
import { withRecordMembers } from "./record-members.ts";
import { standaloneModule } from "./standalone-module.ts";

type Schema = Record<string, unknown>;

const BANNER = "// Generated from tool.schema.json by generate.ts.";

const folder = process.argv[2];
if (folder === undefined) throw new Error("usage: generate.ts <schema folder>");
const rpc = read("rpc.schema.json");
const schema: Schema = withRecordMembers(read("tool.schema.json"), rpc.definitions);

write("config.generated.ts", await types());
write("validate.generated.js", await validator());
write(
  "tool-schema.generated.ts",
  `${BANNER}\n\n// As text: a string is scanned faster than code.\nexport const toolSchema: object = /* @__PURE__ */ JSON.parse(${JSON.stringify(JSON.stringify(schema))});\n`,
);

for (const [name, text] of Object.entries(await generateRpc(rpc, folder))) write(name, text);

function read(name: string) {
  try {
    return JSON.parse(readFileSync(join(folder!, name), "utf8"));
  } catch (error) {
    throw new Error(`schema/${name}: ${(error as Error).message}`);
  }
}

function types(): Promise<string> {
  return compile(withoutSiblingsOfRef(schema) as JSONSchema, "Config", {
    bannerComment: BANNER,
    format: false,
    // Tuples such as [string, ...string[]] for minItems make a config awkward to build and say nothing at run time.
    ignoreMinAndMaxItems: true,
  });
}

async function validator(): Promise<string> {
  const ajv = new Ajv({
    allErrors: true,
    allowUnionTypes: true,
    messages: false,
    code: { source: true, esm: true, optimize: 2 },
  });
  ajv.addKeyword("x-language");
  const validate = ajv.compile(withoutAnnotations(schema));
  const code = (standaloneCode as unknown as (ajv: Ajv, validate: unknown) => string)(ajv, validate);
  return standaloneModule(code, folder!, BANNER);
}

/** The schema as the validator needs it: words for people would be most of its bytes. */
function withoutAnnotations(part: Schema): Schema {
  const result: Schema = {};
  for (const [keyword, value] of Object.entries(part)) {
    if (["title", "description", "markdownDescription", "examples", "default", "x-pro", "x-unit"].includes(keyword))
      continue;
    if (keyword === "properties" || keyword === "definitions") {
      result[keyword] = Object.fromEntries(
        Object.entries(value as Record<string, Schema>).map(([name, inner]) => [name, withoutAnnotations(inner)]),
      );
    } else if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      result[keyword] = withoutAnnotations(value as Schema);
    } else {
      result[keyword] = value;
    }
  }
  return result;
}

/** Leaves the file alone where nothing changed, so that incremental builds see no new time stamp. */
function write(name: string, text: string) {
  const file = join(folder!, name);
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  writeFileSync(file, text);
}
