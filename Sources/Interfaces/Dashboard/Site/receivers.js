// Whom the gateway tells, by the addresses people know them by.
import { get } from "./api.js";
import { h, link } from "./ui.js";

/**
 * A function that shows a webhook by its id: its address, as far as the first page of the app's webhooks has it. A
 * subscription is pulled: it has no address, and no page but its deliveries.
 */
export async function receivers() {
  const page = await get("/v1/webhooks?limit=250");
  const addresses = new Map(page.data.map(({ id, url }) => [id, new URL(url)]));
  return (id) => {
    const address = addresses.get(id);
    return link(
      (id.startsWith("sub_") ? "#/deliveries?webhook=" : "#/webhooks/") + id,
      ...(address ? [address.host + address.pathname, h("span", { class: "id" }, id)] : [id]),
    );
  };
}
