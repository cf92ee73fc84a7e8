import { useState } from "preact/hooks";
import type { Scope, Token } from "../../../schema/rpc.generated.ts";
import { call } from "../data/call.ts";
import { useLoaded } from "../data/loaded.ts";
import { mayDo } from "../data/session.ts";
import { Code } from "../kit/copy.tsx";
import { Dialog } from "../kit/dialog.tsx";
import { Field } from "../kit/field.tsx";
import { RemoveDialog } from "../kit/remove-dialog.tsx";
import { useSending } from "../kit/sending.ts";
import { Shown } from "../kit/state.tsx";
import { Text } from "../kit/text.tsx";
import { Ago } from "../kit/time.tsx";
import { visibleText } from "../kit/visible.ts";
import { KINDS, PRESETS, scopeOf } from "./scope-kinds.ts";

/** The API tokens of the team. */
export function Tokens() {
  const tokens = useLoaded(async (signal) => (await call("get_tokens", {}, { signal })).tokens, []);
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Token | undefined>(undefined);
  const mayChange = mayDo("tokens:write");
  return (
    <div class="page">
      <header>
        <h1>API tokens</h1>
        {mayChange && (
          <button type="button" class="button primary" onClick={() => setAdding(true)}>
            Add token
          </button>
        )}
      </header>
      <p class="lead">
        Programs use tokens, people sign in. A token acts for the team, in all of its projects, and may do what its
        scopes say. The <a href="/reference">API reference</a> names the scope of each operation.
      </p>
      <Shown of={tokens}>
        {(all) =>
          all.length === 0 ? (
            <div class="empty card">
              <h2>No tokens</h2>
              <p>Add one for each program, so that it can be removed alone.</p>
            </div>
          ) : (
            <div class="table-wrap">
              <table class="list stacks">
                <thead>
                  <tr>
                    <th scope="col">Description</th>
                    <th scope="col">Scopes</th>
                    <th scope="col">Made</th>
                    <th scope="col">Last used</th>
                    {mayChange && (
                      <th scope="col">
                        <span class="spoken">What to do</span>
                      </th>
                    )}
                  </tr>
                </thead>
                <tbody>
                  {all.map((token) => (
                    <tr key={token.id}>
                      <td class="named">
                        {token.description ? <Text text={token.description} /> : <span class="hint">none</span>}
                        <div class="hint">
                          <code>{token.id}</code>
                        </div>
                      </td>
                      <td class="tags">
                        {token.scopes.map((scope) => (
                          <span class="tag" key={scope}>
                            {scope}
                          </span>
                        ))}
                      </td>
                      <td>
                        <span class="when-stacked">made </span>
                        <Ago at={token.created_at} />
                      </td>
                      <td>
                        <span class="when-stacked">used </span>
                        <Ago at={token.last_used_at} />
                      </td>
                      {mayChange && (
                        <td class="actions">
                          <button
                            type="button"
                            class="button small"
                            aria-label={visibleText(`Remove ${token.description || token.id}`)}
                            onClick={() => setRemoving(token)}
                          >
                            Remove
                          </button>
                        </td>
                      )}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Shown>
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
          button="Remove the token"
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

function AddToken({ onClose }: { onClose(): void }) {
  const [description, setDescription] = useState("");
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set(["events:write"]));
  const [made, setMade] = useState("");
  const sending = useSending(["token.description", "token.scopes"]);
  const toggle = (scope: Scope): void => {
    const next = new Set(scopes);
    if (!next.delete(scope)) next.add(scope);
    setScopes(next);
  };
  if (made !== "")
    return (
      <Dialog title="The token" onClose={onClose}>
        <p class="lead">It is shown here only now. Whoever has it can use it: keep it as you keep passwords.</p>
        <Code text={made} />
        <div class="row end">
          <button type="button" class="button primary" onClick={onClose}>
            I have kept it
          </button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="Add token" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void sending.send(async () => {
            const { id } = await call("add_token", { token: { description: description.trim(), scopes: [...scopes] } });
            setMade(id);
          });
        }}
      >
        <Field label="Description" hint="Which program has it, and where." wrong={sending.wrongAt("token.description")}>
          {(control) => (
            <input
              type="text"
              {...control}
              maxLength={255}
              value={description}
              onInput={(event) => setDescription(event.currentTarget.value)}
            />
          )}
        </Field>
        <fieldset class="field">
          <legend>May</legend>
          <div class="row">
            {PRESETS.map(({ text, scopes: preset }) => (
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
              {KINDS.map((kind) => (
                <tr key={kind}>
                  <th scope="row">{kind}</th>
                  {(["read", "write"] as const).map((way) => {
                    const scope = scopeOf(kind, way);
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
          <p class="note warning">With tokens:write it can make other tokens, with any scope that it has itself.</p>
        )}
        {sending.problem && <p class="note error">{sending.problem}</p>}
        <div class="row end">
          <button type="submit" class="button primary" disabled={sending.isSending || scopes.size === 0}>
            Add token
          </button>
        </div>
      </form>
    </Dialog>
  );
}
