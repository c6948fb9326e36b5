// The dashboard's frame: sign-in and the choice of the page.
import { call, get, post, remove } from "./api.js";
import { blank, fault, field, fill, form, h, head, input, notice } from "./ui.js";
import { Parley } from "../parley.js";

const pages = [
  ["Watch", [["", "Live", "live"], ["channels", "Channels", "channels"], ["users", "Users", "users"], [
    "emit",
    "Emit",
    "emit",
  ]]],
  ["Incoming", [["types", "Event types", "types"], ["sources", "Sources", "sources"]]],
  ["Outgoing", [["webhooks", "Webhooks", "webhooks"], ["deliveries", "Deliveries", "deliveries"], [
    "streams",
    "Streams",
    "streams",
  ]]],
  ["App", [["keys", "Keys", "keys"], ["activity", "Activity", "activity"], ["events", null, "event"]]],
];
const routes = new Map(pages.flatMap(([, items]) => items.map(([path, title, file]) => [path, { title, file }])));
const $ = (id) => document.getElementById(id);
const session = { who: null };
let leaving = new AbortController();

// MARK: signing in

async function start() {
  const who = await get("/v1/session").catch((error) => {
    notice(error.message);
    return null;
  });
  if (who) return enter(who);
  // The development key is not secret, so the page signs in with it unless the user has just signed out.
  const isKnown = document.documentElement.dataset.mode === "dev" && !sessionStorage.getItem("left");
  if (isKnown) {
    try {
      return enter(await post("/v1/session", { key: "dev" }));
    } catch { /* another key was set */ }
  }
  ask();
}

function ask() {
  document.body.classList.add("alone");
  [$("menu"), $("state"), $("sign-out")].forEach((part) => {
    part.hidden = true;
  });
  $("app-name").textContent = "";
  document.title = "Sign in · Parley";
  const isDevelopment = document.documentElement.dataset.mode === "dev";
  const key = input("key", {
    type: "password",
    required: true,
    value: isDevelopment ? "dev" : "",
    autocomplete: "current-password",
  });
  const page = h(
    "div",
    { class: "sign-in card" },
    head("Sign in"),
    form([field(
      "API key",
      key,
      isDevelopment
        ? "In development, the key is “dev”."
        : "At its first start, the gateway showed the first key on its terminal or wrote it to the file admin-key.",
    )], {
      submit: "Sign in",
      action: async ({ key }) => {
        const who = await call("POST", "/v1/session", { key: key.trim() });
        sessionStorage.removeItem("left");
        enter(who);
      },
    }),
  );
  fill($("main"), page);
  key.focus();
}

function enter(who) {
  session.who = who;
  document.body.classList.remove("alone");
  $("menu").hidden = $("sign-out").hidden = false;
  $("app-name").textContent = who.app.name;
  fill(
    $("menu"),
    pages.map(([title, items]) => [
      h("h2", {}, title),
      h(
        "ul",
        {},
        items.filter(([, title]) => title).map(([path, title]) => h("li", {}, h("a", { href: "#/" + path }, title))),
        title === "App" && h("li", {}, h("a", { href: "/docs" }, "API reference")),
      ),
    ]),
  );
  show();
}

/** Opens a page's stream, which ends when the user leaves the page. All tabs of the same sign-in share one stream. */
function follow(options, signal) {
  const stream = new Parley({
    url: location.origin,
    share: session.who.app.id + " " + session.who.credential,
    ...options,
  });
  stream.addEventListener("state", ({ detail }) => {
    if (!signal.aborted) say(detail.state, detail.reason);
  });
  signal.addEventListener("abort", () => stream.close());
  say("connecting");
  return stream;
}

function say(state, reason) {
  const shown = $("state");
  shown.hidden = false;
  shown.dataset.state = state;
  shown.textContent = state === "live" ? "live" : reason ? `${state}: ${reason}` : state;
}

function leave() {
  leaving.abort();
  session.who = null;
}

$("sign-out").addEventListener("click", async () => {
  leave();
  await remove("/v1/session");
  sessionStorage.setItem("left", "yes");
  ask();
});

addEventListener("signed-out", () => {
  if (!session.who) return;
  leave();
  ask();
  notice("The session has ended.");
});

// MARK: pages

const opened = () => location.hash.replace(/^#\/?/, "").split("?");

/** The decoded segments of a page's path; an empty list, which matches no page, for an invalid encoding. */
function parts(path) {
  try {
    return path.split("/").map(decodeURIComponent);
  } catch {
    return [];
  }
}

async function show() {
  if (!session.who) return;
  leaving.abort();
  const { signal } = leaving = new AbortController();
  $("state").hidden = true;
  const [path, search] = opened();
  const [name, ...rest] = parts(path);
  const route = routes.get(name);
  for (const item of $("menu").querySelectorAll("a")) {
    if (item.getAttribute("href") === "#/" + name) {
      item.setAttribute("aria-current", "page");
      item.scrollIntoView({ block: "nearest", inline: "center" });
    } else item.removeAttribute("aria-current");
  }
  const main = $("main");
  try {
    if (!route) throw new Error("There is no such page.");
    const { default: page } = await import(`./pages/${route.file}.js`);
    const content = await page({
      rest,
      query: new URLSearchParams(search),
      signal,
      who: session.who,
      follow: (options) => follow(options, signal),
      reload: () => {
        if (!signal.aborted) show();
      },
    });
    if (signal.aborted) return;
    fill(main, content);
  } catch (error) {
    if (signal.aborted) return;
    fill(
      main,
      head(route ? route.title ?? "Event" : "Not found"),
      error.status === 404 ? blank("The object does not exist, or it was deleted.") : fault(error),
    );
  }
  const title = main.querySelector("h1");
  document.title = `${title?.textContent ?? "Parley"} · Parley`;
  if (
    document.activeElement === document.body || document.activeElement?.closest("#menu, #main") ||
    !document.activeElement
  ) title?.focus({ preventScroll: false });
}

addEventListener("hashchange", show);
start();
