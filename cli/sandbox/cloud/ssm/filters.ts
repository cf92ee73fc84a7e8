// ParameterFilters of DescribeParameters and GetParametersByPath ("ParameterStringFilter").
import type { ParameterStringFilter } from "@aws-sdk/client-ssm";
import { AwsError } from "../protocol/error.ts";
import { checkPath, isBelowPath } from "./name.ts";

/** The properties of a parameter that filters test. */
export interface FilteredParameter {
  readonly name: string;
  readonly type: string;
  readonly keyId: string | undefined;
}

type Test = (parameter: FilteredParameter) => boolean;

interface Kind {
  /** The first is what it means if a filter has none. */
  readonly options: readonly string[];
  readonly values?: readonly string[];
  test(option: string, values: readonly string[]): Test;
}

export const PARAMETER_TYPES = ["String", "StringList", "SecureString"];

const KINDS: Readonly<Record<string, Kind>> = {
  Path: {
    options: ["OneLevel", "Recursive"],
    test(option, values) {
      for (const path of values) checkPath(path);
      return ({ name }) => values.some((path) => isBelowPath(name, path, option === "Recursive"));
    },
  },
  Name: {
    options: ["Equals", "BeginsWith", "Contains"],
    test: (option, values) => {
      const fits = { Equals: isSame, BeginsWith: begins, Contains: contains }[option]!;
      return ({ name }) => values.some((value) => fits(name, value));
    },
  },
  Type: {
    options: ["Equals"],
    values: PARAMETER_TYPES,
    test:
      (_, values) =>
      ({ type }) =>
        values.includes(type),
  },
  KeyId: {
    options: ["Equals", "BeginsWith"],
    test: (option, values) => {
      const fits = { Equals: isSame, BeginsWith: begins }[option]!;
      return ({ keyId }) => keyId !== undefined && values.some((value) => fits(keyId, value));
    },
  },
};

const isSame = (text: string, value: string) => text === value;
const begins = (text: string, value: string) => text.startsWith(value);
const contains = (text: string, value: string) => text.includes(value);

/** Those that the service has and the sandbox does not. */
const ABSENT = /^(tag:.+|Tier|DataType|Label)$/;

const MAX_VALUES = 50;

/** The test of whether all filters accept a parameter; throws the service's error about a wrong filter. */
export function parameterTestOf(filters: readonly ParameterStringFilter[], keys: readonly string[]): Test {
  const seen = new Set<string>();
  const tests = filters.map(({ Key: key = "", Option: option, Values: values = [] }) => {
    if (ABSENT.test(key)) throw new AwsError("NotImplemented", `the sandbox has no filter ${key}`, 501);
    const kind = keys.includes(key) ? KINDS[key] : undefined;
    if (kind === undefined) {
      const valid = `Valid filter keys include: [${keys.join(", ")}].`;
      throw new AwsError("InvalidFilterKey", `The following filter key is not valid: ${key}. ${valid}`);
    }
    if (values.length === 0) {
      throw new AwsError("InvalidFilterValue", `The following filter values are missing : null for filter key ${key}.`);
    }
    if (values.length > MAX_VALUES) {
      throw new AwsError("InvalidFilterValue", `A filter can have at most ${MAX_VALUES} values.`);
    }
    if (seen.has(key)) {
      throw new AwsError(
        "InvalidFilterKey",
        `The following filter is duplicated in the request: ${key}. A request can contain only one occurrence of a specific filter.`,
      );
    }
    seen.add(key);
    if (option !== undefined && !kind.options.includes(option)) {
      throw new AwsError(
        "InvalidFilterOption",
        `The following filter option is not valid: ${option}. Valid options include: [${kind.options.join(", ")}].`,
      );
    }
    const wrong = values.find((value) => kind.values?.includes(value) === false);
    if (wrong !== undefined) {
      throw new AwsError(
        "InvalidFilterValue",
        `The following filter value is not valid: ${wrong}. Valid values include: [${kind.values?.join(", ")}].`,
      );
    }
    return kind.test(option ?? kind.options[0]!, values);
  });
  return (parameter) => tests.every((test) => test(parameter));
}
