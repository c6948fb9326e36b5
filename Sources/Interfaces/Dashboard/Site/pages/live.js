// Live events, with their rate and delay.
import { path, post } from "../api.js";
import { chart } from "../chart.js";
import { badge, fault, field, fill, form, h, head, input, json, link, notice, time, words } from "../ui.js";

const ROWS = 300;
const KEPT = 2000;

export default function live({ follow, signal }) {
  const list = h("ol", { id: "events", "aria-label": "Events, newest first" });
  const count = h("output", { id: "count", class: "quiet" }, "0 events");
  const quietly = h("p", { class: "blank" }, "Waiting for events. New events appear here.");
  const waiting = [], fresh = [];
  let seen = 0, isPaused = false, stream, planned = false;

  const pause = h("button", { type: "button", id: "pause", "aria-pressed": "false" }, "Pause");
  pause.addEventListener("click", () => {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", isPaused);
    pause.textContent = isPaused ? "Continue" : "Pause";
    if (!isPaused) fresh.push(...waiting.splice(0));
    paint();
  });
  const clear = h("button", { type: "button", id: "clear", onclick: () => fill(list) }, "Clear");
  const needle = input("needle", { id: "needle", type: "search", placeholder: "text in the event", oninput: sift });

  function sift() {
    const text = needle.value.toLowerCase();
    for (const item of list.children) item.hidden = text !== "" && !item.sought.includes(text);
  }

  /**
   * Creates rows once per frame of the screen. With thousands of events a second, most rows would never be visible.
   */
  function paint() {
    planned = false;
    if (signal.aborted) return;
    count.textContent = `${seen} event${seen === 1 ? "" : "s"}` +
      (isPaused && waiting.length ? `, ${waiting.length} waiting` : "");
    quietly.hidden = seen > 0;
    if (!fresh.length) return;
    const rows = fresh.splice(0).slice(-ROWS).reverse().map(row);
    list.prepend(...rows);
    while (list.children.length > ROWS) list.lastChild.remove();
    sift();
  }

  function receive(event) {
    seen++;
    rates.count(event);
    const queue = isPaused ? waiting : fresh;
    queue.push(event);
    if (queue.length > KEPT) queue.shift();
    if (!planned) {
      planned = true;
      requestAnimationFrame(paint);
    }
  }

  const rates = figures(signal);
  const filters = h(
    "form",
    { class: "row", "aria-label": "Selection of events" },
    field("Channels", input("channels", { placeholder: "all; or orders.*, demo" })),
    field("Types", input("types", { placeholder: "all; or message.*" })),
    field("Filter", input("filter", { placeholder: "data.amount > 100" })),
    h("button", {}, "Watch"),
    field("Find", needle),
  );
  const answer = h("div");
  filters.addEventListener("submit", (event) => {
    event.preventDefault();
    watch();
  });

  function watch() {
    const { channels, types, filter } = Object.fromEntries(new FormData(filters));
    fill(answer);
    stream?.close();
    stream = follow({ channels: words(channels), types: words(types), filter: filter.trim() || undefined });
    stream.addEventListener("event", ({ detail }) => receive(detail));
    stream.addEventListener("gap", () => notice("Some events may be missing, because they are no longer stored."));
    stream.addEventListener("state", ({ detail }) => {
      if (detail.state === "closed" && detail.reason) fill(answer, fault(new Error(detail.reason)));
    });
  }

  watch();
  return [
    head("Live", pause, clear, count),
    h("div", { class: "cards figures" }, rates.elements),
    h("div", { class: "split" }, h("div", {}, filters, answer, quietly, list), say()),
  ];
}

/** One event: a line that expands to its details. */
function row(event) {
  const text = JSON.stringify(event.data);
  const more = h("div", { class: "more" });
  const details = h(
    "details",
    {},
    h(
      "summary",
      {},
      time(event.timestamp, "clock"),
      h("span", {}, badge(event.type, "type")),
      h("span", { class: "place wide" }, event.channel, event.user && h("span", { class: "quiet" }, " · ", event.user)),
      h("span", { class: "gist" }, gist(event) ?? text),
    ),
    more,
  );
  details.addEventListener("toggle", () => {
    if (!more.firstChild) {
      more.append(
        json(event),
        h(
          "p",
          {},
          event.ephemeral
            ? h("span", { class: "quiet" }, "This event is not stored, so it cannot be traced.")
            : link("#/events/" + event.id, "Trace this event"),
        ),
      );
    }
  });
  const item = h("li", { class: "new" }, details);
  item.sought = `${event.type} ${event.channel} ${event.user ?? ""} ${text}`.toLowerCase();
  return item;
}

const gist = ({ data }) => typeof data?.text === "string" ? data.text : undefined;

/** Charts of the events per second and of their delay. */
function figures(signal) {
  const rate = chart("Events per second", (value) => value.toLocaleString());
  const delay = chart("Delay until the event reaches this page", (value) => `${Math.round(value)} ms`);
  let events = 0, delays = [], ahead = 0;
  const timer = setInterval(() => {
    rate.add(events);
    delays.sort((a, b) => a - b);
    delay.add(delays.length ? delays[delays.length >> 1] - ahead : null);
    events = 0;
    delays = [];
  }, 1000);
  signal.addEventListener("abort", () => clearInterval(timer));
  return {
    elements: [rate.element, delay.element],
    count(event) {
      events++;
      const took = Date.now() - Number(BigInt(event.timetoken) / 10000n);
      // The clocks of gateway and browser may differ, so the smallest negative delay counts as zero.
      ahead = Math.min(ahead, took);
      delays.push(took);
    },
  };
}

/** A short form that sends a message. */
function say() {
  const element = form([
    field("Channel", input("channel", { value: "demo", required: true })),
    field("User", input("user", { value: "" })),
    field("Message", input("text", { value: "hello", required: true })),
  ], {
    submit: "Send",
    action: async ({ channel, user, text }) => {
      const sent = await post(path`/v1/channels/${channel}/messages`, { text, user: user || undefined });
      return h("p", { class: "quiet" }, "Accepted as ", link("#/events/" + sent.id, sent.id), ".");
    },
    more: [h("a", { class: "button", href: "#/emit" }, "Emit other events")],
  });
  element.id = "emit";
  return h("section", { class: "card", "aria-labelledby": "say" }, h("h2", { id: "say" }, "Send a message"), element);
}
