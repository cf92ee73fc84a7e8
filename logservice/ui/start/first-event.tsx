import { useEffect, useState } from "preact/hooks";
import type { Event } from "../../../schema/rpc.generated.ts";
import { pathOf } from "../../address/page.ts";
import { call } from "../data/call.ts";
import { mayDo, teamId } from "../data/session.ts";
import { CopyableCode } from "../kit/copy.tsx";
import { timeText, zoneName } from "../kit/format.ts";
import { ProblemNote } from "../kit/problem.tsx";
import { useSending } from "../kit/sending.ts";
import { Text } from "../kit/text.tsx";
import type { SendWay } from "./send-way.ts";
import { waysToSend } from "./ways-to-send.ts";

export interface FirstEventProps {
  readonly projectId: string;
  /** Shows the events, if that is not another page. */
  onExplore?(): void;
}

/** How to send the first event to a project, with a token that one press makes; shows it when it arrives. */
export function FirstEvent({ projectId, onExplore }: FirstEventProps) {
  const [token, setToken] = useState("");
  const [chosen, setChosen] = useState<SendWay["name"]>("curl");
  const sending = useSending();
  const arrived = useArrived(projectId);
  const ways = waysToSend({ origin: location.origin, projectId, token: token || "TOKEN" });
  const way = ways.find(({ name }) => name === chosen) ?? ways[0]!;
  return (
    <div class="first-event">
      <section class="card">
        <h2>1. A token</h2>
        {token !== "" ? (
          <>
            <p class="lead">
              It may send events to every project of the team, and nothing else. Copy it now: it will not be shown
              again.
            </p>
            <CopyableCode text={token} />
          </>
        ) : mayDo("tokens:write") ? (
          <>
            <p class="lead">Programs send events with a token.</p>
            <button
              type="button"
              class="button primary"
              disabled={sending.isSending}
              onClick={() =>
                void sending.send(async () => {
                  const description = `Sends events, made for ${projectId}`;
                  const { id } = await call("add_token", { token: { description, scopes: ["events:write"] } });
                  setToken(id);
                })
              }
            >
              Create a token for sending
            </button>
            <ProblemNote text={sending.problem} />
          </>
        ) : (
          <p class="lead">
            Programs send events with a token. Admins and owners of the team create them; put yours in the place of
            TOKEN below.
          </p>
        )}
      </section>
      <section class="card">
        <h2>2. Send an event</h2>
        <fieldset class="row tabs" aria-label="How to send">
          {ways.map(({ name }) => (
            <button
              type="button"
              key={name}
              class="button small"
              aria-pressed={name === way.name}
              onClick={() => setChosen(name)}
            >
              {name}
            </button>
          ))}
        </fieldset>
        <p class="lead">{way.about}</p>
        <CopyableCode text={way.text} />
        {way.isOfEvents && (
          <p class="hint">
            Without a level it is info; without a time, the time of arrival.{" "}
            <code>"timestamp": "2026-01-31T12:00:00Z"</code> beside the message says when it happened.
          </p>
        )}
      </section>
      <section class="card" aria-live="polite">
        <h2>3. It arrives</h2>
        {arrived.length === 0 ? (
          <p class="lead waiting-event">Waiting for an event …</p>
        ) : (
          <>
            <p class="note good">
              {arrived.length === 1 ? "Your first event has arrived." : "Your events arrive."}{" "}
              {onExplore === undefined ? (
                <a href={pathOf({ kind: "project", team: teamId.value, project: projectId, section: "events" })}>
                  Explore events
                </a>
              ) : (
                <button type="button" class="button small" onClick={onExplore}>
                  Explore events
                </button>
              )}
            </p>
            <ul class="arrived">
              {arrived.map(({ id, timestamp, level, sent_level, message }) => (
                <li key={id}>
                  <time dateTime={timestamp}>
                    {timeText(Date.parse(timestamp))} {zoneName()}
                  </time>{" "}
                  <span class={`level level-${level}`}>{sent_level ?? level}</span> <Text text={message} />
                </li>
              ))}
            </ul>
          </>
        )}
      </section>
    </div>
  );
}

/** So many are shown as they arrive. */
const MOST = 5;

/** The last events that have arrived since the page was opened, the latest first. */
function useArrived(projectId: string): readonly Event[] {
  const [events, setEvents] = useState<readonly Event[]>([]);
  const team = teamId.value;
  useEffect(() => {
    const parameters = new URLSearchParams({ project_id: projectId, ...(team !== "" && { team }) });
    const source = new EventSource(`/tail?${parameters}`);
    source.onmessage = ({ data }: MessageEvent<string>) => {
      const event = JSON.parse(data) as Event;
      setEvents((before) => [event, ...before].slice(0, MOST));
    };
    return () => source.close();
  }, [projectId, team]);
  return events;
}
