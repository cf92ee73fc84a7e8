// The names that a parameter may have ("Requirements and constraints for parameter names").
import { AwsError } from "../protocol/error.ts";

/** "The maximum length for a parameter name is 1011 characters", with the ARN's in front of it. */
const MAX_ARN_CHARACTERS = 1011;

/** "A parameter name hierarchy can have a maximum of 15 levels." */
const MAX_LEVELS = 15;

export const validationError = (message: string) => new AwsError("ValidationException", message);

/** As the services say it of their models' constraints. */
export const violation = (member: string, value: string, constraint: string) =>
  validationError(
    `1 validation error detected: Value '${value}' at '${member}' failed to satisfy constraint: Member must ${constraint}`,
  );

export function checkParameterName(name: string, arn: string): void {
  if (name === "") throw violation("name", name, "have length greater than or equal to 1");
  checkPrefix(name);
  if (name.includes("/") && !name.startsWith("/"))
    throw validationError("Parameter name must be a fully qualified name.");
  if (!/^(\/[\w.-]+)+$|^[\w.-]+$/.test(name)) throw validationError(PATH_RULE);
  if (name.split("/").length - 1 > MAX_LEVELS) {
    throw new AwsError(
      "HierarchyLevelLimitExceededException",
      "A hierarchy can have a maximum of 15 levels. For more information, see Requirements and constraints for parameter names in the Amazon Web Services Systems Manager User Guide.",
    );
  }
  if (arn.length > MAX_ARN_CHARACTERS) {
    throw violation("name", name, `have length less than or equal to ${MAX_ARN_CHARACTERS}`);
  }
}

const PATH_RULE = `Parameter name: can't be prefixed with "ssm" (case-insensitive). If formed as a path, it can consist of sub-paths divided by slash symbol; each sub-path can be formed as a mix of letters, numbers and the following 3 symbols .-_`;

/** Also a longer word: /awsome/x is refused, too. */
function checkPrefix(name: string): void {
  const [, prefix] = /^\/?(aws|ssm)/i.exec(name) ?? [];
  if (prefix === undefined) return;
  if (name.lastIndexOf("/") <= 0) {
    throw validationError(`Parameter name: can't be prefixed with "aws" or "ssm" (case-insensitive).`);
  }
  if (prefix.toLowerCase() === "ssm") throw validationError(PATH_RULE);
  throw new AwsError("AccessDeniedException", `No access to reserved parameter name: ${name}.`);
}

/** The path of a filter, or of GetParametersByPath. */
export function checkPath(path: string): void {
  if (path === "/" || /^(\/[\w.-]+)+\/?$/.test(path)) {
    if (!/^\/(aws|ssm)/i.test(path)) return;
    throw validationError(
      `Filters for common parameters can't be prefixed with "aws" or "ssm" (case-insensitive). When using global parameters, please specify within a global namespace.`,
    );
  }
  throw validationError(
    `The parameter doesn't meet the parameter name requirements. The parameter name must begin with a forward slash "/". It can't be prefixed with "aws" or "ssm" (case-insensitive). It must use only letters, numbers, or the following symbols: . (period), - (hyphen), _ (underscore). Special characters are not allowed. All sub-paths, if specified, must use the forward slash symbol "/". Valid example: /get/parameters2-/by1./path0_.`,
  );
}

/** Whether a name is below a path, at any level or at the next one. */
export function isBelowPath(name: string, path: string, isRecursive: boolean): boolean {
  const begin = `${path.replace(/\/$/, "")}/`;
  return name.startsWith(begin) && (isRecursive || !name.slice(begin.length).includes("/"));
}
