// Parameters of Systems Manager.
import type { GetParametersByPathCommandInput, PutParameterCommandInput } from "@aws-sdk/client-ssm";
import { AwsError } from "./protocol/error.ts";
import type { World } from "./world.ts";

export interface Parameter {
  readonly name: string;
  value: string;
  type: string;
  version: number;
  modifiedAt: Date;
}

/** "A standard parameter can have a value of up to 4 KB." */
const MAX_VALUE_BYTES = 4096;

/** "The maximum number of items to return for this call: 10." */
const MAX_RESULTS = 10;

export function openSsm(world: World, region: string) {
  const parameters = world.collection<Parameter>("ssm", region, "parameters");
  const described = (one: Parameter) => ({
    Name: one.name,
    Type: one.type,
    Value: one.value,
    Version: one.version,
    LastModifiedDate: one.modifiedAt,
    ARN: `arn:aws:ssm:${region}:${world.accountId}:parameter${one.name}`,
    DataType: "text",
  });
  const parameter = (name: string | undefined): Parameter => {
    const found = parameters.get(name ?? "");
    if (found === undefined) throw new AwsError("ParameterNotFound", `Parameter ${name} not found.`);
    return found;
  };

  const operations = {
    PutParameter(input: PutParameterCommandInput) {
      const name = input.Name ?? "";
      const value = input.Value ?? "";
      if (!/^\/?[\w.-]+(\/[\w.-]+)*$/.test(name))
        throw new AwsError(
          "ValidationException",
          `Parameter name: can't be prefixed with "ssm" (case-insensitive). If formed as a path, it can consist of sub-paths divided by slash symbol; each sub-path can be formed as a mix of letters, numbers and the following 3 symbols .-_`,
        );
      if (value === "")
        throw new AwsError(
          "ValidationException",
          "1 validation error detected: Value '' at 'value' failed to satisfy constraint: Member must have length greater than or equal to 1.",
        );
      if (Buffer.byteLength(value) > MAX_VALUE_BYTES && input.Tier !== "Advanced") {
        throw new AwsError(
          "ValidationException",
          "Standard tier parameters support a maximum parameter value of 4096 characters. To create a larger parameter value, upgrade the parameter to use the advanced-parameter tier.",
        );
      }
      const known = parameters.get(name);
      if (known !== undefined && !input.Overwrite) {
        throw new AwsError(
          "ParameterAlreadyExists",
          "The parameter already exists. To overwrite this value, set the overwrite option in the request to true.",
        );
      }
      const version = (known?.version ?? 0) + 1;
      parameters.set(name, {
        name,
        value,
        type: input.Type ?? known?.type ?? "String",
        version,
        modifiedAt: world.clock.date(),
      });
      return { Version: version, Tier: input.Tier ?? "Standard" };
    },
    GetParameter: (input: { Name?: string; WithDecryption?: boolean }) => ({
      Parameter: shown(described(parameter(input.Name)), input.WithDecryption),
    }),
    GetParameters(input: { Names?: string[]; WithDecryption?: boolean }) {
      const found = (input.Names ?? []).filter((name) => parameters.has(name));
      return {
        Parameters: found.map((name) => shown(described(parameter(name)), input.WithDecryption)),
        InvalidParameters: (input.Names ?? []).filter((name) => !parameters.has(name)),
      };
    },
    GetParametersByPath(input: GetParametersByPathCommandInput) {
      const path = `${(input.Path ?? "").replace(/\/$/, "")}/`;
      const own = [...parameters.values()]
        .filter(({ name }) => name.startsWith(path) && (input.Recursive || !name.slice(path.length).includes("/")))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
      const begin = Number(input.NextToken ?? 0);
      const end = begin + (input.MaxResults ?? MAX_RESULTS);
      return {
        Parameters: own.slice(begin, end).map((one) => shown(described(one), input.WithDecryption)),
        ...(end < own.length && { NextToken: String(end) }),
      };
    },
    DeleteParameter(input: { Name?: string }) {
      parameters.delete(parameter(input.Name).name);
      return {};
    },
    DeleteParameters(input: { Names?: string[] }) {
      const names = input.Names ?? [];
      const deleted = names.filter((name) => parameters.delete(name));
      return { DeletedParameters: deleted, InvalidParameters: names.filter((name) => !deleted.includes(name)) };
    },
    AddTagsToResource: (_input: object) => ({}),
  };
  return { operations, parameters };
}

/** Without decryption a secret is shown as its cipher text. */
function shown<P extends { Type: string; Value: string }>(parameter: P, isDecrypted: boolean | undefined): P {
  if (parameter.Type !== "SecureString" || isDecrypted) return parameter;
  return { ...parameter, Value: `AQICAH${Buffer.from(parameter.Value).toString("base64")}` };
}
