/**
 * The id of an entry that a deployed app wrote: the instance that wrote it, 16 hexadecimal digits, and its number there. An
 * entry that reaches the log service in two ways has one id.
 */
export const entryId = (instance: string, number: number): string => `${instance}-${number}`;

/** Whether a text is the id of an entry, and not one of an order, which many entries may have. */
export const isEntryId = (text: unknown): text is string => typeof text === "string" && ENTRY_ID.test(text);

const ENTRY_ID = /^[0-9a-f]{16}-[1-9][0-9]{0,15}$/;
