import { quote } from "../../grammar/problem.ts";
import type { Node } from "../json.ts";
import type { ProblemReport } from "../report.ts";

/** 50 for a resource ("Tag naming limits and requirements"), two of which are the tool's own. */
const MAX_TAGS = 48;
const MAX_NAME_LENGTH = 128;
const MAX_VALUE_LENGTH = 256;

/** The characters that every service takes. */
const ALLOWED = /^[\p{L}\p{N}\p{Z}_.:/=+@-]*$/u;
const WORDS = "letters, digits, spaces and _ . : / = + - @";

export function checkTags(report: ProblemReport, tags: Node | undefined) {
  if (tags?.type !== "object") return;
  for (const [i, { key, value }] of tags.members.entries()) {
    const name = key.value;
    const error = (message: string, hint: string) => report.error("config/tag-name", key.span, message, { hint });
    const taken = /^(aws|tool):/i.exec(name)?.[1]?.toLowerCase();
    if (name === "") error("a tag has no name", "write one, such as team");
    else if (taken !== undefined) {
      const whose = taken === "aws" ? "the cloud provider's own" : "the tool's own";
      error(`${quote(name)} begins with "${taken}:", which is for ${whose} tags`, "choose another name");
    } else if ([...name].length > MAX_NAME_LENGTH) {
      error(
        `the name of a tag has ${[...name].length} characters, the maximum is ${MAX_NAME_LENGTH}`,
        "make it shorter",
      );
    } else if (!ALLOWED.test(name)) error(`${quote(name)} is not a valid tag name`, `write ${WORDS}`);
    if (i === MAX_TAGS) {
      error(
        `there are ${tags.members.length} tags, the maximum is ${MAX_TAGS}`,
        "the cloud takes 50, two of which are the tool's own",
      );
    }
    if (value?.type !== "string") continue;
    const length = [...value.value].length;
    if (length > MAX_VALUE_LENGTH) {
      report.error(
        "config/tag-value",
        value.span,
        `the value of ${quote(name)} has ${length} characters, the maximum is ${MAX_VALUE_LENGTH}`,
        {
          hint: "make it shorter",
        },
      );
    } else if (!ALLOWED.test(value.value)) {
      report.error("config/tag-value", value.span, `the value of ${quote(name)} has characters that no tag takes`, {
        hint: `write ${WORDS}`,
      });
    }
  }
}
