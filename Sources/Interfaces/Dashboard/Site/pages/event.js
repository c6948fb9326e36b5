// One event: its origin, its validation, its recipients and the reasons.
import { found, get, path } from "../api.js";
import { receivers } from "../receivers.js";
import { badge, button, facts, fault, h, head, json, link, status, table, time } from "../ui.js";
import { attempt } from "./deliveries.js";

export default async function event({ rest: [id], reload }) {
  const [event, explained] = await Promise.all([
    get(path`/v1/events/${id}`),
    get(path`/v1/events/${id}/explain`).catch((error) => {
      if (error.status === 403) return null;
      throw error;
    }),
  ]);
  const siblings = await causedAlike(event);
  return [
    head(event.type, button("Reload", reload)),
    h(
      "div",
      { class: "split" },
      h(
        "div",
        {},
        h(
          "div",
          { class: "card" },
          h("h2", {}, "Origin"),
          facts([
            ["Id", h("code", {}, event.id)],
            ["When", time(event.timestamp)],
            ["Channel", link("#/channels/" + encodeURIComponent(event.channel), event.channel)],
            ["User", event.user ? link("#/users/" + encodeURIComponent(event.user), event.user) : "none"],
            ["Request", event.cause ? h("code", {}, event.cause) : undefined],
            ["Received from", explained ? way(explained.origin) : undefined],
            [
              "Other events of the same request",
              siblings.length
                ? siblings.map((one, index) => [index ? ", " : "", link("#/events/" + one.id, one.type)])
                : undefined,
            ],
          ]),
        ),
        h("h2", {}, "Envelope"),
        json(event),
      ),
      h(
        "div",
        {},
        explained
          ? [verdict(explained), await told(explained)]
          : fault(new Error("To see what happened to the event, use a key with the scope manage.")),
      ),
    ),
  ];
}

/** The events that the same request caused. They are close to this event in its channel. */
async function causedAlike(event) {
  if (!event.cause) return [];
  const token = BigInt(event.timetoken);
  const page = await get(
    path`/v1/channels/${event.channel}/events` + `?after=${token - 10000000n}&before=${token + 10000000n}&limit=50`,
  ).catch(() => ({ data: [] }));
  return page.data.filter((other) => other.cause === event.cause && other.id !== event.id);
}

/** The source whose post became the event. "No source is recorded" for other events. */
function way(origin) {
  if (origin?.source) {
    return [
      "the source ",
      link("#/sources/" + encodeURIComponent(origin.source), origin.source),
      origin.request && [", request ", h("code", {}, origin.request)],
    ];
  }
  return "no source is recorded";
}

function verdict({ schema, validation }) {
  return h(
    "div",
    { class: "card" },
    h("h2", {}, "Schema"),
    h(
      "p",
      {},
      schema
        ? ["Accepted by version ", schema.version, " of ", link("#/types/" + schema.type, schema.type), "."]
        : "No declared schema has checked the event.",
    ),
    validation &&
      h(
        "p",
        {},
        "According to the newest version of the schema, the event is ",
        badge(validation.valid ? "valid" : "not valid", validation.valid ? "good" : "bad"),
      ),
    validation && !validation.valid &&
      h("ul", {}, validation.errors.map((one) => h("li", {}, h("code", {}, one.pointer), " ", one.detail))),
  );
}

async function told({ webhooks, would_reach }) {
  const [receiver, ...tried] = await Promise.all([
    receivers(),
    ...webhooks.filter((one) => one.delivery).map((one) => found(get(path`/v1/deliveries/${one.delivery.id}`))),
  ]);
  return [
    h(
      "div",
      { class: "card", id: "receivers" },
      h("h2", {}, "Recipients"),
      h(
        "p",
        {},
        `${would_reach.streams} open stream${would_reach.streams === 1 ? "" : "s"} would receive the same event now. `,
        "The gateway does not record which streams received this event, because each stream has its own cursor.",
      ),
      table(
        [
          ["Receiver", (row) => receiver(row.webhook)],
          ["Delivery", (row) =>
            row.delivery
              ? [
                status(row.delivery.status),
                " ",
                link(
                  "#/deliveries/" + row.delivery.id,
                  `${row.delivery.attempts} attempt${row.delivery.attempts === 1 ? "" : "s"}`,
                ),
              ]
              : badge(row.match ? "none" : "not matched")],
          ["Reason", (row) => row.why],
        ],
        webhooks,
        { label: "Webhooks and subscriptions", empty: "There are no webhooks and no subscriptions." },
      ),
    ),
    tried.filter(Boolean).map((delivery) =>
      delivery.attempt_log.length > 0 &&
      h(
        "div",
        { class: "card" },
        h("h3", {}, "Attempts for ", receiver(delivery.subscriber)),
        [...delivery.attempt_log].reverse().map(attempt),
      )
    ),
  ];
}
