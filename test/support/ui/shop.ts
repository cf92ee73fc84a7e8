// A project with events, a saved search, an alert and what it tells, for tests that do not make them by hand.
import type { NewEvent } from "../../../schema/rpc.generated.ts";
import type { Window } from "./window.ts";

export interface Shop {
  /** Sends events. */
  readonly token: string;
  readonly notificationId: string;
  readonly alertId: string;
}

/** Twenty minutes of a shop: an event each ten seconds, of which each twelfth is an error. */
export function shopEvents(nowMs: number): NewEvent[] {
  return Array.from({ length: 120 }, (_, i) => {
    const isBad = i % 12 === 0;
    const path = ["/cart", "/checkout", "/orders"][i % 3]!;
    return {
      timestamp: new Date(nowMs - (120 - i) * 10_000).toISOString(),
      level: isBad ? ("error" as const) : ("info" as const),
      message: isBad ? `POST ${path} 503: upstream did not answer` : `GET ${path} 200`,
      fields: {
        id: `req_${i >> 1}`,
        path,
        status: isBad ? 503 : 200,
        duration: 5 + ((i * 37) % 400),
        stage: i % 4 === 3 ? "staging" : "production",
      },
    };
  });
}

/** Makes the project `shop`, as the person of a window who may. */
export async function fillShop(window: Window): Promise<Shop> {
  const project_id = "shop";
  await window.call("add_project", { project: { id: project_id, name: "Web shop", description: "Its servers" } });
  const made = await window.call<{ id: string }>("add_token", {
    token: { description: "Sends events to the shop", scopes: ["events:write"] },
  });
  await window.call("add_events", { project_id, events: shopEvents(Date.now()) });
  await window.call("add_search", { search: { project_id, name: "Failed orders", query: "status >= 500" } });
  const notification = await window.call<{ id: string }>("add_notification", {
    notification: { project_id, name: "On call", type: "email", email_addresses: ["oncall@example.com"] },
  });
  const alert = await window.call<{ id: string }>("add_alert", {
    alert: {
      ...{ project_id, name: "Orders fail", query: "status >= 500", severity: "error", operator: ">=", threshold: 1 },
      notification_id: notification.id,
    },
  });
  return { token: made.id, notificationId: notification.id, alertId: alert.id };
}
