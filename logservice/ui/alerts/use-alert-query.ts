import { useEffect, useState } from "preact/hooks";
import type { Alert, AlertGroupValue } from "../../../schema/rpc.generated.ts";
import type { Measured } from "../../notify/condition.ts";
import { askLanguage } from "../language/ask.ts";
import type { AlertAnswer } from "../language/messages.ts";
import { kindOfQuery } from "../language/query.ts";
import { EVENTS, FREE_DISK } from "./words.ts";

/** The reading that the service would have of the query of an alert; undefined while it is not known. */
export function useAlertQuery(
  text: string | undefined,
  groups: readonly (readonly AlertGroupValue[])[] = [],
): AlertAnswer | undefined {
  const [answer, setAnswer] = useState<{ readonly key: string; readonly it: AlertAnswer } | undefined>(undefined);
  const key = JSON.stringify([text, groups]);
  useEffect(() => {
    if (text === undefined) return;
    let isOver = false;
    void askLanguage({ kind: "alert", text, groups }).then(
      (it) => isOver || setAnswer({ key, it }),
      () => {},
    );
    return () => {
      isOver = true;
    };
  }, [key]);
  return answer?.key === key ? answer.it : undefined;
}

/** The measure that an alert compares: without stages it is known at once; with them it is events until it is known. */
export function useMeasured({ kind, query }: Pick<Alert, "kind" | "query">): Measured {
  const answer = useAlertQuery(kindOfQuery(query) === "stages" ? query : undefined);
  if (kind === "disk") return FREE_DISK;
  return answer?.ok ? answer.measured : EVENTS;
}
