import { useState } from "preact/hooks";
import type { Notification } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { serviceNow } from "../data/clock.ts";
import type { Loaded } from "../data/loaded.ts";
import { mayDo } from "../data/session.ts";
import { ProblemNote } from "../kit/problem.tsx";
import { useSending } from "../kit/sending.ts";
import { TextField } from "../kit/text-field.tsx";
import { say } from "../kit/toasts.tsx";

type Unconfirmed = Notification["unconfirmed_numbers"][number];

interface ConfirmNumbersProps {
  readonly of: Loaded<Notification>;
  readonly notification: Notification;
}

/** The numbers that get nothing before their code is typed here; nothing if there are none. */
export function ConfirmNumbers({ of, notification }: ConfirmNumbersProps) {
  const { unconfirmed_numbers: numbers } = notification;
  if (numbers.length === 0) return null;
  return (
    <section class="card" aria-labelledby="confirm">
      <h2 id="confirm">Confirm {numbers.length === 1 ? "the number" : "the numbers"}</h2>
      <p class="lead">
        {numbers.length === 1 ? "This number gets" : "These numbers get"} no alerts and no tests yet. Type the code that
        was sent to {numbers.length === 1 ? "it" : "each"} in a text message.
      </p>
      {numbers.map((number) => (
        <ConfirmNumber key={number.sms_number} of={of} notification={notification} number={number} />
      ))}
    </section>
  );
}

function ConfirmNumber({ of, notification, number }: ConfirmNumbersProps & { readonly number: Unconfirmed }) {
  const [code, setCode] = useState("");
  const sending = useSending(["code"]);
  const { sms_number, expires_at, failure } = number;
  const about = { project_id: notification.project_id, notification_id: notification.id!, sms_number };
  const isOver = expires_at === null || Date.parse(expires_at) <= serviceNow();
  const mayChange = mayDo("notifications:write");
  const resend = async () => {
    // Why another code could not be sent is shown with the number from then on.
    await call("confirm_notification", { ...about, resend: true }).finally(() => of.load());
    setCode("");
    say("Another code was sent");
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void sending.send(async () => {
          if (code.trim() === "") throw new Error("code: type the six digits");
          await call("confirm_notification", { ...about, code });
          say(`${sms_number} is confirmed`);
          await of.load();
        });
      }}
    >
      <fieldset disabled={!mayChange}>
        <TextField
          label={`Code for ${sms_number}`}
          hint={failure !== "" ? `The code could not be sent: ${failure}.` : isOver ? "Its code has ended." : undefined}
          wrong={sending.wrongAt("code")}
          class="mono"
          maxLength={20}
          autoComplete="off"
          spellcheck={false}
          value={code}
          onText={setCode}
        />
        <ProblemNote text={sending.problem} />
        <div class="row">
          <button type="submit" class="button primary" disabled={sending.isSending || !mayChange}>
            Confirm
          </button>
          <button
            type="button"
            class="button"
            disabled={sending.isSending || !mayChange}
            onClick={() => void sending.send(resend)}
          >
            Send another code
          </button>
        </div>
      </fieldset>
    </form>
  );
}
