// Whom the gateway tells, by the addresses people know them by.
import { get } from "./api.js";
import { h, link, time } from "./ui.js";

/**
 * A function that shows a webhook by its id: its address, as far as the first page of the app's webhooks has it. A
 * subscription is pulled: it has no address, and no page but its deliveries.
 */
export async function receivers() {
  const page = await get("/v1/webhooks?limit=250");
  const addresses = new Map(page.data.map(({ id, url }) => [id, new URL(url)]));
  const circuits = new Map(page.data.map(({ id, open_until }) => [id, open_until]));
  const show = (id) => {
    const address = addresses.get(id);
    return link(
      (id.startsWith("sub_") ? "#/deliveries?subscriber=" : "#/webhooks/") + id,
      ...(address ? [address.host + address.pathname, h("span", { class: "id" }, id)] : [id]),
    );
  };
  show.next = (delivery) => nextAttempt(delivery, circuits.get(delivery.subscriber));
  return show;
}

/**
 * When a delivery is attempted next: not before its webhook's circuit closes, and never where a subscription pulls it.
 *
 * @param {string} openUntil until when the circuit is open, if it is
 */
export function nextAttempt({ subscriber, next_attempt_at: due, reason }, openUntil) {
  if (!due) return reason ?? "–";
  if (subscriber.startsWith("sub_")) return "waits to be pulled";
  if (!openUntil || new Date(openUntil) <= new Date(due)) return time(due);
  return h("span", {}, "after ", time(openUntil), ", the receiver is resting");
}
