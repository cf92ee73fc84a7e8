import { useState } from "preact/hooks";
import type { CiToken } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { session, teamId } from "../data/session.ts";
import { FormDialog } from "../kit/form-dialog.tsx";
import { RemoveDialog } from "../kit/remove-dialog.tsx";
import { RowButton } from "../kit/row-button.tsx";
import { useSending } from "../kit/sending.ts";
import { OneTimeSecret } from "../kit/shown-once.tsx";
import { WhenLoaded } from "../kit/state.tsx";
import { Table } from "../kit/table.tsx";
import { Text } from "../kit/text.tsx";
import { NOT_BLANK, TextField } from "../kit/text-field.tsx";
import { Ago, At } from "../kit/time.tsx";
import { toolConfigOf } from "./tool-config.ts";

/** The tokens with which builds deploy and send their events. */
export function CiTokens() {
  const tokens = useLoaded(async (signal) => (await call("get_ci_tokens", {}, { signal })).tokens, []);
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<CiToken | undefined>(undefined);
  return (
    <section>
      <div class="head">
        <h2 id="ci-tokens">CI tokens</h2>
        <button type="button" class="button" onClick={() => setAdding(true)}>
          New CI token
        </button>
      </div>
      <p class="lead">
        A build uses one as the secret <code>TOOL_CONFIG</code>. It may read projects and send events, and expires after
        a year. <code>tool team ci --apply</code> makes one that may change searches, alerts and notifications too.
      </p>
      <WhenLoaded of={tokens}>
        {(all) =>
          all.length === 0 ? (
            <p class="hint">There are none.</p>
          ) : (
            <Table labelledBy="ci-tokens" columns={["Name", "Created by", "Last used", "Expires"]} hasActions>
              {all.map((token) => (
                <tr key={token.id}>
                  <td class="named">
                    <Text text={token.name} />
                    {token.applies && <span class="tag">applies tool.json</span>}
                    <div class="hint">
                      <code>{token.id}</code>
                    </div>
                  </td>
                  <td class="soft">
                    <Text text={token.created_by} />
                  </td>
                  <td class="soft">
                    <span class="when-stacked">used </span>
                    <Ago at={token.last_used_at} />
                  </td>
                  <td class="soft">
                    <span class="when-stacked">expires </span>
                    <At at={token.expires_at} />
                  </td>
                  <td class="actions">
                    <RowButton
                      text="Remove"
                      spoken={`Remove the CI token ${token.name}`}
                      onPress={() => setRemoving(token)}
                    />
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </WhenLoaded>
      {isAdding && (
        <AddCiToken
          onClose={() => {
            setAdding(false);
            void tokens.load();
          }}
        />
      )}
      {removing && (
        <RemoveDialog
          title="Remove this CI token?"
          button="Remove token"
          onClose={() => setRemoving(undefined)}
          onRemove={async () => {
            await call("remove_ci_token", { token_id: removing.id });
            await tokens.load();
          }}
        >
          Builds that use <Text text={removing.name} /> are refused from now on.
        </RemoveDialog>
      )}
    </section>
  );
}

function AddCiToken({ onClose }: { onClose(): void }) {
  const [name, setName] = useState("");
  const [made, setMade] = useState<{ readonly config: string; readonly endsAt: string } | undefined>(undefined);
  const sending = useSending(["name"]);
  if (made !== undefined)
    return (
      <OneTimeSecret title="The CI token" text={made.config} onClose={onClose}>
        Store this as the secret <code>TOOL_CONFIG</code> of the build. Copy it now: it will not be shown again. It
        expires on <At at={made.endsAt} />.
      </OneTimeSecret>
    );
  return (
    <FormDialog
      title="New CI token"
      sending={sending}
      button="Create CI token"
      onSend={() =>
        void sending.send(async () => {
          const { token, expires_at } = await call("add_ci_token", { name: name.trim() });
          const { email } = session.value!.account;
          setMade({
            config: toolConfigOf({ team: teamId.value, email, url: location.origin, token }),
            endsAt: expires_at,
          });
        })
      }
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Which build uses it, and where."
        wrong={sending.wrongAt("name")}
        {...NOT_BLANK}
        autoFocus
        maxLength={100}
        placeholder="GitHub, shop"
        value={name}
        onText={setName}
      />
    </FormDialog>
  );
}
