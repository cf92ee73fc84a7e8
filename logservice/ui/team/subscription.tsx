import { useState } from "preact/hooks";
import type { Subscription as Answer } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { useEvery } from "../data/every.ts";
import type { Loaded } from "../data/loaded.ts";
import { mayDo, team } from "../data/session.ts";
import { ProblemNote } from "../kit/problem.tsx";
import { RemoveDialog } from "../kit/remove-dialog.tsx";
import { useSending } from "../kit/sending.ts";
import { WhenLoaded } from "../kit/state.tsx";
import { Text } from "../kit/text.tsx";
import { At } from "../kit/time.tsx";
import { subscriptionState } from "./subscription-state.ts";

/** Whoever comes back from paying may be here before the provider has told the service. */
const REFRESH_MS = 5_000;

/** The subscription of the team. Cards are typed on the provider's pages, never here. */
export function Subscription({ of: loaded }: { readonly of: Loaded<Answer> }) {
  useEvery(REFRESH_MS, () => {
    if (loaded.value.value?.provider === "stripe") void loaded.load();
  });
  return (
    <section class="card">
      <h2>Subscription</h2>
      <WhenLoaded of={loaded}>
        {(it) =>
          it.provider === "none" ? (
            <p class="hint">This service needs no subscription: everybody has Pro.</p>
          ) : (
            <Paid subscription={it} set={loaded.set} />
          )
        }
      </WhenLoaded>
    </section>
  );
}

function Paid({ subscription, set }: { readonly subscription: Answer; set(value: Answer): void }) {
  const [isEnding, setEnding] = useState(false);
  const sending = useSending();
  const { edition, ends, text, canSubscribe, canChangeCard, canEnd } = subscriptionState(subscription);
  const goTo = (operation: "add_subscription" | "change_card") =>
    void sending.send(async () => location.assign((await call(operation, {})).url));
  return (
    <>
      <dl class="facts">
        <dt>Edition</dt>
        <dd>{edition}</dd>
        {subscription.ends_at !== undefined && (
          <>
            <dt>{ends}</dt>
            <dd>
              <At at={subscription.ends_at} />
            </dd>
          </>
        )}
      </dl>
      <p>{text}</p>
      {mayDo("billing:write") ? (
        <div class="row parts">
          {canSubscribe && (
            <button type="button" class="button" disabled={sending.isSending} onClick={() => goTo("add_subscription")}>
              Subscribe
            </button>
          )}
          {canChangeCard && (
            <button type="button" class="button" disabled={sending.isSending} onClick={() => goTo("change_card")}>
              Change card
            </button>
          )}
          {canEnd && (
            <button type="button" class="button danger" onClick={() => setEnding(true)}>
              End subscription
            </button>
          )}
        </div>
      ) : (
        <p class="hint">Owners of the team may change this.</p>
      )}
      <ProblemNote text={sending.problem} />
      {isEnding && (
        <RemoveDialog
          title="End the subscription?"
          button="End subscription"
          onClose={() => setEnding(false)}
          onRemove={async () => set(await call("remove_subscription", {}))}
        >
          <Text text={team.value?.name ?? ""} /> keeps Pro until the time that is paid is over, and can subscribe again.
        </RemoveDialog>
      )}
    </>
  );
}
