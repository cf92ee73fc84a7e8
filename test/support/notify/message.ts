// A message about an alert as an evaluation makes it, and changes of it.
import type { AlertMessage } from "../../../logservice/records/alert-message.ts";

export type MessageChange = Partial<Omit<AlertMessage, "alert">> & { readonly alert?: Partial<AlertMessage["alert"]> };

export function alertMessage({ alert, ...change }: MessageChange = {}): AlertMessage {
  return {
    id: "dlv_2b3c4d5f6g7h8j9k2b3c",
    kind: "triggered",
    team: { id: "acme", name: "Acme" },
    project: { id: "shop", name: "Shop" },
    alert: {
      id: "4k5m6n7p8q9r2s3t4v5w",
      name: "checkout",
      description: "",
      query: 'level = error and path = "/checkout"',
      severity: "error",
      operator: ">",
      threshold: 10,
      interval: 5,
      ...alert,
    },
    episodeId: "ep_6w7x8y9z2b3c4d5f6g7h",
    group: [],
    value: 42,
    what: "events",
    unit: "",
    window: { start: "2026-11-23T14:00:00.000Z", stop: "2026-11-23T14:05:00.000Z" },
    triggeredAt: "2026-11-23T14:05:00.000Z",
    events: [
      {
        id: "evt_2",
        timestamp: "2026-11-23T14:04:58.120Z",
        level: "error",
        message: "payment was refused: upstream answered 502",
        fields: { path: "/checkout", status: 502, user: { id: 7 } },
      },
      {
        id: "evt_1",
        timestamp: "2026-11-23T14:03:11.004Z",
        level: "error",
        message: "timeout after 30000 ms",
        fields: { path: "/checkout" },
      },
    ],
    hasMoreEvents: true,
    reason: "",
    path: "/t/acme/p/shop/events?query=level+%3D+error&start=2026-11-23T14%3A00%3A00Z&stop=2026-11-23T14%3A05%3A00Z",
    ...change,
  };
}

/** Several messages, each of its own alert and delivery. */
export function alertMessages(count: number, change: MessageChange = {}): AlertMessage[] {
  return Array.from({ length: count }, (_, i) =>
    alertMessage({
      id: `dlv_${String(i).padStart(20, "2")}`,
      episodeId: `ep_${String(i).padStart(20, "2")}`,
      ...change,
      alert: { id: `alert${i}`, name: `checkout ${i}`, ...change.alert },
    }),
  );
}
