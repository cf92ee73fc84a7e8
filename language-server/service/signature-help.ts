import type { SignatureHelp } from "vscode-languageserver-types";
import type { ToolDocument } from "./document.ts";
import { actionBefore, TEMPLATE_FUNCTIONS } from "./template-words.ts";

/** The parameters of what is being called: a function of an error page, the list of `in (...)` in a query. */
export function signatureHelp(document: ToolDocument, offset: number): SignatureHelp | undefined {
  switch (document.kind) {
    case "template": {
      const action = actionBefore(document.text, offset);
      return action === undefined ? undefined : callIn(action.text);
    }
    case "query":
      return listIn(document.query.slice(0, offset));
    case "config": {
      const string = document.embeddedAt(offset);
      return string?.language === "query" ? listIn(string.value.slice(0, string.toValue(offset))) : undefined;
    }
    case "ignore":
      return undefined;
  }
}

/** The innermost call at the end of an action's text, and which argument is being written. */
function callIn(text: string): SignatureHelp | undefined {
  const calls: { name: string | undefined; words: number }[] = [{ name: undefined, words: 0 }];
  // A word, a string, a parenthesis; blanks end an argument.
  const tokens = [...text.matchAll(/"(?:[^"\\]|\\.)*"?|[()|]|[^\s()|"]+|\s+/g)].map(([token]) => token);
  const first = tokens.findIndex((token) => token.trim() !== "" && token !== "-" && !/^(?:if|else|with)$/.test(token));
  for (const token of tokens.slice(Math.max(first, 0))) {
    const call = calls.at(-1)!;
    if (token === "(") calls.push({ name: undefined, words: 0 });
    else if (token === ")") {
      if (calls.length > 1) calls.pop();
      calls.at(-1)!.words++;
    } else if (token.trim() !== "") {
      if (call.words === 0) call.name = token;
      call.words++;
    }
  }
  const call = calls.at(-1)!;
  const definition = TEMPLATE_FUNCTIONS.find(({ name }) => name === call.name);
  // The name itself is not an argument; after a blank the next one begins.
  const isAfterBlank = /[\s(]$/.test(text);
  const index = call.words - (isAfterBlank ? 1 : 2);
  if (definition === undefined || index < 0) return undefined;
  return help(definition, index, " ");
}

/** `field in (` in a query. */
function listIn(before: string): SignatureHelp | undefined {
  const list = /(\S+)\s+(?:not\s+)?(?:in|IN)\s*\(((?:[^()"]|"(?:[^"\\]|\\.)*")*)$/.exec(before);
  if (list === null) return undefined;
  const values = list[2]!.replace(/"(?:[^"\\]|\\.)*"/g, '""').split(",").length - 1;
  const documentation = "Whether the field is one of the values: texts, words with wildcards, or numbers.";
  return help({ name: `${list[1]} in`, parameters: ["value..."], documentation }, values, ", ");
}

interface Signature {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly documentation: string;
}

/** `index` is that of the argument at the cursor. */
function help(
  { name, parameters, documentation }: Signature,
  index: number,
  separator: string,
): SignatureHelp | undefined {
  const label = separator === " " ? `${name} ${parameters.join(separator)}` : `${name} (${parameters.join(separator)})`;
  const last = parameters.length - 1;
  if (index > last && !parameters[last]!.endsWith("...")) return undefined;
  return {
    signatures: [{ label, documentation, parameters: parameters.map((parameter) => ({ label: parameter })) }],
    activeSignature: 0,
    activeParameter: Math.min(index, last),
  };
}
