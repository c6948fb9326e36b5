// Webhooks, their settings, and the results of their deliveries.
import { found, get, patch, path, post, query, remove } from "../api.js";
import {
  area,
  badge,
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
  parsed,
  secret,
  status,
  table,
  time,
  words,
} from "../ui.js";
import { attempt, deliveryTable } from "./deliveries.js";
import { job } from "../job.js";
import { receivers } from "../receivers.js";

export default function webhooks(view) {
  const [id] = view.rest;
  if (id === "new") {
    return [
      head("New webhook"),
      editor({}, async (settings) => {
        const made = await post("/v1/webhooks", settings);
        await secret("The webhook's secret", made.secret, "where your receiver reads it");
        location.hash = "#/webhooks/" + made.id;
      }, "Register"),
    ];
  }
  return id ? one(view, id) : all();
}

/** The newest failed attempt: its status or error, and its time. */
const failure = ({ at, error, status }) => [h("code", {}, status ?? error), " ", time(at)];

async function all() {
  const list = await pages((cursor) => get("/v1/webhooks" + query({ cursor })), (rows) =>
    table(
      [
        ["Address", (row) => link("#/webhooks/" + row.id, row.url)],
        [
          "Status",
          (row) => [
            status(row.status),
            " ",
            row.circuit !== "closed" && row.circuit && badge("circuit " + row.circuit.replace("_", " "), "warn"),
          ],
        ],
        ["Last failure", (row) => row.last_error ? failure(row.last_error) : "–"],
        ["Types", (row) => row.types.join(", ")],
        ["Channels", (row) => row.channels.join(", ")],
        ["Description", (row) => row.description || "–"],
      ],
      rows,
      {
        caption: "Webhooks",
        empty: "No webhooks yet. Register an address, and the gateway posts matching events to it.",
      },
    ));
  const [jobs, receiver] = await Promise.all([get("/v1/jobs?limit=5"), receivers()]);
  return [
    head("Webhooks", link("#/webhooks/new", "Register a webhook")),
    list,
    jobs.data.length > 0 && [
      h("h2", {}, "Latest jobs"),
      jobs.data.map((one) => h("div", { class: "card" }, job(one, { receiver }))),
    ],
  ];
}

async function one(view, id) {
  const [hook, stats] = await Promise.all([get(path`/v1/webhooks/${id}`), standing(id)]);
  const again = () => view.reload();
  const act = (verb, body) => async () => {
    await post(path`/v1/webhooks/${id}` + "/" + verb, body);
    again();
  };
  const isOn = hook.status !== "disabled";
  const result = h("div");
  const deliveries = h("div");
  const chosen = choice("status", [["", "all"], "pending", "failed", "delivered", "dead", "held"], "");
  const list = async () => {
    const { open_until } = await get(path`/v1/webhooks/${id}`);
    deliveries.replaceChildren(
      await pages(
        (cursor) => get("/v1/deliveries" + query({ subscriber: id, status: chosen.value, cursor, limit: 20 })),
        (rows) => deliveryTable(rows, undefined, open_until),
      ),
    );
  };
  chosen.addEventListener("change", list);
  await list();
  const figures = h("div", {}, health(hook, stats));
  const refresh = async () => {
    const [hook, stats] = await Promise.all([get(path`/v1/webhooks/${id}`), standing(id), list()]);
    fill(figures, health(hook, stats));
  };
  return [
    head(
      hook.url,
      status(hook.status),
      button("Send a test event", async () => {
        const tried = await post(path`/v1/webhooks/${id}/test`);
        result.replaceChildren(h("div", { class: "card" }, h("h2", {}, "Test"), attempt(tried)));
      }),
      hook.status === "pending_verification" && button("Ask the receiver for its consent", act("verify")),
      isOn ? button("Disable", act("disable")) : button("Enable", act("enable"), "main"),
      button("Rotate the secret", async () => {
        if (
          !await confirmed(
            "Replace the secret?",
            "Rotate",
            h("p", {}, "Posts are signed with both secrets for a day, so that you can change the receiver."),
          )
        ) return;
        const made = await post(path`/v1/webhooks/${id}/rotate-secret`);
        await secret("The new secret", made.secret, "where your receiver reads it");
        again();
      }),
      button("Delete", async () => {
        if (
          !await confirmed("Delete this webhook?", "Delete", h("p", {}, "Its waiting deliveries become dead."))
        ) return;
        await remove(path`/v1/webhooks/${id}`);
        location.hash = "#/webhooks";
      }, "danger"),
    ),
    result,
    figures,
    h(
      "div",
      { class: "split" },
      h(
        "div",
        {},
        h(
          "div",
          { class: "head" },
          h("h2", {}, "Deliveries"),
          h("div", { class: "tools" }, field("Status", chosen), button("Reload", refresh)),
        ),
        deliveries,
      ),
      h(
        "div",
        {},
        replay(id, stats, refresh),
        previewing(id),
        h(
          "details",
          { class: "card" },
          h("summary", {}, "Settings"),
          facts([
            ["Id", h("code", {}, hook.id)],
            ["Types", hook.types.join(", ")],
            ["Channels", hook.channels.join(", ")],
            ["Filter", hook.filter && h("code", {}, hook.filter)],
            ["Format", hook.format],
            ["Signatures", hook.signatures?.join(", ")],
            ["Ordering", hook.ordering],
            ["Registered", time(hook.created_at)],
          ]),
          h("h3", {}, "Change the settings"),
          editor(hook, async (settings) => {
            await patch(path`/v1/webhooks/${id}`, settings);
            notice("Saved.");
            again();
          }, "Save"),
        ),
      ),
    ),
  ];
}

/**
 * The webhook's statistics. Those of its last attempts begin with the gateway's start; earlier attempts are taken from
 * the log of the newest delivered and the newest dead delivery.
 */
async function standing(id) {
  const stats = await get(path`/v1/webhooks/${id}/stats`);
  const last = async (status) => {
    const page = await get("/v1/deliveries" + query({ subscriber: id, status, limit: 1 }));
    const delivery = page.data[0] && await found(get(path`/v1/deliveries/${page.data[0].id}`));
    return delivery?.attempt_log.at(-1)?.at;
  };
  stats.last_success_at ??= await last("delivered");
  stats.last_failure_at ??= await last(["failed", "dead"]);
  return stats;
}

function health(hook, stats) {
  const counts = stats.deliveries;
  const count = (name) => (counts[name] >= stats.counted_up_to ? "≥ " : "") + counts[name].toLocaleString();
  const span = { "5m": "last 5 minutes", "1h": "last hour", "24h": "last day" };
  return [
    hook.status_reason && h("p", { class: "fault" }, "Disabled: ", hook.status_reason),
    h(
      "div",
      { class: "cards" },
      h(
        "div",
        { class: "card" },
        h("h2", { class: "small quiet" }, "Deliveries by status"),
        h("p", {}, h("span", { class: "figure" }, count("pending")), " pending, ", count("failed"), " to be retried"),
        h("p", {}, count("dead"), " dead, ", count("held"), " held, ", count("delivered"), " delivered"),
      ),
      h(
        "div",
        { class: "card" },
        h("h2", { class: "small quiet" }, "Circuit breaker"),
        h("p", { class: "figure" }, stats.circuit.replace("_", " ")),
        stats.open_until && h("p", {}, "no attempt before ", time(stats.open_until)),
        hook.failing_since && h("p", {}, "failing since ", time(hook.failing_since)),
        hook.last_error && h("p", {}, "last failure ", ...failure(hook.last_error)),
      ),
      h(
        "div",
        { class: "card" },
        h("h2", { class: "small quiet" }, "Latest attempts"),
        facts([["Last success", time(stats.last_success_at)], ["Last failure", time(stats.last_failure_at)], [
          "Oldest waiting delivery",
          stats.oldest_waiting ? link("#/deliveries/" + stats.oldest_waiting.id, stats.oldest_waiting.event) : null,
        ]]),
      ),
    ),
    table(
      [
        ["Period", (row) => span[row[0]] ?? row[0]],
        ["Attempts", (row) => row[1].attempts, "number"],
        ["Delivered", (row) => row[1].delivered, "number"],
        ["Failed", (row) => row[1].failed, "number"],
        ["Median time", (row) => row[1].p50_ms === null ? "–" : row[1].p50_ms + " ms", "number"],
        ["99th percentile", (row) => row[1].p99_ms === null ? "–" : row[1].p99_ms + " ms", "number"],
      ],
      Object.entries(stats.windows),
      { caption: "Attempts since the gateway's last start" },
    ),
  ];
}

/** A form that sends events again and shows the progress, which stays visible; calls `onEnd` when the job ends. */
function replay(id, stats, onEnd) {
  const begun = h("div");
  const element = form([
    field(
      "Deliveries to send",
      choice("only", [["failed", "failed and dead deliveries"], ["dead", "dead deliveries"], [
        "all",
        "every stored event that matches",
      ]], stats.deliveries.dead > 0 ? "dead" : "failed"),
    ),
    field("Types", input("types", { placeholder: "all" })),
    field("Deliveries per second", input("rate", { type: "number", min: 1, max: 10000, placeholder: "no limit" })),
  ], {
    submit: "Replay",
    action: async (values) => {
      const done = await post(path`/v1/webhooks/${id}/replay`, order(values));
      begun.replaceChildren(job(await get(path`/v1/jobs/${done.job}`), { onEnd }));
    },
    more: [button("Count the deliveries", async (press) => {
      const values = Object.fromEntries(new FormData(press.closest("form")));
      const done = await post(path`/v1/webhooks/${id}/replay`, { ...order(values), dry_run: true });
      begun.replaceChildren(h("p", {}, `Deliveries to send: ${done.count_is_exact ? "" : "at least "}${done.count}.`));
    })],
  });
  const order = ({ only, types, rate }) => ({
    only,
    ...(words(types) && { types: words(types) }),
    ...(rate && { rate_per_second: Number(rate) }),
  });
  element.id = "replay";
  return h(
    "section",
    { class: "card", "aria-labelledby": "replay-title" },
    h("h2", { id: "replay-title" }, "Replay events"),
    element,
    begun,
  );
}

function previewing(id) {
  const element = form([
    field("Event", input("event", { placeholder: "evt_…; empty: the sample event below" })),
    field("Type of a sample event", input("type", { value: "order.paid" })),
    field("Data of the sample event", area("data", '{"amount": 1}', { rows: 3 })),
  ], {
    submit: "Preview",
    action: async ({ event, type, data }) => {
      const shown = await post(path`/v1/webhooks/${id}/preview`, event ? { event } : { type, data: parsed(data) });
      return h(
        "div",
        {},
        h(
          "pre",
          { class: "json", tabindex: 0 },
          `${shown.method} ${shown.url}\n` + shown.headers.map(([name, value]) => `${name}: ${value}`).join("\n"),
        ),
        h("h3", {}, "Body"),
        json(pretty(shown.body)),
      );
    },
  });
  return h("details", { class: "card" }, h("summary", {}, "Preview a request"), element);
}

const pretty = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

function editor(hook, save, submit) {
  return form([
    field(
      "Address",
      input("url", { type: "url", required: true, value: hook.url ?? "", placeholder: "https://example.com/hook" }),
    ),
    field(
      "Types",
      input("types", { value: hook.types?.join(", ") ?? "", placeholder: "all except high-volume types" }),
      "Names and patterns like order.*",
    ),
    field("Channels", input("channels", { value: hook.channels?.join(", ") ?? "", placeholder: "all except $system" })),
    field("Filter", input("filter", { value: hook.filter ?? "", placeholder: "data.amount > 100" })),
    field(
      "Format",
      choice("format", [
        "envelope",
        "flat",
        "cloudevents",
        "cloudevents_binary",
        "cloudevents_batch",
        ...(hook.format === "template" ? ["template"] : []),
      ], hook.format ?? "envelope"),
    ),
    field(
      "Order",
      choice("ordering", [["none", "no order, as fast as possible"], ["per_channel", "in order, per channel"], [
        "strict",
        "in order across all channels",
      ]], hook.ordering ?? "none"),
    ),
    field("Description", input("description", { value: hook.description ?? "" })),
  ], {
    submit,
    action: ({ url, types, channels, filter, format, ordering, description }) =>
      save({
        url,
        types: words(types) ?? ["*"],
        channels: words(channels) ?? ["*"],
        filter: filter.trim() || null,
        format,
        ordering,
        description,
      }),
  });
}
