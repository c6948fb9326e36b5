// Deliveries to webhooks, and their attempts.
import { get, path, post, query } from "../api.js";
import {
  button,
  choice,
  confirmed,
  facts,
  field,
  fill,
  form,
  h,
  head,
  input,
  json,
  link,
  notice,
  pages,
  status,
  table,
  time,
} from "../ui.js";
import { job } from "../job.js";
import { nextAttempt, receivers } from "../receivers.js";

export default async function deliveries(view) {
  if (view.rest[0]) return one(view, view.rest[0]);
  const receiver = await receivers();
  const list = h("div"), begun = h("div");
  const wanted = view.query;
  const filters = form([
    field(
      "Status",
      choice("status", [["", "all"], "pending", "failed", "delivered", "dead", "held"], wanted.get("status") ?? ""),
    ),
    field("Subscriber", input("subscriber", { placeholder: "any", value: wanted.get("subscriber") ?? "" })),
    field("Type", input("type", { placeholder: "any", value: wanted.get("type") ?? "" })),
    field("Event", input("event", { placeholder: "any", value: wanted.get("event") ?? "" })),
  ], { submit: "Show", kind: "row", action: (values) => load(values) });
  async function load({ status, subscriber, event, type }) {
    fill(
      list,
      await pages(
        (cursor) => get("/v1/deliveries" + query({ status, subscriber, event, type, cursor })),
        (rows) => deliveryTable(rows, receiver),
      ),
    );
  }
  await load(Object.fromEntries(new FormData(filters)));
  const begin = async (verb, order) => {
    const done = await post("/v1/deliveries/" + verb, order);
    fill(
      begun,
      h(
        "div",
        { class: "card" },
        job(await get(path`/v1/jobs/${done.job}`), { receiver, onEnd: () => notice("The job has ended.") }),
      ),
    );
  };
  return [
    head(
      "Deliveries",
      button("Retry dead deliveries", () => begin("redrive")),
      button("Delete dead deliveries", async () => {
        if (await confirmed("Delete all dead deliveries?", "Delete")) await begin("purge", { all: true });
      }, "danger"),
    ),
    begun,
    filters,
    list,
  ];
}

/**
 * A table of deliveries. With `receiver`, they are of several webhooks; otherwise of one, whose circuit is open until
 * `openUntil`.
 */
export const deliveryTable = (rows, receiver, openUntil) =>
  table(
    [
      ["Event", (row) => link("#/events/" + row.event, row.type)],
      ["Channel", (row) => row.channel],
      ...(receiver ? [["Subscriber", (row) => receiver(row.subscriber)]] : []),
      ["Status", (row) => status(row.status)],
      ["Attempts", (row) => row.attempts, "number"],
      ["Next attempt", (row) => receiver ? receiver.next(row) : nextAttempt(row, openUntil)],
      ["", (row) => link("#/deliveries/" + row.id, "show attempts")],
    ],
    rows,
    { label: "Deliveries", empty: "No deliveries match." },
  );

async function one(view, id) {
  const [delivery, receiver] = await Promise.all([get(path`/v1/deliveries/${id}`), receivers()]);
  return [
    head(
      "Delivery",
      status(delivery.status),
      button("Retry now", async () => {
        await post(path`/v1/deliveries/${id}/retry`);
        notice("The delivery is due now.");
        view.reload();
      }),
      button("Reload", () => view.reload()),
    ),
    h(
      "div",
      { class: "card" },
      facts([
        ["Id", h("code", {}, delivery.id)],
        ["Webhook", receiver(delivery.subscriber)],
        ["Event", link("#/events/" + delivery.event, delivery.event)],
        ["Type", delivery.type],
        ["Channel", delivery.channel],
        ["Attempts", delivery.attempts],
        ["Next attempt", delivery.next_attempt_at ? receiver.next(delivery) : undefined],
        ["Reason", delivery.reason ?? undefined],
      ]),
    ),
    h("h2", {}, "Attempts"),
    delivery.attempt_log.length
      ? [...delivery.attempt_log].reverse().map((each) => h("div", { class: "card" }, attempt(each)))
      : h("p", { class: "blank" }, "No attempts yet."),
  ];
}

/** One attempt: its response, its duration, and the request and response as sent. */
export function attempt(one) {
  const { details = {} } = one;
  return h(
    "div",
    {},
    h(
      "p",
      {},
      status(one.error ? "failed" : "delivered"),
      " ",
      one.status ? h("strong", {}, one.status) : null,
      " ",
      one.error && h("code", {}, one.error),
      " ",
      one.message,
      " ",
      h(
        "span",
        { class: "quiet" },
        `${one.duration_ms} ms`,
        one.trigger === "manual" ? ", started manually" : "",
        " · ",
        time(one.at),
      ),
    ),
    one.response_body ? h("pre", { class: "json", tabindex: 0 }, one.response_body) : null,
    Object.keys(details).length > 0 && h("details", {}, h("summary", {}, "Request and response"), json(details)),
  );
}
