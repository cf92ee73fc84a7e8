import { RpcFailure } from "../../../schema/rpc-client.ts";

/** Whether an error says that what was asked for is not there. */
export const isGone = (error: unknown) => error instanceof RpcFailure && error.status === 404;

export interface NoItemProps {
  /** The kind of thing that it would be: "alert". */
  readonly what: string;
  /** Leads to the others. */
  readonly href: string;
}

/** For an address of something of a project that is not there. */
export function NoItem({ what, href }: NoItemProps) {
  return (
    <div class="empty">
      <h1>There is no such {what}</h1>
      <p>It was removed, or it belongs to another project.</p>
      <a class="button" href={href}>
        All {what}s
      </a>
    </div>
  );
}
