/** A member of an output that is JSON text already. It is sent unparsed: parsing would round long numbers. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An output in which members may be JSON text. */
export type Printable<Output> = Output extends object
  ? { readonly [Name in keyof Output]: Output[Name] | JsonText }
  : Output;

/** JSON text of an output. */
export function printOutput(output: object): string {
  const members = Object.entries(output);
  if (!members.some(([, value]) => value instanceof JsonText)) return JSON.stringify(output);
  const printed = members.map(
    ([name, value]) => `${JSON.stringify(name)}:${value instanceof JsonText ? value.text : JSON.stringify(value)}`,
  );
  return `{${printed.join(",")}}`;
}
