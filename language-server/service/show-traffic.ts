import { Refusal } from "./method.ts";

/** The command of a lens that shows its events; a palette has no use for it. */
export const SHOW_TRAFFIC = "tool.showTraffic";

/** A page that the client is asked to show. */
export interface ShownPage {
  readonly page: string;
}

export const isPage = (result: unknown): result is ShownPage => typeof (result as ShownPage | null)?.page === "string";

/** The page that the argument of the command names: of the web, as lenses have it. */
export function showTraffic(argument: unknown): ShownPage {
  const { page } = (argument ?? {}) as { readonly page?: unknown };
  if (typeof page !== "string" || !/^https?:\/\//.test(page))
    throw new Refusal(`${SHOW_TRAFFIC}: there is no page to show`);
  return { page };
}
