import type { AuditEntry } from "../../../schema/rpc.generated.ts";
import { projects } from "../data/session.ts";
import { timeText, zoneName } from "../kit/format.ts";
import { Text } from "../kit/text.tsx";
import { Ago } from "../kit/time.tsx";
import { sentenceOf } from "./sentence.ts";

interface AuditEntryRowProps {
  readonly entry: AuditEntry;
  /** The descriptions of API tokens, by their public id. */
  readonly tokens: ReadonlyMap<string, string>;
  /** The present names of other things, by their ids. */
  readonly names: ReadonlyMap<string, string>;
}

/** An entry of the audit as a sentence, with all that is known of it on demand. */
export function AuditEntryRow({ entry, tokens, names }: AuditEntryRowProps) {
  const { at, actor, address, operation, project_id, target_id, result, detail } = entry;
  const project = projects.value?.find(({ id }) => id === project_id)?.name ?? project_id;
  const nameOf = (id: string) =>
    names.get(id) ?? tokens.get(id) ?? projects.value?.find((one) => one.id === id)?.name ?? id;
  const parts = sentenceOf(entry);
  const facts: readonly (readonly [string, string])[] = [
    ["Time", `${timeText(Date.parse(at), { isExact: true })} ${zoneName()}`],
    ["Operation", operation],
    ["Token", actor.startsWith("tok_") ? actor : ""],
    ["Project", project_id],
    ["Target", target_id],
    ["From", address],
    ["Entry", entry.id],
  ];
  return (
    <tr>
      <td class="when soft">
        <Ago at={at} />
      </td>
      <td class="who">
        {actor === "" ? (
          <span class="soft">nobody known</span>
        ) : actor === "terminal" ? (
          "on the machine"
        ) : (
          <>
            <Text text={tokens.get(actor) || actor} />
            {actor.startsWith("tok_") && <span class="soft"> token</span>}
          </>
        )}
      </td>
      <td class="wide">
        <details>
          <summary>
            {result !== "done" && <span class="tag error">refused</span>}{" "}
            {parts.map((part, i) => (
              <span key={i}>
                {typeof part === "string" ? (
                  part
                ) : (
                  <strong>
                    <Text text={nameOf(part.value)} />
                  </strong>
                )}{" "}
              </span>
            ))}
            {project_id !== "" && project_id !== target_id && (
              <span class="soft">
                in <Text text={project} />
              </span>
            )}
          </summary>
          <dl class="facts">
            {facts
              .filter(([, value]) => value !== "")
              .map(([name, value]) => (
                <>
                  <dt>{name}</dt>
                  <dd>
                    <Text text={value} />
                  </dd>
                </>
              ))}
            {detail !== "" && (
              <>
                <dt>{operation === "query" ? "Statement" : "Detail"}</dt>
                <dd>
                  <code class="query">
                    <Text text={detail} keepsLines />
                  </code>
                </dd>
              </>
            )}
          </dl>
        </details>
      </td>
      <td class="soft">
        <Text text={address} />
      </td>
    </tr>
  );
}
