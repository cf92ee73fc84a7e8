import { useState } from "preact/hooks";
import type { Scope, Token } from "../../../schema/rpc.generated.ts";
import { pathOf } from "../../address/page.ts";
import { call } from "../data/call.ts";
import { serviceNow } from "../data/clock.ts";
import { useLoaded } from "../data/loaded.ts";
import { mayDo, teamId } from "../data/session.ts";
import { FormField } from "../kit/field.tsx";
import { FormDialog } from "../kit/form-dialog.tsx";
import { RemoveDialog } from "../kit/remove-dialog.tsx";
import { RowButton } from "../kit/row-button.tsx";
import { useSending } from "../kit/sending.ts";
import { OneTimeSecret } from "../kit/shown-once.tsx";
import { WhenLoaded } from "../kit/state.tsx";
import { Table } from "../kit/table.tsx";
import { Text } from "../kit/text.tsx";
import { TextField } from "../kit/text-field.tsx";
import { Ago } from "../kit/time.tsx";
import { SCOPE_KINDS, SCOPE_PRESETS, scopeOfKind } from "./scope-kinds.ts";

/** The API tokens of the team. */
export function Tokens() {
  const tokens = useLoaded(async (signal) => (await call("get_tokens", {}, { signal })).tokens, []);
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Token | undefined>(undefined);
  const mayChange = mayDo("tokens:write");
  const create = mayChange && (
    <button type="button" class="button primary" onClick={() => setAdding(true)}>
      New token
    </button>
  );
  return (
    <div class="page">
      <header>
        <h1>API tokens</h1>
        {(tokens.value.value?.length ?? 0) > 0 && create}
      </header>
      <p class="lead">
        Programs use tokens, people sign in. A token acts for the team, in all of its projects, and may do what its
        scopes say; one of a deployed app writes to one project alone. The <a href="/reference">API reference</a> names
        the scope of each operation.{" "}
        {mayDo("team:write") && (
          <>
            Builds use{" "}
            <a href={`${pathOf({ kind: "team", team: teamId.value, section: "members" })}#ci-tokens`}>CI tokens</a>.
          </>
        )}
      </p>
      <WhenLoaded of={tokens}>
        {(all) =>
          all.length === 0 ? (
            <div class="empty card">
              <h2>No tokens</h2>
              <p>Create one for each program, so that each can be removed by itself.</p>
              {create}
            </div>
          ) : (
            <Table columns={["Description", "Scopes", "Created", "Last used"]} hasActions={mayChange}>
              {all.map((token) => (
                <tr key={token.id}>
                  <td class="named">
                    {token.description ? <Text text={token.description} /> : <span class="hint">none</span>}
                    <div class="hint">
                      <code>{token.id}</code>
                    </div>
                  </td>
                  <td class="wide">
                    <Scopes token={token} />
                  </td>
                  <td class={token.created_by ? "created" : undefined}>
                    <Created token={token} />
                  </td>
                  <td>
                    {token.last_used_at && <span class="when-stacked">used </span>}
                    <Ago at={token.last_used_at} />
                    {!token.last_used_at && <span class="when-stacked"> used</span>}
                  </td>
                  {mayChange && (
                    <td class="actions">
                      <RowButton
                        text="Remove"
                        spoken={`Remove ${token.description || token.id}`}
                        onPress={() => setRemoving(token)}
                      />
                    </td>
                  )}
                </tr>
              ))}
            </Table>
          )
        }
      </WhenLoaded>
      {isAdding && (
        <AddToken
          onClose={() => {
            setAdding(false);
            void tokens.load();
          }}
        />
      )}
      {removing && (
        <RemoveDialog
          title="Remove this token?"
          button="Remove token"
          onClose={() => setRemoving(undefined)}
          onRemove={async () => {
            await call("remove_token", { token_id: removing.id! });
            await tokens.load();
          }}
        >
          Every program that uses {removing.description ? JSON.stringify(removing.description) : removing.id} is refused
          from now on, and its streams end.
        </RemoveDialog>
      )}
    </div>
  );
}

const DAY_MS = 24 * 3_600_000;

/** The day of a time, in UTC. */
const dayOf = (time: string) => time.slice(0, 10);

/** The scopes of a token, and the project and stage that one of a deployed app is bound to. */
function Scopes({ token: { scopes, project_id, stage } }: { readonly token: Token }) {
  return (
    <>
      <span class="tags">
        {scopes.map((scope) => (
          <span class="tag" key={scope}>
            {scope}
          </span>
        ))}
      </span>
      {project_id !== "" && (
        <div class="hint">
          {/* A text that is all of a hint is cut after two lines, as a block. */}
          <span>
            only in <Text text={project_id} />
            {stage !== "" && (
              <>
                , stage <Text text={stage} />
              </>
            )}
          </span>
        </div>
      )}
    </>
  );
}

/** When it was created, and by whom if that was a person. */
function Created({ token }: { readonly token: Token }) {
  return (
    <>
      <span class="when-stacked">created </span>
      <Ago at={token.created_at} />
      {token.created_by && (
        <div class="hint">
          {/* A text that is all of a hint is cut after two lines, as a block. */}
          <span>
            by <Text text={token.created_by} />
          </span>
        </div>
      )}
      {token.expires_at !== null && (
        <div class="hint">
          {Date.parse(token.expires_at) <= serviceNow() ? "ended" : "ends"} on {dayOf(token.expires_at)}
        </div>
      )}
    </>
  );
}

function AddToken({ onClose }: { onClose(): void }) {
  const [description, setDescription] = useState("");
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set(["events:write"]));
  const [days, setDays] = useState("");
  const [made, setMade] = useState("");
  const sending = useSending(["token.description", "token.scopes", "token.expires_at"]);
  const toggle = (scope: Scope): void => {
    const next = new Set(scopes);
    if (!next.delete(scope)) next.add(scope);
    setScopes(next);
  };
  if (made !== "")
    return (
      <OneTimeSecret title="The token" text={made} onClose={onClose}>
        Copy it now: it will not be shown again. Store it like a password.
      </OneTimeSecret>
    );
  return (
    <FormDialog
      title="New token"
      sending={sending}
      button="Create token"
      isBlocked={scopes.size === 0}
      onSend={() =>
        void sending.send(async () => {
          const ends = days === "" ? {} : { expires_at: new Date(serviceNow() + Number(days) * DAY_MS).toISOString() };
          const token = { description: description.trim(), scopes: [...scopes], ...ends };
          const { id } = await call("add_token", { token });
          setMade(id);
        })
      }
      onClose={onClose}
    >
      <TextField
        label="Description"
        hint="Which program uses it, and where."
        wrong={sending.wrongAt("token.description")}
        maxLength={255}
        value={description}
        onText={setDescription}
      />
      <EndsField days={days} wrong={sending.wrongAt("token.expires_at")} onChoose={setDays} />
      <fieldset class="field">
        <legend>Scopes</legend>
        <div class="row">
          {SCOPE_PRESETS.map(({ text, scopes: preset }) => (
            <button type="button" key={text} class="button small" onClick={() => setScopes(new Set(preset))}>
              {text}
            </button>
          ))}
        </div>
        <table class="scopes">
          <thead>
            <tr>
              <th scope="col">
                <span class="spoken">Thing</span>
              </th>
              <th scope="col">read</th>
              <th scope="col">write</th>
            </tr>
          </thead>
          <tbody>
            {SCOPE_KINDS.map((kind) => (
              <tr key={kind}>
                <th scope="row">{kind}</th>
                {(["read", "write"] as const).map((way) => {
                  const scope = scopeOfKind(kind, way);
                  return (
                    <td key={way}>
                      <input
                        type="checkbox"
                        aria-label={scope}
                        checked={scopes.has(scope)}
                        onChange={() => toggle(scope)}
                      />
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
        {sending.wrongAt("token.scopes") && <span class="wrong">{sending.wrongAt("token.scopes")}</span>}
      </fieldset>
      {scopes.has("tokens:write") && (
        <p class="note warning">With tokens:write it can create other tokens, with any scope that it has itself.</p>
      )}
    </FormDialog>
  );
}

/** When a new token ends, in days from now; "" for never. */
function EndsField({
  days,
  wrong,
  onChoose,
}: {
  readonly days: string;
  readonly wrong: string | undefined;
  onChoose(days: string): void;
}) {
  return (
    <FormField label="Ends" hint="From then on the programs that use it are refused." wrong={wrong}>
      {(control) => (
        <select {...control} value={days} onChange={(event) => onChoose(event.currentTarget.value)}>
          <option value="">Never</option>
          <option value="30">After 30 days</option>
          <option value="90">After 90 days</option>
          <option value="365">After a year</option>
        </select>
      )}
    </FormField>
  );
}
