// Shows receivers to users by their addresses instead of their ids.
import { get } from "./api.js";
import { h, link, time } from "./ui.js";

/**
 * Returns a function that renders a webhook's id as its address, if the first page of the app's webhooks contains it. A
 * subscription is pulled by its client: it has no address, and no page except its deliveries.
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
 * Renders the time of a delivery's next attempt: not before its webhook's circuit closes, and never for a subscription,
 * which its client pulls.
 *
 * @param {string} openUntil the time until which the circuit is open, if it is
 */
export function nextAttempt({ subscriber, next_attempt_at: due, reason }, openUntil) {
  if (!due) return reason ?? "–";
  if (subscriber.startsWith("sub_")) return "waits to be pulled";
  if (!openUntil || new Date(openUntil) <= new Date(due)) return time(due);
  return h("span", {}, "after ", time(openUntil), ", because deliveries to the receiver are paused");
}
