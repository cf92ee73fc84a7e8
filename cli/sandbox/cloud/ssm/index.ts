// Parameters of Systems Manager.
import type {
  AddTagsToResourceCommandInput,
  DescribeParametersCommandInput,
  GetParametersByPathCommandInput,
  ListTagsForResourceCommandInput,
  PutParameterCommandInput,
} from "@aws-sdk/client-ssm";
import { AwsError } from "../protocol/error.ts";
import type { OperationContext, World } from "../world.ts";
import { PARAMETER_TYPES, parameterTestOf } from "./filters.ts";
import { checkParameterName, checkPath, isBelowPath, validationError, violation } from "./name.ts";

/** The optional properties came later: state of before has none of them. */
export interface Parameter {
  readonly name: string;
  readonly value: string;
  readonly type: string;
  readonly version: number;
  readonly modifiedAt: Date;
  /** ARN of who wrote it. */
  readonly modifiedBy?: string;
  readonly description?: string;
  readonly tier?: string;
  readonly tags?: Map<string, string>;
}

/** "A standard parameter can have a value of up to 4 KB, an advanced one of 8 KB." */
const MAX_BYTES: Readonly<Record<string, number>> = { Standard: 4096, Advanced: 8192, "Intelligent-Tiering": 8192 };

const MAX_DESCRIPTION_CHARACTERS = 1024;

/** Names and, in GetParametersByPath, results of one call. */
const MAX_ITEMS = 10;

/** Results of DescribeParameters. */
const MAX_DESCRIBED = 50;

/** "The key that Systems Manager uses by default." */
const DEFAULT_KEY = "alias/aws/ssm";

interface TagRequest {
  readonly ResourceType?: string | undefined;
  readonly ResourceId?: string | undefined;
}

export function openSsm(world: World, region: string) {
  const parameters = world.collection<Parameter>("ssm", region, "parameters");
  const arnOf = (name: string) => `arn:aws:ssm:${region}:${world.accountId}:parameter/${name.replace(/^\//, "")}`;
  const keyOf = ({ type }: Parameter) => (type === "SecureString" ? DEFAULT_KEY : undefined);

  const valued = (one: Parameter, isDecrypted: boolean | undefined) => ({
    Name: one.name,
    Type: one.type,
    Value: isDecrypted || one.type !== "SecureString" ? one.value : cipherOf(one.value),
    Version: one.version,
    LastModifiedDate: one.modifiedAt,
    ARN: arnOf(one.name),
    DataType: "text",
  });

  const described = (one: Parameter) => ({
    Name: one.name,
    ARN: arnOf(one.name),
    Type: one.type,
    KeyId: keyOf(one),
    LastModifiedDate: one.modifiedAt,
    LastModifiedUser: one.modifiedBy ?? world.service("sts").arnOf(""),
    Description: one.description,
    Version: one.version,
    Tier: one.tier ?? "Standard",
    Policies: [],
    DataType: "text",
  });

  const parameterNamed = (name: string | undefined): Parameter => {
    const parameter = parameters.get(name ?? "");
    if (parameter === undefined) throw new AwsError("ParameterNotFound", `Parameter ${name} not found.`);
    return parameter;
  };

  const taggedParameter = (input: TagRequest): Parameter => {
    if (input.ResourceType !== "Parameter") {
      throw new AwsError("NotImplemented", `the sandbox has no tags of a ${input.ResourceType}`, 501);
    }
    const parameter = parameters.get(input.ResourceId ?? "");
    if (parameter !== undefined) return parameter;
    throw new AwsError(
      "InvalidResourceId",
      "The resource ID is not valid. Verify that you entered the correct ID and try again.",
    );
  };

  const operations = {
    PutParameter(input: PutParameterCommandInput, call: OperationContext) {
      const name = input.Name ?? "";
      checkParameterName(name, arnOf(name));
      const { Value: value = "", Description: description, Tags: tags = [] } = input;
      checkValue(value);
      if (description !== undefined && description.length > MAX_DESCRIPTION_CHARACTERS) {
        const constraint = `have length less than or equal to ${MAX_DESCRIPTION_CHARACTERS}`;
        throw violation("description", description, constraint);
      }
      if (input.Type !== undefined && !PARAMETER_TYPES.includes(input.Type)) {
        throw violation("type", input.Type, `satisfy enum value set: [${PARAMETER_TYPES.join(", ")}]`);
      }
      if (input.Overwrite && tags.length > 0) {
        throw validationError(
          "Invalid request: tags and overwrite can't be used together. To create a parameter with tags, please remove overwrite flag. To update tags for an existing parameter, please use AddTagsToResource or RemoveTagsFromResource.",
        );
      }
      const existing = parameters.get(name);
      if (existing !== undefined && !input.Overwrite) {
        throw new AwsError(
          "ParameterAlreadyExists",
          "The parameter already exists. To overwrite this value, set the overwrite option in the request to true.",
        );
      }
      const type = input.Type ?? existing?.type;
      if (type === undefined) throw validationError("A parameter type is required when you create a parameter.");
      if (existing !== undefined && existing.type !== type) throw typeMismatch();
      const version = (existing?.version ?? 0) + 1;
      const tier = tierOf(value, input.Tier ?? existing?.tier, existing?.tier);
      parameters.set(name, {
        // Tags stay, and the description if none is given.
        ...existing,
        name,
        value,
        type,
        version,
        tier,
        modifiedAt: world.clock.date(),
        modifiedBy: world.service("sts").arnOf(call.accessKeyId),
        ...(description !== undefined && { description }),
        ...(tags.length > 0 && { tags: new Map(tags.map(({ Key = "", Value = "" }) => [Key, Value])) }),
      });
      return { Version: version, Tier: tier };
    },
    GetParameter: (input: { Name?: string; WithDecryption?: boolean }) => ({
      Parameter: valued(parameterNamed(input.Name), input.WithDecryption),
    }),
    GetParameters(input: { Names?: string[]; WithDecryption?: boolean }) {
      const names = checkedNames(input.Names);
      return {
        Parameters: names
          .filter((name) => parameters.has(name))
          .map((name) => valued(parameterNamed(name), input.WithDecryption)),
        InvalidParameters: names.filter((name) => !parameters.has(name)),
      };
    },
    GetParametersByPath(input: GetParametersByPathCommandInput) {
      const { Path: path = "", Recursive: isRecursive = false } = input;
      checkPath(path);
      const accepts = parameterTestOf(input.ParameterFilters ?? [], ["Type", "KeyId"]);
      const own = [...parameters.values()].filter(
        (one) => isBelowPath(one.name, path, isRecursive) && accepts({ ...one, keyId: keyOf(one) }),
      );
      const { page, token } = pageOf(own, input, MAX_ITEMS);
      return { Parameters: page.map((one) => valued(one, input.WithDecryption)), ...token };
    },
    DescribeParameters(input: DescribeParametersCommandInput) {
      if ((input.Filters?.length ?? 0) > 0 || input.Shared) {
        throw new AwsError("NotImplemented", "the sandbox has no Filters and no Shared: use ParameterFilters", 501);
      }
      const accepts = parameterTestOf(input.ParameterFilters ?? [], ["Path", "Name", "Type", "KeyId"]);
      const own = [...parameters.values()].filter((one) => accepts({ ...one, keyId: keyOf(one) }));
      const { page, token } = pageOf(own, input, MAX_DESCRIBED);
      return { Parameters: page.map(described), ...token };
    },
    DeleteParameter(input: { Name?: string }) {
      parameters.delete(parameterNamed(input.Name).name);
      return {};
    },
    DeleteParameters(input: { Names?: string[] }) {
      const names = checkedNames(input.Names);
      const deleted = names.filter((name) => parameters.delete(name));
      return { DeletedParameters: deleted, InvalidParameters: names.filter((name) => !deleted.includes(name)) };
    },
    AddTagsToResource(input: AddTagsToResourceCommandInput) {
      const parameter = taggedParameter(input);
      const added = input.Tags?.map(({ Key = "", Value = "" }) => [Key, Value] as const) ?? [];
      parameters.set(parameter.name, { ...parameter, tags: new Map([...(parameter.tags ?? []), ...added]) });
      return {};
    },
    ListTagsForResource: (input: ListTagsForResourceCommandInput) => ({
      TagList: Array.from(taggedParameter(input).tags ?? [], ([Key, Value]) => ({ Key, Value })),
    }),
  };
  return { operations, parameters };
}

function checkValue(value: string): void {
  if (value === "") throw violation("value", value, "have length greater than or equal to 1.");
  // "You can't include values wrapped in double brackets", of any type.
  if (/\{\{.*\}\}/s.test(value)) {
    throw validationError(`Parameter value can't nest another parameter. Do not use "{{}}" in the value.`);
  }
}

/** The tier that a value is stored in. */
function tierOf(value: string, requestedTier = "Standard", before = "Standard"): string {
  const limit = MAX_BYTES[requestedTier];
  if (limit === undefined) {
    throw violation("tier", requestedTier, `satisfy enum value set: [${Object.keys(MAX_BYTES).join(", ")}]`);
  }
  const bytes = Buffer.byteLength(value);
  if (bytes > limit) {
    throw validationError(
      requestedTier === "Standard"
        ? "Standard tier parameters support a maximum parameter value of 4096 characters. To create a larger parameter value, upgrade the parameter to use the advanced-parameter tier."
        : "Advanced tier parameters support a maximum parameter value of 8192 characters.",
    );
  }
  if (requestedTier === "Standard" && before === "Advanced") {
    throw validationError(
      "This parameter uses the advanced-parameter tier. You can't downgrade a parameter from the advanced-parameter tier to the standard-parameter tier.",
    );
  }
  if (requestedTier !== "Intelligent-Tiering") return requestedTier;
  return before === "Advanced" || bytes > MAX_BYTES.Standard! ? "Advanced" : "Standard";
}

function typeMismatch(): AwsError {
  return new AwsError(
    "HierarchyTypeMismatchException",
    "Parameter Store doesn't support changing a parameter type in a hierarchy. For example, you can't change a parameter from a String type to a SecureString type. You must create a new, unique parameter.",
  );
}

function checkedNames(names: readonly string[] = []): readonly string[] {
  const side = names.length === 0 ? "greater than or equal to 1" : `less than or equal to ${MAX_ITEMS}`;
  if (names.length === 0 || names.length > MAX_ITEMS) {
    throw violation("names", `[${names.join(", ")}]`, `have length ${side}`);
  }
  return names;
}

interface PageInput {
  readonly MaxResults?: number | undefined;
  readonly NextToken?: string | undefined;
}

/** A page by names, so that nothing is left out if others are deleted meanwhile. Without a size it has ten. */
function pageOf(
  matches: readonly Parameter[],
  { MaxResults: size = MAX_ITEMS, NextToken: token }: PageInput,
  max: number,
) {
  if (size < 1 || size > max) {
    const side = size < 1 ? "greater than or equal to 1" : `less than or equal to ${max}`;
    throw violation("maxResults", String(size), `have value ${side}`);
  }
  const last = token === undefined ? "" : nameOfToken(token);
  const rest = matches.filter(({ name }) => name > last).sort((a, b) => (a.name < b.name ? -1 : 1));
  const page = rest.slice(0, size);
  const next = rest.length > size ? { NextToken: tokenOf(page.at(-1)!.name) } : {};
  return { page, token: next };
}

const tokenOf = (name: string) => Buffer.from(`after ${name}`).toString("base64");

function nameOfToken(token: string): string {
  const [, name] = /^after (.+)$/.exec(Buffer.from(token, "base64").toString()) ?? [];
  if (name === undefined) throw new AwsError("InvalidNextToken", "The specified token isn't valid.");
  return name;
}

/** The text of a secret without decryption. */
const cipherOf = (value: string) => `AQICAH${Buffer.from(value).toString("base64")}`;
