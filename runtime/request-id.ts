/** A request id that somebody in front made is kept, so that one id runs through all logs; nonsense is not. */
export function keptRequestId(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" && /^[\w.:/+=@-]{1,128}$/.test(header) ? header : undefined;
}
