import { useLoaded } from "../data/loaded.ts";
import { Dialog } from "../kit/dialog.tsx";
import { DialogEnd } from "../kit/dialog-end.tsx";
import { useSending } from "../kit/sending.ts";
import { WhenLoaded } from "../kit/state.tsx";
import { Text } from "../kit/text.tsx";
import { say } from "../kit/toasts.tsx";
import { type MadeToken, removeTokens, tokensWithIds } from "./tokens-of.ts";

export interface TokensLeftProps {
  readonly of: {
    readonly title: string;
    /** Whose tokens they are. */
    readonly text: string;
    readonly ids: readonly string[];
  };
  onClose(): void;
}

/** Names tokens that go on working after their person has changed, and removes them if that is wanted. */
export function TokensLeft({ of: { title, text, ids }, onClose }: TokensLeftProps) {
  const tokens = useLoaded(() => tokensWithIds(ids), []);
  const sending = useSending();
  return (
    <Dialog title={title} onClose={onClose}>
      <p class="lead">
        <Text text={text} />
      </p>
      <WhenLoaded of={tokens}>
        {(all) => (
          <>
            <TokenNames tokens={all} />
            <DialogEnd
              sending={sending}
              onClose={onClose}
              cancel="Keep them"
              isDanger
              onPress={async () => {
                if (!(await sending.send(() => removeTokens(all)))) return;
                say(all.length === 1 ? "1 token was removed" : `${all.length} tokens were removed`);
                onClose();
              }}
            >
              Remove {all.length === 1 ? "this token" : `these ${all.length} tokens`}
            </DialogEnd>
          </>
        )}
      </WhenLoaded>
    </Dialog>
  );
}

/** Tokens by name and id. */
export function TokenNames({ tokens }: { readonly tokens: readonly MadeToken[] }) {
  return (
    <ul class="tokens-of">
      {tokens.map(({ id, kind, name }) => (
        <li key={id}>
          {kind !== "unknown" && `${kind} token `}
          {name !== "" && <Text text={name} />} <code>{id}</code>
        </li>
      ))}
    </ul>
  );
}
