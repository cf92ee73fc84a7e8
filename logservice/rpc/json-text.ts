/** A member of an output that already is JSON text. It is sent unparsed because parsing would round long numbers. */
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

/** The output as JSON text. */
export function printOutput(output: object): string {
  const members = Object.entries(output);
  if (!members.some(([, value]) => value instanceof JsonText)) return JSON.stringify(output);
  const printed = members.map(
    ([name, value]) => `${JSON.stringify(name)}:${value instanceof JsonText ? value.text : JSON.stringify(value)}`,
  );
  return `{${printed.join(",")}}`;
}
