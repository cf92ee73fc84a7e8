import { visible } from "../../grammar/visible-text.ts";

/** The day of a time that a service has said, which may be any text. */
export const dayOf = (time: string) => visible(time.slice(0, 10));
