// swift-format-ignore-file
// Made by scripts/embed-site from the folder Site; change that one.

extension SiteFile {
    static let all: [SiteFile] = [
        SiteFile("api.js", tag: "d46c1fd4651ace1d", text: #"""
            // Requests to the gateway's public API, in the name of whoever has signed in.

            /** A refusal, in the gateway's words (RFC 9457). */
            export class Refused extends Error {
              constructor(status, problem) {
                super(problem.detail ?? problem.title ?? `The gateway answered ${status}.`);
                Object.assign(this, { status, problem, code: problem.code });
              }
            }

            /** A path of texts: path`/v1/channels/${name}/events`. */
            export const path = (parts, ...values) =>
              parts.reduce((all, part, index) => all + encodeURIComponent(values[index - 1]) + part);

            /** `?a=1&b=2` of what is there; lists repeat their name. */
            export function query(values) {
              const query = new URLSearchParams();
              for (const [name, value] of Object.entries(values)) {
                for (const one of [value ?? []].flat()) if (one !== "") query.append(name, one);
              }
              return query.size ? "?" + query : "";
            }

            export async function call(method, path, body, headers = {}) {
              let answer;
              try {
                answer = await fetch(path, {
                  method,
                  cache: "no-store",
                  headers: body === undefined ? headers : { "content-type": "application/json", ...headers },
                  body: body === undefined || typeof body === "string" ? body : JSON.stringify(body),
                });
              } catch {
                throw new Error("The gateway cannot be reached.");
              }
              const text = await answer.text();
              const json = text && answer.headers.get("content-type")?.includes("json") ? JSON.parse(text) : null;
              if (answer.ok) return json ?? text;
              if (answer.status === 401) dispatchEvent(new Event("signed-out"));
              throw new Refused(answer.status, json ?? {});
            }

            export const get = (path) => call("GET", path);
            export const post = (path, body = {}) => call("POST", path, body);
            export const put = (path, body = {}) => call("PUT", path, body);
            export const patch = (path, body = {}) => call("PATCH", path, body);
            export const remove = (path) => call("DELETE", path);

            /** What is asked for, or null where there is none. */
            export const found = (promise) =>
              promise.catch((error) => {
                if (error.status === 404) return null;
                throw error;
              });

            """#),
        SiteFile("app.js", tag: "aa0bcb0ffc2af50b", text: #"""
            // The dashboard: who is signed in, which page is shown.
            import { call, get, post, remove } from "./api.js";
            import { blank, fault, field, fill, form, h, head, input, notice } from "./ui.js";
            import { Parley } from "../parley.js";

            const pages = [
              ["Watch", [["", "Live", "live"], ["channels", "Channels", "channels"], ["users", "Users", "users"], [
                "emit",
                "Emit",
                "emit",
              ]]],
              ["Ways in", [["types", "Event types", "types"], ["sources", "Sources", "sources"]]],
              ["Ways out", [["webhooks", "Webhooks", "webhooks"], ["deliveries", "Deliveries", "deliveries"], [
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
              // The key of development is no secret: the page is there at once, unless somebody has just left it.
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
                    : "The first one was shown when the gateway started for the first time.",
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

            /** Opens a page's stream; tabs that want the like of it share one. It ends when the page is left. */
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

            /** The parts of a page's path; none where it is no encoded text, which is no page. */
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
                  error.status === 404 ? blank("There is no such thing, or not any more.") : fault(error),
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

            """#),
        SiteFile("chart.js", tag: "2998642c7d843745", text: #"""
            // A small chart: values over the last while, and what they are now in words.
            import { h } from "./ui.js";

            const SVG = "http://www.w3.org/2000/svg";

            function draw(name, attributes) {
              const element = document.createElementNS(SVG, name);
              for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
              return element;
            }

            /** `add(value)` moves it on by one step of `steps`, and leaves a gap for null; `text(value)` says a value. */
            export function chart(title, text, { steps = 60 } = {}) {
              const values = [];
              const figure = h("span", { class: "figure" }, "–");
              const peak = h("span", { class: "quiet small" });
              const line = draw("path", {}), area = draw("path", { class: "area" });
              const svg = draw("svg", {
                class: "chart",
                viewBox: `0 0 ${steps - 1} 20`,
                preserveAspectRatio: "none",
                "aria-hidden": "true",
              });
              svg.append(area, line);
              const element = h(
                "div",
                { class: "card" },
                h("h2", { class: "small quiet" }, title),
                h("p", {}, figure, " ", peak),
                svg,
              );
              const add = (value) => {
                values.push(value);
                if (values.length > steps) values.shift();
                const known = values.filter((value) => value !== null);
                const most = Math.max(...known, 0);
                figure.textContent = value === null ? "–" : text(value);
                peak.textContent = known.length ? `at most ${text(most)}` : "";
                const from = steps - values.length;
                const runs = [];
                values.forEach((value, index) => {
                  if (value === null) return;
                  if (index === 0 || values[index - 1] === null) runs.push({ start: from + index, points: [] });
                  runs.at(-1).points.push(`${from + index} ${(20 - 19 * (most ? value / most : 0)).toFixed(2)}`);
                });
                // A run of one is a dot: a line of no length with round ends.
                line.setAttribute("d", runs.map(({ points }) => `M${points.join("L")}h0`).join(""));
                const under = ({ start, points }) => `M${start} 20L${points.join("L")}L${start + points.length - 1} 20Z`;
                area.setAttribute("d", runs.map(under).join(""));
              };
              return { element, add };
            }

            """#),
        SiteFile("docs.css", tag: "091c23235141c3fc", text: #"""
            /* The API reference, on top of style.css. */
            body.docs { grid-template-columns: 17rem minmax(0, 1fr); }
            .docs #menu { height: 100vh; overflow-y: auto; position: sticky; top: 0; }
            .docs main { max-width: 64rem; }
            .find { margin-left: auto; display: flex; gap: .5rem; align-items: center; font-weight: 600; }
            .docs #menu details > summary { cursor: pointer; padding: .25rem .5rem; font-weight: 600; }
            .docs #menu a { padding: .15rem .5rem .15rem 1rem; font-size: .929rem; }
            .operation { scroll-margin-top: .5rem; }
            .operation > summary, .schema > summary { cursor: pointer; display: flex; flex-wrap: wrap; gap: .25rem .6rem; align-items: baseline; padding: .2rem 0; }
            .operation > summary::-webkit-details-marker, .schema > summary::-webkit-details-marker { display: none; }
            .operation > summary h3, .schema > summary h3 { margin: 0; font-size: 1rem; }
            .operation > summary code { overflow-wrap: anywhere; }
            .method { font: 600 .786rem/1.6 var(--mono); padding: 0 .4rem; border-radius: .25rem; min-width: 4.2rem; text-align: center;
              background: var(--raised); color: var(--text); }
            .method.get { background: var(--accent-ground); color: var(--accent); } .method.post, .method.put { background: var(--good-ground); color: var(--good); }
            .method.patch { background: var(--warn-ground); color: var(--warn); } .method.delete { background: var(--bad-ground); color: var(--bad); }
            .members { list-style: none; margin: .25rem 0; padding-left: .9rem; border-left: 2px solid var(--line); }
            .members > li { padding: .2rem 0; }
            .members p { margin: 0; }
            .operation details > summary, .schema details > summary { cursor: pointer; }
            .operation details > .members, .schema details > .members { margin-left: .25rem; }
            .must { color: var(--bad); font-size: .857rem; }
            @media (max-width: 50rem) {
              body.docs { grid-template-columns: minmax(0, 1fr); }
              .docs #menu { display: block; height: auto; max-height: 30vh; position: static; }
              .find { width: 100%; } .find input { flex: 1; }
            }

            """#),
        SiteFile("docs.html", tag: "51b8c86dec65f5be", text: #"""
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>API reference · Parley</title>
            <link rel="icon" href="/dashboard/icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="/dashboard/style.css">
            <link rel="stylesheet" href="/dashboard/docs.css">
            <script type="module" src="/dashboard/docs.js"></script>
            </head>
            <body class="docs">
            <a class="skip" href="#main">Skip to content</a>
            <header id="top">
            <a class="brand" href="/"><img src="/dashboard/icon.svg" alt="" width="22" height="22"> Parley</a>
            <span class="quiet">API reference</span>
            <label class="find">Find <input id="find" type="search" autocomplete="off" placeholder="an operation, a path, a word"></label>
            </header>
            <nav id="menu" aria-label="Operations"></nav>
            <main id="main" tabindex="-1"><h1>API reference</h1><p class="blank">Reading the description …</p></main>
            <noscript><p class="blank">The same in plain text: <a href="/openapi.yaml">openapi.yaml</a>.</p></noscript>
            </body>
            </html>

            """#),
        SiteFile("docs.js", tag: "206e91db27f1663d", text: #"""
            // The API reference, made from the gateway's own description while it is looked at.
            import { badge, blank, fill, h, json } from "./ui.js";
            import { parseYAML } from "./yaml.js";

            const METHODS = ["get", "post", "put", "patch", "delete", "options"];
            const $ = (id) => document.getElementById(id);
            let api;

            const resolve = (node) => node?.$ref ? node.$ref.slice(2).split("/").reduce((at, name) => at?.[name], api) : node;
            const nameOf = (reference) => reference.split("/").at(-1);

            /** `code` in prose. */
            const marked = (text) =>
              text.split(/(`[^`]+`)/).map((piece) => /^`.+`$/.test(piece) ? h("code", {}, piece.slice(1, -1)) : piece);

            const paragraphs = (text) => String(text ?? "").trim().split(/\n\s*\n/).filter(Boolean);
            const prose = (text) => paragraphs(text).map((part) => h("p", {}, marked(part)));

            // MARK: operations

            function operations() {
              const all = [];
              for (const [path, item] of Object.entries(api.paths)) {
                for (const method of METHODS) {
                  if (item[method]) {
                    all.push({
                      path,
                      method,
                      ...item[method],
                      parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])],
                    });
                  }
                }
              }
              return all;
            }

            function operation(one) {
              const details = h(
                "details",
                { class: "operation card", id: one.operationId },
                h(
                  "summary",
                  {},
                  h("span", { class: "method " + one.method }, one.method.toUpperCase()),
                  h("h3", {}, one.summary),
                  h("code", {}, one.path),
                ),
              );
              // Two hundred of them: each is written out when it is opened.
              details.addEventListener("toggle", () => {
                if (details.open && details.children.length === 1) details.append(...body(one));
              });
              details.sought = [one.operationId, one.path, one.method, one.summary, one.description, one.tags].join(" ")
                .toLowerCase();
              return details;
            }

            function body(one) {
              const parameters = one.parameters.map(resolve);
              const request = resolve(one.requestBody);
              return [
                h(
                  "div",
                  {},
                  prose(one.description),
                  h(
                    "p",
                    { class: "small" },
                    h("a", { href: "#" + one.operationId }, "#" + one.operationId),
                    one.security?.length === 0 && [" ", badge("needs no key")],
                  ),
                  parameters.length > 0 && [
                    h("h4", {}, "Parameters"),
                    h(
                      "ul",
                      { class: "members" },
                      parameters.map((parameter) =>
                        member(parameter.name, parameter.schema, parameter.required, [
                          badge(parameter.in),
                          ...prose(parameter.description),
                        ])
                      ),
                    ),
                  ],
                  request && [h("h4", {}, "Body"), content(request)],
                  h("h4", {}, "Answers"),
                  h(
                    "ul",
                    { class: "members" },
                    Object.entries(one.responses).map(([status, response]) => answer(status, resolve(response))),
                  ),
                  h("h4", {}, "Try it"),
                  h("pre", { class: "json", tabindex: 0 }, curl(one, parameters, request)),
                ),
              ];
            }

            function answer(status, response) {
              const kind = status < 300 ? "good" : status < 400 ? "" : "bad";
              const head = [badge(status, kind), " ", marked(paragraphs(response.description)[0] ?? "")];
              // Problems all look alike.
              if (!response.content || status >= 400) return h("li", {}, head);
              return h("li", {}, h("details", { open: status < 300 }, h("summary", {}, head), content(response)));
            }

            const content = ({ content = {} }) =>
              Object.entries(content).map(([type, { schema, example }]) =>
                h(
                  "div",
                  {},
                  h("p", { class: "quiet small" }, type),
                  schema && shape(schema),
                  example !== undefined && json(example),
                )
              );

            function curl(one, parameters, request) {
              const query = parameters.filter((parameter) => parameter.in === "query" && parameter.required).map((parameter) =>
                `${parameter.name}=…`
              );
              const path = one.path.replace(/{(\w+)}/g, (_, name) => name.toUpperCase());
              const parts = [
                "curl",
                one.method !== "get" && !(one.method === "post" && request) && `-X ${one.method.toUpperCase()}`,
                one.security?.length !== 0 && `-H "Authorization: Bearer $PARLEY_KEY"`,
                request && `--json '${JSON.stringify(sample(Object.values(request.content)[0]))}'`,
                `"${location.origin}${path}${query.length ? "?" + query.join("&") : ""}"`,
              ];
              return parts.filter(Boolean).join(" \\\n  ");
            }

            /** A body with what is required. */
            function sample({ example, schema }) {
              if (example !== undefined) return example;
              const made = (node, depth) => {
                const inner = resolve(node) ?? {};
                if (inner.default !== undefined) return inner.default;
                if (inner.const !== undefined) return inner.const;
                if (inner.enum) return inner.enum[0];
                const type = [inner.type].flat()[0] ?? (inner.properties ? "object" : undefined);
                if (type === "object" && depth < 3) {
                  return Object.fromEntries(
                    (inner.required ?? []).map((name) => [name, made(inner.properties?.[name], depth + 1)]),
                  );
                }
                return {
                  string: "…",
                  integer: 1,
                  number: 1,
                  boolean: true,
                  array: inner.items && depth < 3 ? [made(inner.items, depth + 1)] : [],
                  object: {},
                }[type] ?? {};
              };
              return made(schema, 0);
            }

            // MARK: schemas

            const typeOf = (schema) =>
              schema === true ? "anything" : [
                [
                  schema.type ?? (schema.enum
                    ? "one of"
                    : schema.const !== undefined
                    ? "constant"
                    : schema.properties
                    ? "object"
                    : schema.oneOf || schema.anyOf
                    ? "one of"
                    : ""),
                ].flat().join(" or "),
                schema.type === "array" && schema.items &&
                " of " + (schema.items.$ref ? nameOf(schema.items.$ref) : typeOf(schema.items)),
              ].filter(Boolean).join("");

            const BOUNDS = {
              format: "",
              pattern: "pattern ",
              minLength: "at least characters: ",
              maxLength: "at most characters: ",
              minimum: "≥ ",
              maximum: "≤ ",
              minItems: "at least items: ",
              maxItems: "at most items: ",
              maxProperties: "at most members: ",
              default: "default ",
            };
            const bounds = (schema) =>
              Object.entries(BOUNDS).filter(([name]) => schema[name] !== undefined).map(([name, text]) =>
                text + (typeof schema[name] === "string" ? schema[name] : JSON.stringify(schema[name]))
              );

            /** A member: its name, what it may be, and what is inside. */
            function member(name, schema = {}, isRequired, more = []) {
              const own = schema.$ref ? { ...schema, $ref: undefined } : schema;
              return h(
                "li",
                {},
                h(
                  "p",
                  {},
                  h("code", {}, name),
                  " ",
                  !schema.$ref && h("span", { class: "quiet small" }, typeOf(schema)),
                  isRequired && [" ", h("span", { class: "must" }, "required")],
                  bounds(own).map((text) => [" ", badge(text)]),
                  schema.enum && [" ", schema.enum.map((value) => [h("code", {}, JSON.stringify(value)), " "])],
                ),
                prose(schema.description),
                more,
                schema.$ref ? unfolding(schema.$ref) : inside(schema),
              );
            }

            /** A schema of the list below, unfolded in place; what is inside is written when it is opened. */
            function unfolding(ref, isOpen = false) {
              const schema = resolve({ $ref: ref });
              const isListed = nameOf(ref) in api.components.schemas;
              const details = h(
                "details",
                {},
                h("summary", {}, nameOf(ref), " ", h("span", { class: "quiet small" }, typeOf(schema))),
              );
              details.addEventListener("toggle", () => {
                if (details.open && details.children.length === 1) {
                  details.append(
                    ...prose(schema.description),
                    ...bounds(schema).map((text) => badge(text)),
                    ...inside(schema).flat(3),
                    ...(isListed ? [h("p", { class: "small" }, h("a", { href: "#schema-" + nameOf(ref) }, "in the list"))] : []),
                  );
                }
              });
              details.open = isOpen;
              return details;
            }

            function inside(schema) {
              const parts = [];
              if (schema.properties) {
                parts.push(h(
                  "ul",
                  { class: "members" },
                  Object.entries(schema.properties).map(([name, inner]) => member(name, inner, schema.required?.includes(name))),
                ));
              }
              if (schema.items?.$ref) parts.push(h("p", { class: "quiet small" }, "each"), unfolding(schema.items.$ref));
              else if (schema.items) parts.push(inside(schema.items));
              for (const [key, text] of [["allOf", "all of"], ["oneOf", "one of"], ["anyOf", "one of"]]) {
                if (schema[key]) {
                  parts.push(
                    h("p", { class: "quiet small" }, text),
                    h(
                      "ul",
                      { class: "members" },
                      schema[key].map((inner) =>
                        inner.$ref
                          ? h("li", {}, unfolding(inner.$ref, key === "allOf"))
                          : h("li", {}, typeOf(inner), prose(inner.description), inside(inner))
                      ),
                    ),
                  );
                }
              }
              if (schema.additionalProperties?.$ref) {
                parts.push(h("p", { class: "quiet small" }, "every member"), unfolding(schema.additionalProperties.$ref));
              }
              return parts;
            }

            const shape = (schema) =>
              schema.$ref
                ? unfolding(schema.$ref, true)
                : h("div", {}, h("p", { class: "quiet small" }, typeOf(schema)), prose(schema.description), inside(schema));

            function component(name, schema) {
              const details = h(
                "details",
                { class: "schema card", id: "schema-" + name },
                h("summary", {}, h("h3", {}, name), h("span", { class: "quiet small" }, typeOf(schema))),
              );
              details.addEventListener("toggle", () => {
                if (details.open && details.children.length === 1) {
                  details.append(shape(schema), ...(schema.example !== undefined ? [json(schema.example)] : []));
                }
              });
              details.sought = (name + " " + JSON.stringify(schema)).toLowerCase();
              return details;
            }

            // MARK: the page

            function show() {
              const all = operations(), groups = [];
              for (const { name, description } of api.tags) {
                const its = all.filter((one) => one.tags.includes(name));
                if (its.length) {
                  groups.push({
                    id: "tag-" + name.replaceAll(" ", "-"),
                    name,
                    description,
                    items: its.map((one) => [operation(one), one.summary]),
                  });
                }
              }
              groups.push({
                id: "schemas",
                name: "schemas",
                description: "What bodies and answers are made of.",
                items: Object.entries(api.components.schemas).map(([name, schema]) => [component(name, schema), name]),
              });
              fill(
                $("main"),
                h("h1", { tabindex: -1 }, `${api.info.title} ${api.info.version}`),
                prose(api.info.description),
                h(
                  "p",
                  {},
                  "The same for programs: ",
                  h("a", { href: "/openapi.yaml" }, "openapi.yaml"),
                  ", and the app's events for AsyncAPI tools at ",
                  h("code", {}, "/v1/asyncapi.json"),
                  ".",
                ),
                h("p", { id: "none", class: "blank", hidden: true }, "Nothing of that name."),
                groups.map((group) =>
                  h(
                    "section",
                    { id: group.id },
                    h("h2", {}, group.name[0].toUpperCase() + group.name.slice(1)),
                    prose(group.description),
                    group.items.map(([element]) => element),
                  )
                ),
              );
              fill(
                $("menu"),
                groups.map((group) =>
                  h(
                    "details",
                    {},
                    h("summary", {}, group.name),
                    h("ul", {}, group.items.map(([element, title]) => h("li", {}, h("a", { href: "#" + element.id }, title)))),
                  )
                ),
              );
            }

            function find() {
              const wanted = $("find").value.toLowerCase().split(/\s+/).filter(Boolean);
              let any = false;
              for (const section of $("main").querySelectorAll("section")) {
                let some = false;
                for (const item of section.querySelectorAll(":scope > details")) {
                  item.hidden = !wanted.every((word) => item.sought.includes(word));
                  some ||= !item.hidden;
                }
                section.hidden = !some;
                any ||= some;
              }
              $("none").hidden = any;
            }

            /** Opens what the address names. */
            function go() {
              const target = $(decodeURIComponent(location.hash.slice(1)));
              if (!target) return;
              if (target.hidden || target.closest("section")?.hidden) {
                $("find").value = "";
                find();
              }
              if (target.tagName === "DETAILS") target.open = true;
              target.scrollIntoView();
              target.querySelector("summary")?.focus({ preventScroll: true });
            }

            try {
              const answer = await fetch("/openapi.yaml");
              api = parseYAML(await answer.text());
              show();
              $("find").addEventListener("input", find);
              addEventListener("hashchange", go);
              go();
            } catch (error) {
              fill($("main"), h("h1", {}, "API reference"), blank(`The description could not be read: ${error.message}`));
            }

            """#),
        SiteFile("icon.svg", tag: "82473d08de2dca58", text: #"""
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">
            <path fill="#2f6fde" d="M4 3h12a3 3 0 0 1 3 3v5a3 3 0 0 1-3 3H9l-4 3.5V14H4a3 3 0 0 1-3-3V6a3 3 0 0 1 3-3z"/>
            <path fill="#7fb0ff" d="M21 9.5A3 3 0 0 1 23 12v4a3 3 0 0 1-3 3h-1v3l-3.6-3H12a3 3 0 0 1-2.8-2H16a5 5 0 0 0 5-5z"/>
            </svg>

            """#),
        SiteFile("index.html", tag: "5491c3a31fe07ff3", text: #"""
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>Parley</title>
            <link rel="icon" href="/dashboard/icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="/dashboard/style.css">
            <script type="module" src="/dashboard/app.js"></script>
            </head>
            <body>
            <a class="skip" href="#main">Skip to content</a>
            <header id="top">
            <a class="brand" href="#/"><img src="/dashboard/icon.svg" alt="" width="22" height="22"> Parley</a>
            <span id="app-name" class="quiet"></span>
            <p id="state" class="state" role="status" hidden></p>
            <button type="button" id="sign-out" class="plain" hidden>Sign out</button>
            </header>
            <nav id="menu" aria-label="Sections" hidden></nav>
            <main id="main" tabindex="-1"></main>
            <div id="notices" role="status" aria-live="polite"></div>
            <noscript><p class="blank">This page needs JavaScript. Everything it shows comes from the API that <a href="/openapi.yaml">openapi.yaml</a> describes.</p></noscript>
            </body>
            </html>

            """#),
        SiteFile("job.js", tag: "67bdf36471616415", text: #"""
            // A job of the gateway, watched until it is over.
            import { get, path, post } from "./api.js";
            import { button, facts, h, status } from "./ui.js";

            /** `onEnd` is called when a job that ran is over; `receiver` shows its webhook. */
            export function job(first, { receiver, onEnd } = {}) {
              const box = h("div", { class: "job" });
              const isOver = (one) => ["done", "cancelled", "failed"].includes(one.state);
              const show = (one) => {
                const act = (verb) => async () => watch(await post(path`/v1/jobs/${one.id}` + "/" + verb));
                box.replaceChildren(...[
                  h(
                    "p",
                    {},
                    h("strong", {}, one.kind),
                    " ",
                    status(one.state),
                    " ",
                    one.webhook && receiver?.(one.webhook),
                  ),
                  h("progress", {
                    max: Math.max(one.count, one.done + one.skipped, 1),
                    value: isOver(one) ? Math.max(one.count, 1) : one.done + one.skipped,
                    "aria-label": "How far it has come",
                  }),
                  facts([["Done", `${one.done} of ${one.count_is_exact ? "" : "at least "}${one.count}`], [
                    "Left alone",
                    one.skipped,
                  ], ["Why it failed", one.reason ?? undefined]]),
                  !isOver(one) &&
                  h(
                    "div",
                    { class: "tools" },
                    one.state === "paused" ? button("Go on", act("resume")) : button("Rest", act("pause")),
                    button("Stop", act("cancel"), "danger"),
                  ),
                ].filter(Boolean));
              };
              const watch = async (one) => {
                show(one);
                // Looked at again only while somebody sees it.
                while (!isOver(one)) {
                  await new Promise((done) => setTimeout(done, 700));
                  if (!box.isConnected) return;
                  one = await get(path`/v1/jobs/${one.id}`);
                  show(one);
                }
                onEnd?.();
              };
              if (isOver(first) && !onEnd) show(first);
              else queueMicrotask(() => watch(first));
              return box;
            }

            """#),
        SiteFile("pages/activity.js", tag: "074cabbaaef4809a", text: #"""
            // Who changed what, and what was refused.
            import { get, query } from "../api.js";
            import { badge, choice, field, fill, form, h, head, input, pages, table, time } from "../ui.js";

            export default async function activity() {
              const list = h("div");
              const load = async ({ action, actor, result }) =>
                fill(
                  list,
                  await pages((cursor) => get("/v1/audit" + query({ action, actor, result, cursor })), (rows) =>
                    table(
                      [
                        ["When", (row) => time(row.at)],
                        ["What", (row) => h("code", {}, row.action)],
                        ["Of", (row) => row.resource ?? "–"],
                        ["By", (row) => [row.actor ?? "nobody known", row.user && ` for ${row.user}`]],
                        ["From", (row) => row.address ?? "–"],
                        ["Result", (row) => [badge(row.result, row.result === "done" ? "good" : "bad"), " ", row.code]],
                      ],
                      rows,
                      { label: "Activity", empty: "Nothing of the kind." },
                    )),
                );
              await load({});
              return [
                head("Activity"),
                form([
                  field("Action", input("action", { placeholder: "all; or key.*" })),
                  field("Credential", input("actor", { placeholder: "key_…" })),
                  field("Result", choice("result", [["", "all"], "done", "refused"], "")),
                ], { submit: "Show", kind: "row", action: load }),
                list,
              ];
            }

            """#),
        SiteFile("pages/channels.js", tag: "bc9311a9f3990260", text: #"""
            // Channels as the app keeps them; of one: its members, who is there now, and what was said.
            import { found, get, path, post, put, query, remove } from "../api.js";
            import {
              badge,
              blank,
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
              timeOf,
              words,
            } from "../ui.js";

            const to = (name) => "#/channels/" + encodeURIComponent(name);
            const toUser = (name) => link("#/users/" + encodeURIComponent(name), name);

            export default function channels(view) {
              const [name] = view.rest;
              if (name === undefined) return all();
              return one(view, name);
            }

            async function all() {
              const list = h("div");
              const load = async ({ filter }) =>
                fill(
                  list,
                  await pages(
                    (cursor) => get("/v1/channels" + query({ filter, cursor, total: true, sort: "updated:desc" })),
                    (rows) =>
                      table(
                        [
                          ["Channel", (row) => link(to(row.id), row.id)],
                          ["Name", (row) => row.name ?? "–"],
                          ["Kind", (row) => [badge(row.kind), row.frozen && [" ", badge("frozen", "warn")]]],
                          ["Members", (row) => row.member_count ?? "–", "number"],
                          ["Changed", (row) => time(row.updated_at)],
                        ],
                        rows,
                        {
                          caption: "Channels with a record",
                          empty: "None has a record.",
                        },
                      ),
                  ),
                );
              await load({});
              return [
                head("Channels"),
                form([field("Open by name", input("name", { required: true, placeholder: "demo" }))], {
                  submit: "Open",
                  kind: "row",
                  action: ({ name }) => {
                    location.hash = to(name);
                  },
                }),
                form([field("Condition", input("filter", { placeholder: "name LIKE 'An*'" }))], {
                  submit: "Find",
                  kind: "row",
                  action: load,
                }),
                h(
                  "p",
                  { class: "quiet" },
                  "A channel exists by being used. Only those with a record are listed; open others by name.",
                ),
                list,
                h(
                  "details",
                  { class: "card" },
                  h("summary", {}, "Make a channel"),
                  form([
                    field("Id", input("id", { placeholder: "made up when empty" })),
                    field(
                      "Kind",
                      choice("kind", [["public", "public: anyone may join"], ["group", "group: by invitation"], [
                        "open",
                        "open: enter and leave",
                      ], ["direct", "direct: between two"]]),
                    ),
                    field("Name", input("name")),
                    field("First members", input("users", { placeholder: "ana, ben" })),
                  ], {
                    submit: "Make",
                    action: async ({ id, kind, name, users }) => {
                      const made = await post("/v1/channels", {
                        ...(id && { id }),
                        kind,
                        ...(name && { name }),
                        ...(words(users) && { users: words(users) }),
                      });
                      location.hash = to(made.id);
                    },
                  }),
                ),
              ];
            }

            async function one(view, name) {
              const record = await found(get(path`/v1/channels/${name}`));
              const isOpen = record?.kind === "open";
              const again = () => view.reload();
              const [present, inside] = await Promise.all([
                get(path`/v1/channels/${name}/presence` + "?limit=100"),
                isOpen ? get(path`/v1/channels/${name}/participants` + "?limit=100") : null,
              ]);
              const history = await pages(
                (cursor) => get(path`/v1/channels/${name}/events` + query({ order: "desc", limit: 25, cursor })),
                (rows) =>
                  rows.length
                    ? h(
                      "ol",
                      { id: "events", class: "history" },
                      rows.map((event) =>
                        h(
                          "li",
                          {},
                          h(
                            "details",
                            {},
                            h(
                              "summary",
                              {},
                              time(event.timestamp, "short"),
                              h("span", {}, badge(event.type, "type")),
                              h("span", { class: "place" }, event.user ?? ""),
                              h("span", { class: "gist" }, event.data?.text ?? JSON.stringify(event.data)),
                            ),
                            h("div", { class: "more" }, json(event), h("p", {}, link("#/events/" + event.id, "Trace this event"))),
                          ),
                        )
                      ),
                    )
                    : blank("Nothing is kept of this channel."),
              );
              return [
                head(
                  name,
                  record && badge(record.kind),
                  record?.frozen && badge("frozen", "warn"),
                  link("#/emit?channel=" + encodeURIComponent(name), "Emit here"),
                  record && button(record.frozen ? "Unfreeze" : "Freeze", async () => {
                    await (record.frozen ? remove : put)(path`/v1/channels/${name}/freeze`);
                    again();
                  }),
                  record && button("Delete", async () => {
                    if (
                      !await confirmed(
                        `Delete ${name}?`,
                        "Delete",
                        h("p", {}, "Its record and its members go; what was said in it stays in its history."),
                      )
                    ) return;
                    await remove(path`/v1/channels/${name}`);
                    location.hash = "#/channels";
                  }, "danger"),
                ),
                h(
                  "div",
                  { class: "split" },
                  h("section", {}, h("h2", {}, "History"), history),
                  h(
                    "div",
                    {},
                    record
                      ? h(
                        "div",
                        { class: "card" },
                        facts([
                          ["Name", record.name],
                          ["What for", record.description],
                          ["Made by", record.created_by ?? "the app"],
                          ["Made", timeOf(record.created_timetoken)],
                          ["Operators", record.operators.length ? record.operators.map((user) => [toUser(user), " "]) : null],
                          ["Members", record.member_count ?? undefined],
                          ["Kept with it", record.custom ? json(record.custom) : undefined],
                        ]),
                      )
                      : blank("It has no record: it exists by being used."),
                    h(
                      "section",
                      { class: "card" },
                      h("h2", {}, "Present now"),
                      people(present, (row) => row.state && h("code", {}, JSON.stringify(row.state))),
                    ),
                    inside && h("section", { class: "card" }, h("h2", {}, "Inside"), people(inside, () => null)),
                    record && !isOpen && await members(name, again),
                  ),
                ),
              ];
            }

            const people = (page, more) =>
              page.data.length
                ? h("ul", {}, page.data.map((row) => h("li", {}, toUser(row.user), " ", more(row))))
                : h("p", { class: "quiet" }, "Nobody.");

            async function members(name, again) {
              const list = await pages((cursor) => get(path`/v1/channels/${name}/members` + query({ cursor })), (rows) =>
                table(
                  [
                    ["User", (row) => toUser(row.user)],
                    ["State", (row) => [status(row.state), row.role === "operator" && [" ", badge("operator")]]],
                    ["Read up to", (row) => timeOf(row.read_timetoken)],
                    ["", (row) =>
                      button("Remove", async () => {
                        await remove(path`/v1/channels/${name}/members/${row.user}`);
                        again();
                      }, "plain")],
                  ],
                  rows,
                  { caption: "Members", empty: "No members." },
                ));
              return h(
                "section",
                {},
                list,
                form([field("User", input("user", { required: true }))], {
                  submit: "Add",
                  kind: "row",
                  action: async ({ user }) => {
                    await put(path`/v1/channels/${name}/members/${user}`);
                    notice("Added.");
                    again();
                  },
                }),
              );
            }

            """#),
        SiteFile("pages/deliveries.js", tag: "430cab12d3d84ab6", text: #"""
            // What is and was owed to webhooks, and every try.
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
            import { receivers } from "../receivers.js";

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
                field("Webhook", input("webhook", { placeholder: "any", value: wanted.get("webhook") ?? "" })),
                field("Event", input("event", { placeholder: "any", value: wanted.get("event") ?? "" })),
              ], { submit: "Show", kind: "row", action: (values) => load(values) });
              async function load({ status, webhook, event }) {
                fill(
                  list,
                  await pages(
                    (cursor) => get("/v1/deliveries" + query({ status, webhook, event, cursor })),
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
                    job(await get(path`/v1/jobs/${done.job}`), { receiver, onEnd: () => notice("The job is over.") }),
                  ),
                );
              };
              return [
                head(
                  "Deliveries",
                  button("Send dead ones again", () => begin("redrive")),
                  button("Remove dead ones", async () => {
                    if (await confirmed("Remove all dead deliveries?", "Remove")) await begin("purge", { all: true });
                  }, "danger"),
                ),
                begun,
                filters,
                list,
              ];
            }

            /** Deliveries; of more than one webhook where `receiver` says of which. */
            export const deliveryTable = (rows, receiver) =>
              table(
                [
                  ["Event", (row) => link("#/events/" + row.event, row.type)],
                  ["Channel", (row) => row.channel],
                  ...(receiver ? [["Webhook", (row) => receiver(row.webhook)]] : []),
                  ["Status", (row) => status(row.status)],
                  ["Attempts", (row) => row.attempts, "number"],
                  ["Next", (row) => row.next_attempt_at ? time(row.next_attempt_at) : row.reason ?? "–"],
                  ["", (row) => link("#/deliveries/" + row.id, "attempts")],
                ],
                rows,
                { label: "Deliveries", empty: "No such deliveries." },
              );

            async function one(view, id) {
              const [delivery, receiver] = await Promise.all([get(path`/v1/deliveries/${id}`), receivers()]);
              return [
                head(
                  "Delivery",
                  status(delivery.status),
                  button("Try now", async () => {
                    await post(path`/v1/deliveries/${id}/retry`);
                    notice("It is due now.");
                    view.reload();
                  }),
                  button("Reload", () => view.reload()),
                ),
                h(
                  "div",
                  { class: "card" },
                  facts([
                    ["Id", h("code", {}, delivery.id)],
                    ["Webhook", receiver(delivery.webhook)],
                    ["Event", link("#/events/" + delivery.event, delivery.event)],
                    ["Type", delivery.type],
                    ["Channel", delivery.channel],
                    ["Attempts", delivery.attempts],
                    ["Next attempt", time(delivery.next_attempt_at)],
                    ["Why it is dead", delivery.reason ?? undefined],
                  ]),
                ),
                h("h2", {}, "Attempts"),
                delivery.attempt_log.length
                  ? [...delivery.attempt_log].reverse().map((each) => h("div", { class: "card" }, attempt(each)))
                  : h("p", { class: "blank" }, "None yet."),
              ];
            }

            /** One try: what was answered, how long it took, and what went over the wire. */
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
                    one.trigger === "manual" ? ", by hand" : "",
                    " · ",
                    time(one.at),
                  ),
                ),
                one.response_body ? h("pre", { class: "json", tabindex: 0 }, one.response_body) : null,
                Object.keys(details).length > 0 && h("details", {}, h("summary", {}, "What went over the wire"), json(details)),
              );
            }

            """#),
        SiteFile("pages/emit.js", tag: "2314675f41f11bcb", text: #"""
            // Making something happen: a form made of the type's schema, tried out before it is sent if one likes.
            import { found, get, path, post, query } from "../api.js";
            import { badge, button, fault, field, fill, form, h, head, input, link } from "../ui.js";
            import { receivers } from "../receivers.js";
            import { schemaForm } from "../schemaform.js";

            export default async function emit(view) {
              const declared = (await get("/v1/event-types" + query({ built_in: false, limit: 250 }))).data;
              const names = h("datalist", { id: "type-names" }, declared.map((type) => h("option", { value: type.type })));
              const type = input("type", {
                list: "type-names",
                value: view.query.get("type") ?? "",
                placeholder: "a message, when empty",
              });
              const place = h("div"), verdict = h("div");
              let data;

              async function shape() {
                const name = type.value.trim();
                const known = declared.find((one) => one.type === name);
                const version = known?.latest_version &&
                  await found(get(path`/v1/event-types/${name}/versions/${known.latest_version}`));
                const schema = version?.schema ??
                  (name ? {} : { type: "object", required: ["text"], properties: { text: { type: "string" } } });
                const example = version?.examples?.[0] ?? (name ? {} : { text: "hello" });
                data = schemaForm(schema, { example });
                fill(
                  place,
                  known &&
                    h(
                      "p",
                      { class: "help" },
                      known.description && known.description + " · ",
                      known.deprecated && [" ", badge("deprecated", "warn"), " ", known.deprecated, " · "],
                      known.latest_version ? `version ${known.latest_version}, ${known.mode}` : "without a schema",
                    ),
                  data.element,
                );
              }
              type.addEventListener("change", shape);
              await shape();

              const body = ({ user, store }) => ({
                user: user || undefined,
                store: store === undefined ? false : undefined,
                data: data.value() ?? null,
                ...(type.value.trim() && { type: type.value.trim() }),
              });
              const target = (channel) => path`/v1/channels/${channel}` + (type.value.trim() ? "/events" : "/messages");
              const element = form([
                names,
                field("Channel", input("channel", { value: view.query.get("channel") ?? "demo", required: true })),
                field("Type", type, "A declared one gets a form of its own."),
                field("User", input("user")),
                place,
                field("Keep it in the history", h("input", { type: "checkbox", name: "store", checked: true })),
              ], {
                submit: "Emit",
                action: async (values) => {
                  fill(verdict);
                  const sent = await post(target(values.channel), body(values));
                  return h("p", {}, "Accepted as ", link("#/events/" + sent.id, sent.id), ".");
                },
                more: [button("Try it out", async (press) => {
                  const values = Object.fromEntries(new FormData(press.closest("form")));
                  try {
                    fill(verdict, await forecast(await post(target(values.channel) + "?dry_run=true", body(values))));
                  } catch (error) {
                    fill(verdict, fault(error));
                  }
                })],
              });
              element.id = "emit-form";
              return [
                head("Emit"),
                h("div", { class: "split" }, h("div", { class: "card" }, element), h("div", { "aria-live": "polite" }, verdict)),
              ];
            }

            /** What would happen. */
            async function forecast({ valid, errors, version, would_reach: reach }) {
              const receiver = reach.webhooks && await receivers();
              return h(
                "div",
                { class: "card" },
                h("h2", {}, "What would happen"),
                h(
                  "p",
                  {},
                  badge(valid ? "accepted" : "refused", valid ? "good" : "bad"),
                  version ? ` by version ${version} of its schema` : "",
                ),
                errors.length > 0 && h("ul", {}, errors.map((one) => h("li", {}, h("code", {}, one.pointer), " ", one.detail))),
                h("p", {}, `${reach.streams} open stream${reach.streams === 1 ? "" : "s"} would hear it.`),
                reach.webhooks && h(
                  "ul",
                  {},
                  reach.webhooks.map((one) =>
                    h(
                      "li",
                      {},
                      badge(one.match ? "told" : "not told", one.match ? "good" : ""),
                      " ",
                      receiver(one.id),
                      ": ",
                      one.why,
                    )
                  ),
                ),
              );
            }

            """#),
        SiteFile("pages/event.js", tag: "3c6c12d12e025cfc", text: #"""
            // One event: where from, what its schema says, who got it and who did not, and why.
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
                head(event.type, button("Look again", reload)),
                h(
                  "div",
                  { class: "split" },
                  h(
                    "div",
                    {},
                    h(
                      "div",
                      { class: "card" },
                      h("h2", {}, "Where from"),
                      facts([
                        ["Id", h("code", {}, event.id)],
                        ["When", time(event.timestamp)],
                        ["Channel", link("#/channels/" + encodeURIComponent(event.channel), event.channel)],
                        ["User", event.user ? link("#/users/" + encodeURIComponent(event.user), event.user) : "none is named"],
                        ["Request", event.cause ? h("code", {}, event.cause) : undefined],
                        ["Came by", explained ? way(explained.origin) : undefined],
                        [
                          "Together with",
                          siblings.length
                            ? siblings.map((one, index) => [index ? ", " : "", link("#/events/" + one.id, one.type)])
                            : undefined,
                        ],
                      ]),
                    ),
                    h("h2", {}, "As it is sent"),
                    json(event),
                  ),
                  h(
                    "div",
                    {},
                    explained
                      ? [verdict(explained), await told(explained)]
                      : fault(new Error("What became of it is shown to keys with the scope manage.")),
                  ),
                ),
              ];
            }

            /** Events of the same call lie close by in their channel. */
            async function causedAlike(event) {
              if (!event.cause) return [];
              const token = BigInt(event.timetoken);
              const page = await get(
                path`/v1/channels/${event.channel}/events` + `?after=${token - 10000000n}&before=${token + 10000000n}&limit=50`,
              ).catch(() => ({ data: [] }));
              return page.data.filter((other) => other.cause === event.cause && other.id !== event.id);
            }

            /** The source that let it in. Without one, nothing is made up: not every event says who sent it. */
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
                    : "No declared schema has judged it.",
                ),
                validation &&
                  h(
                    "p",
                    {},
                    "The newest version says now: ",
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
                  h("h2", {}, "Who is told of it"),
                  h(
                    "p",
                    {},
                    `${would_reach.streams} open stream${would_reach.streams === 1 ? "" : "s"} would hear one like it now. `,
                    "Which streams heard this one is not recorded: each follows the log by a cursor of its own.",
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
                          : badge(row.match ? "none" : "not asked for")],
                      ["Why", (row) => row.why],
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
                    h("h3", {}, "Attempts for ", receiver(delivery.webhook)),
                    [...delivery.attempt_log].reverse().map(attempt),
                  )
                ),
              ];
            }

            """#),
        SiteFile("pages/keys.js", tag: "67ed84ac0038a5f6", text: #"""
            // The app and its credentials.
            import { get, patch, path, post, query, remove } from "../api.js";
            import {
              area,
              badge,
              button,
              choice,
              confirmed,
              facts,
              field,
              form,
              h,
              head,
              input,
              notice,
              pages,
              secret,
              table,
              time,
              words,
            } from "../ui.js";

            const SCOPES = [
              ["emit", "emit events"],
              ["read", "read and follow"],
              ["manage", "manage webhooks, sources, types"],
              ["admin", "everything, keys included"],
            ];
            const rate = (policy) => policy ? `${policy.quantity} in ${policy.window_seconds} s` : "–";

            export default async function keys(view) {
              const app = await get(path`/v1/apps/${view.who.app.id}`);
              return [head("Keys"), await list(view), making(view), settings(app)];
            }

            const list = (view) =>
              pages((cursor) => get("/v1/keys" + query({ cursor })), (rows) =>
                table(
                  [
                    ["Name", (row) => [
                      row.name || h("span", { class: "quiet" }, "no name"),
                      row.id === view.who.credential && [" ", badge("yours", "good")],
                      row.jwt && [" ", badge("signs tokens")],
                    ]],
                    ["Id", (row) => h("code", {}, row.id)],
                    ["May", (row) => row.scopes.join(", ")],
                    ["Channels", (row) => row.channels.join(", ")],
                    ["Types", (row) => row.types.join(", ")],
                    ["Requests at most", (row) => rate(row.rate_limit)],
                    ["Made", (row) => time(row.created_at)],
                    ["Expires", (row) => row.expires_at ? time(row.expires_at) : "never"],
                    ["", (row) => row.id !== view.who.credential && removing(row, view)],
                  ],
                  rows,
                  { caption: "API keys" },
                ));

            const removing = (key, view) =>
              button("Remove", async () => {
                const what = h("p", {}, "Whoever uses it is shut out at once; its streams end.");
                if (!await confirmed(`Remove the key ${key.name || key.id}?`, "Remove", what)) return;
                await remove(path`/v1/keys/${key.id}`);
                view.reload();
              }, "plain");

            function making(view) {
              const scope = ([name, text]) =>
                field(text, h("input", { type: "checkbox", name: "scope-" + name, checked: name === "emit" || name === "read" }));
              return h(
                "section",
                { class: "card" },
                h("h2", {}, "New key"),
                form([
                  field("Name", input("name", { placeholder: "what it is for" })),
                  h("fieldset", {}, h("legend", {}, "It may"), SCOPES.map(scope)),
                  field("Channels", input("channels", { placeholder: "all" })),
                  field("Types", input("types", { placeholder: "all" })),
                  field("Requests a minute", input("rate", { type: "number", min: 1, placeholder: "as the gateway is set" })),
                  field("Expires", input("expires", { type: "datetime-local" })),
                  h(
                    "details",
                    {},
                    h("summary", {}, "For tokens that your server signs"),
                    field("Algorithm", choice("alg", ["EdDSA", "ES256", "RS256"])),
                    field("Public key", area("public", "", { placeholder: "-----BEGIN PUBLIC KEY-----" }), "Makes no secret then."),
                  ),
                ], {
                  submit: "Make",
                  action: async (values) => {
                    const made = await post("/v1/keys", order(values));
                    if (made.key) await secret("The new key", made.key, "where the program that uses it reads its secrets");
                    view.reload();
                  },
                }),
              );
            }

            const order = (values) => ({
              name: values.name,
              scopes: SCOPES.map(([name]) => name).filter((name) => values["scope-" + name]),
              ...(words(values.channels) && { channels: words(values.channels) }),
              ...(words(values.types) && { types: words(values.types) }),
              ...(values.rate && { rate_limit: { quantity: Number(values.rate), window_seconds: 60 } }),
              ...(values.expires && { expires_at: new Date(values.expires).toISOString() }),
              ...(values.public.trim() && { jwt: { alg: values.alg, public_key: values.public } }),
            });

            function settings(app) {
              const check = (name, text) => field(text, h("input", { type: "checkbox", name, checked: app[name] }));
              return h(
                "section",
                { class: "card" },
                h("h2", {}, "App"),
                facts([
                  ["Id", h("code", {}, app.id)],
                  ["Events stay", app.retention_hours ? `${app.retention_hours} hours` : "for ever"],
                  ["Requests at most", rate(app.rate_limit)],
                  ["Events at most", rate(app.event_quota)],
                  ["Subscribe key", app.subscribe_key && h("code", {}, app.subscribe_key)],
                  ["Publish key", app.publish_key && h("code", {}, app.publish_key)],
                ]),
                form([
                  check("require_declared_types", "Refuse events of types that are not declared"),
                  check("demand_tokens", "Have PubNub's clients show an access token"),
                ], {
                  submit: "Save",
                  action: async (values) => {
                    await patch(path`/v1/apps/${app.id}`, {
                      require_declared_types: "require_declared_types" in values,
                      demand_tokens: "demand_tokens" in values,
                    });
                    notice("Saved.");
                  },
                }),
              );
            }

            """#),
        SiteFile("pages/live.js", tag: "ee55ed7b25e0e5e9", text: #"""
            // What happens, as it happens; how much and how fast.
            import { path, post } from "../api.js";
            import { chart } from "../chart.js";
            import { badge, fault, field, fill, form, h, head, input, json, link, notice, time, words } from "../ui.js";

            const ROWS = 300;
            const KEPT = 2000;

            export default function live({ follow, signal }) {
              const list = h("ol", { id: "events", "aria-label": "Events, newest first" });
              const count = h("output", { id: "count", class: "quiet" }, "0 events");
              const quietly = h("p", { class: "blank" }, "Waiting for events. Whatever is posted to the gateway shows up here.");
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

              /** Rows are made once a frame: at thousands of events a second most would be gone before anybody saw them. */
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
                { class: "row", "aria-label": "Which events" },
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
                stream.addEventListener("gap", () => notice("Some events could not be had any more: there is a gap."));
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

            /** One event: a line, and everything behind it. */
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
                        ? h("span", { class: "quiet" }, "Not kept: it cannot be looked up.")
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

            /** Events a second, and how long they took to get here. */
            function figures(signal) {
              const rate = chart("Events a second", (value) => value.toLocaleString());
              const delay = chart("On the way here", (value) => `${Math.round(value)} ms`);
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
                  // The two clocks may differ: nothing arrives before it was sent.
                  ahead = Math.min(ahead, took);
                  delays.push(took);
                },
              };
            }

            /** The quickest way to make something happen. */
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
                more: [h("a", { class: "button", href: "#/emit" }, "Other events")],
              });
              element.id = "emit";
              return h("section", { class: "card", "aria-labelledby": "say" }, h("h2", { id: "say" }, "Say something"), element);
            }

            """#),
        SiteFile("pages/sources.js", tag: "e9189bfe8a7da739", text: #"""
            // Other services' posts: how they are checked and what becomes of them, and the latest that came.
            import { get, path, post, put, query, remove } from "../api.js";
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
              status,
              table,
              time,
            } from "../ui.js";

            const SCHEMES = [
              "github",
              "standard",
              "stripe",
              "slack",
              "shopify",
              "twilio",
              "pusher",
              "sendbird",
              "stream",
              "ed25519",
              "rfc9421",
              "generic",
              "token",
              "none",
            ];
            const MAPPING = { channel: "inbox", type: "post.received", data: { $: "body" } };

            export default async function sources(view) {
              const [id] = view.rest;
              if (id === "new") {
                return [
                  head("New source"),
                  h(
                    "div",
                    { class: "card" },
                    editor({ scheme: "github", mapping: MAPPING }, true, (id) => {
                      location.hash = "#/sources/" + id;
                    }),
                  ),
                ];
              }
              if (id) return one(view, id);
              const list = await pages((cursor) => get("/v1/sources" + query({ cursor })), (rows) =>
                table(
                  [
                    ["Source", (row) => link("#/sources/" + row.id, row.id)],
                    ["Posts go to", (row) => h("code", {}, row.path)],
                    ["Signed", (row) => row.scheme],
                    ["Secrets", (row) => row.secret_count, "number"],
                    ["Mapping", (row) => "version " + row.mapping_version],
                    ["What for", (row) => row.description || "–"],
                  ],
                  rows,
                  {
                    caption: "Sources",
                    empty:
                      "No sources yet. Each is an address for another service's posts, with a check of its signature and a mapping to events.",
                  },
                ));
              return [head("Sources", link("#/sources/new", "Add a source")), list];
            }

            async function one(view, id) {
              const source = await get(path`/v1/sources/${id}`);
              const requests = h("div"), detail = h("div", { "aria-live": "polite" });
              const outcome = choice("outcome", [
                ["", "all"],
                "accepted",
                "duplicate",
                "dropped",
                "handshake",
                "signature_invalid",
                "rejected",
                "failed",
              ], "");
              const load = async () =>
                fill(
                  requests,
                  await pages(
                    (cursor) => get(path`/v1/sources/${id}/requests` + query({ outcome: outcome.value, cursor, limit: 25 })),
                    (rows) =>
                      table(
                        [
                          ["When", (row) => time(row.received_at)],
                          ["Outcome", (row) => status(row.outcome)],
                          ["Became", (row) =>
                            row.events.length
                              ? row.events.map((event) => [link("#/events/" + event, event), " "])
                              : row.reason ?? "–"],
                          ["", (row) =>
                            button("Look", () => fill(detail, request(id, row, load)), "plain")],
                        ],
                        rows,
                        { label: "Latest requests", empty: "None since the gateway started." },
                      ),
                  ),
                );
              outcome.addEventListener("change", load);
              await load();
              return [
                head(
                  id,
                  badge(source.scheme),
                  button("Remove", async () => {
                    if (!await confirmed(`Remove ${id}?`, "Remove", h("p", {}, "Its address answers 404 from then on."))) return;
                    await remove(path`/v1/sources/${id}`);
                    location.hash = "#/sources";
                  }, "danger"),
                ),
                h(
                  "div",
                  { class: "card" },
                  facts([
                    ["Posts go to", h("code", {}, location.origin + source.path)],
                    ["What for", source.description],
                    ["Question answered", source.handshake],
                    ["Secrets", source.secret_count],
                    ["Changed", time(source.updated_at)],
                  ]),
                ),
                h(
                  "div",
                  { class: "split" },
                  h(
                    "div",
                    {},
                    h(
                      "div",
                      { class: "head" },
                      h("h2", {}, "Requests"),
                      h("div", { class: "tools" }, field("Outcome", outcome), button("Reload", load)),
                    ),
                    requests,
                    detail,
                  ),
                  h(
                    "div",
                    {},
                    trying(id, source),
                    h(
                      "details",
                      { class: "card" },
                      h("summary", {}, "Mapping and settings"),
                      json(source.mapping),
                      editor(source, false, () => {
                        notice("Saved.");
                        view.reload();
                      }),
                    ),
                  ),
                ),
              ];
            }

            function request(source, one, load) {
              return h(
                "div",
                { class: "card" },
                h("h3", {}, one.id),
                facts([["Outcome", [status(one.outcome), " ", one.reason]], ["Signed by secret", one.secret ?? undefined], [
                  "Mapping",
                  "version " + one.mapping_version,
                ], ["Repeats", one.replay_of ?? undefined]]),
                one.errors.length > 0 &&
                  h("ul", {}, one.errors.map((each) => h("li", {}, h("code", {}, each.pointer), " ", each.detail))),
                h(
                  "details",
                  {},
                  h("summary", {}, "Header fields"),
                  h("pre", { class: "json", tabindex: 0 }, one.headers.map(({ name, value }) => `${name}: ${value}`).join("\n")),
                ),
                h("h3", {}, `Body (${one.body_bytes} bytes${one.truncated ? ", the beginning" : ""})`),
                h("pre", { class: "json", tabindex: 0 }, one.body ?? one.body_base64 ?? ""),
                button("Take it in once more", async () => {
                  const got = await post(path`/v1/sources/${source}/requests/${one.id}/replay`);
                  notice(`${got.accepted} accepted.`);
                  load();
                }),
              );
            }

            /** What a post would become, under the source's mapping or another one. */
            function trying(id, source) {
              const element = form([
                field("Header fields, one a line", area("headers", "Content-Type: application/json", { rows: 3 })),
                field("Body", area("body", '{"user": "ana"}', { rows: 5 })),
                field("With another mapping", area("mapping", "", { rows: 4, placeholder: JSON.stringify(source.mapping) })),
              ], {
                submit: "Try it",
                action: async ({ headers, body, mapping }) => {
                  const fields = headers.split("\n").filter((line) => line.includes(":")).map((line) => ({
                    name: line.slice(0, line.indexOf(":")).trim(),
                    value: line.slice(line.indexOf(":") + 1).trim(),
                  }));
                  const said = await post(path`/v1/sources/${id}/test`, {
                    headers: fields,
                    body,
                    ...(mapping.trim() && { mapping: parsed(mapping, "The mapping") }),
                  });
                  return h(
                    "div",
                    {},
                    h(
                      "p",
                      {},
                      badge(said.verified ? "signature holds" : "signature does not hold", said.verified ? "good" : "bad"),
                      " ",
                      said.rejection,
                    ),
                    said.handshake && h("p", {}, `A provider's question, answered with ${said.handshake.status}.`),
                    h("ul", {}, said.errors.map((one) => h("li", {}, h("code", {}, one.pointer), " ", one.detail))),
                    said.dropped > 0 && h("p", {}, `${said.dropped} given up by conditions.`),
                    said.events.map((event) =>
                      h(
                        "div",
                        {},
                        h(
                          "p",
                          {},
                          badge(event.type, "type"),
                          " on ",
                          h("code", {}, event.channel),
                          " ",
                          badge(event.valid ? "accepted" : "refused", event.valid ? "good" : "bad"),
                        ),
                        json(event.data),
                      )
                    ),
                  );
                },
              });
              element.id = "try";
              return h("section", { class: "card" }, h("h2", {}, "Try a post"), element);
            }

            function editor(source, isNew, done) {
              return form(
                [
                  isNew && field("Id", input("id", { required: true, placeholder: "github" })),
                  field("How posts are signed", choice("scheme", SCHEMES, source.scheme)),
                  field("Secret", input("secret", { type: "password", placeholder: isNew ? "" : "kept when empty" })),
                  field(
                    "Settings of the scheme",
                    area("options", source.scheme_options ? JSON.stringify(source.scheme_options) : "", { rows: 2 }),
                    "For generic, ed25519, rfc9421 and token.",
                  ),
                  field("Mapping", area("mapping", JSON.stringify(source.mapping, null, 2), { rows: 10 })),
                  field("What for", input("description", { value: source.description ?? "" })),
                ].filter(Boolean),
                {
                  submit: isNew ? "Add" : "Save",
                  action: async ({ id = source.id, scheme, secret, options, mapping, description }) => {
                    await put(path`/v1/sources/${id}`, {
                      scheme,
                      mapping: parsed(mapping, "The mapping"),
                      description,
                      ...(secret && { secrets: [secret] }),
                      ...(options.trim() && { scheme_options: parsed(options, "The settings") }),
                    });
                    done(id);
                  },
                },
              );
            }

            """#),
        SiteFile("pages/streams.js", tag: "02e3b610d1580f4e", text: #"""
            // Who listens, and who cannot keep up.
            import { get, path, query, remove } from "../api.js";
            import { badge, button, head, link, notice, pages, status, table, time } from "../ui.js";

            export default async function streams(view) {
              const bytes = (count) =>
                count < 1024
                  ? `${count} B`
                  : count < 1048576
                  ? `${(count / 1024).toFixed(1)} KiB`
                  : `${(count / 1048576).toFixed(1)} MiB`;
              const list = await pages((cursor) => get("/v1/streams" + query({ cursor, limit: 100 })), (rows) =>
                table(
                  [
                    [
                      "Follows",
                      (row) => [
                        row.channels.join(", "),
                        row.types.join() !== "*" && ` · ${row.types.join(", ")}`,
                        row.filter && [" ", badge(row.filter)],
                      ],
                    ],
                    [
                      "Who",
                      (row) => [
                        row.user ? link("#/users/" + encodeURIComponent(row.user), row.user) : "a service",
                        row.device && ` (${row.device})`,
                      ],
                    ],
                    ["State", (row) => status(row.state)],
                    ["Waiting to be sent", (row) => row.lag_bytes ? badge(bytes(row.lag_bytes), "warn") : "nothing", "number"],
                    ["Sent", (row) => bytes(row.bytes_sent), "number"],
                    ["Since", (row) => time(row.opened_at)],
                    ["Format", (row) => row.format],
                    ["From", (row) => row.remote],
                    ["", (row) =>
                      button("Cut", async () => {
                        await remove(path`/v1/streams/${row.id}`);
                        notice("Cut.");
                        view.reload();
                      }, "plain")],
                  ],
                  rows,
                  { caption: "Open streams", empty: "Nobody listens." },
                ));
              return [head("Streams", button("Reload", () => view.reload())), list];
            }

            """#),
        SiteFile("pages/types.js", tag: "f2902b50ecddc302", text: #"""
            // What events look like: declared types, the versions of their schemas, and whether a new one would break an old one.
            import { call, found, get, path, post, put, query, remove } from "../api.js";
            import {
              area,
              badge,
              button,
              choice,
              confirmed,
              facts,
              fault,
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
              status,
              table,
              time,
            } from "../ui.js";

            const RULES = [
              "none",
              "backward",
              "backward_transitive",
              "backward_lenient",
              "backward_transitive_lenient",
              "forward",
              "forward_transitive",
              "forward_lenient",
              "forward_transitive_lenient",
              "full",
              "full_transitive",
              "full_lenient",
              "full_transitive_lenient",
            ];
            const MODES = [["enforce", "refuse what does not match"], ["warn", "take it, and tell of it"], [
              "off",
              "check nothing",
            ]];

            export default async function types(view) {
              const [name] = view.rest;
              if (name === "new") return fresh();
              if (name) return one(view, name);
              const builtIn = view.query.get("built_in") ?? "false";
              const list = await pages(
                (cursor) => get("/v1/event-types" + query({ built_in: builtIn, cursor, limit: 100 })),
                (rows) =>
                  table(
                    [
                      ["Type", (row) => link("#/types/" + row.type, row.type)],
                      ["Version", (row) => row.latest_version ?? "–", "number"],
                      ["Mode", (row) => status(row.mode)],
                      ["Compatibility", (row) => row.compatibility.replaceAll("_", " ")],
                      ["Owner", (row) => row.owner || "–"],
                      ["What it means", (row) => [row.deprecated && badge("deprecated", "warn"), " ", row.description]],
                    ],
                    rows,
                    {
                      caption: builtIn === "true" ? "The gateway's own types" : "Your types",
                      empty: "None declared yet. Events of other types pass unchecked.",
                    },
                  ),
              );
              return [
                head(
                  "Event types",
                  link("#/types/new", "Declare a type"),
                  builtIn === "true" ? link("#/types", "Your types") : link("#/types?built_in=true", "The gateway's own"),
                ),
                list,
              ];
            }

            function fresh() {
              return [
                head("Declare an event type"),
                h(
                  "div",
                  { class: "card" },
                  form([field("Name", input("type", { required: true, placeholder: "order.paid" })), settings({})], {
                    submit: "Declare",
                    action: async ({ type, ...rest }) => {
                      await put(path`/v1/event-types/${type}`, read(rest));
                      location.hash = "#/types/" + type;
                    },
                  }),
                ),
              ];
            }

            const settings = (type) => [
              field("What it means", input("description", { value: type.description ?? "" })),
              field("Whom to ask about it", input("owner", { value: type.owner ?? "" })),
              field("What happens to others", choice("mode", MODES, type.mode ?? "enforce")),
              field(
                "A new version has to be",
                choice("compatibility", RULES.map((rule) => [rule, rule.replaceAll("_", " ")]), type.compatibility ?? "backward"),
              ),
              field("Deprecated because", input("deprecated", { value: type.deprecated ?? "", placeholder: "not deprecated" })),
            ];
            const read = ({ description, owner, mode, compatibility, deprecated }) => ({
              description,
              owner,
              mode,
              compatibility,
              deprecated: deprecated || null,
            });

            async function one(view, name) {
              const type = await get(path`/v1/event-types/${name}`);
              const versions = (await get(path`/v1/event-types/${name}/versions` + "?limit=250")).data.reverse();
              const newest = type.latest_version && await get(path`/v1/event-types/${name}/versions/${type.latest_version}`);
              const shown = h("div"), again = () => view.reload();
              const show = (version) =>
                fill(
                  shown,
                  h("h2", {}, `Version ${version.version}`),
                  json(version.schema),
                  version.examples.length > 0 && [h("h3", {}, "Examples"), json(version.examples)],
                );
              if (newest) show(newest);
              const list = table(
                [
                  [
                    "Version",
                    (row) =>
                      button(
                        String(row.version),
                        async () => show(await get(path`/v1/event-types/${name}/versions/${row.version}`)),
                        "plain",
                      ),
                  ],
                  ["Rule", (row) => row.compatibility.replaceAll("_", " ")],
                  ["Since", (row) => time(row.created_at)],
                  ["Forced", (row) => row.forced ?? "no"],
                ],
                versions,
                { caption: "Versions", empty: "No schema yet: everything passes." },
              );
              return [
                head(
                  name,
                  status(type.mode),
                  type.deprecated && badge("deprecated", "warn"),
                  link("#/emit?type=" + encodeURIComponent(name), "Emit one"),
                  !type.built_in && button("Remove", async () => {
                    if (
                      !await confirmed(
                        `Remove ${name}?`,
                        "Remove",
                        h("p", {}, "Its events are checked no more. Versions stay readable."),
                      )
                    ) return;
                    await call("DELETE", path`/v1/event-types/${name}`, undefined, { "if-match": "*" });
                    location.hash = "#/types";
                  }, "danger"),
                ),
                h(
                  "div",
                  { class: "card" },
                  facts([
                    ["What it means", type.description],
                    ["Owner", type.owner],
                    ["Compatibility", type.compatibility.replaceAll("_", " ")],
                    ["Set by", type.origin.replace("_", " ")],
                    ["Changed", time(type.updated_at)],
                    ["Deprecated", type.deprecated ?? undefined],
                  ]),
                ),
                h(
                  "div",
                  { class: "split" },
                  h("div", {}, list, shown),
                  h(
                    "div",
                    {},
                    holding(name),
                    !type.built_in &&
                      [
                        proposing(name, newest, again),
                        trial(name, again),
                        h(
                          "details",
                          { class: "card" },
                          h("summary", {}, "Settings"),
                          form(settings(type), {
                            submit: "Save",
                            action: async (values) => {
                              await put(path`/v1/event-types/${name}`, read(values));
                              notice("Saved.");
                              again();
                            },
                          }),
                        ),
                      ],
                  ),
                ),
              ];
            }

            /** A new version is held against the earlier ones before it is added. */
            function proposing(name, newest, again) {
              const schema = area("schema", newest ? JSON.stringify(newest.schema, null, 2) : '{\n  "type": "object"\n}', {
                rows: 12,
              });
              const body = ({ force }) => ({ schema: parsed(schema.value, "The schema"), ...(force && { force }) });
              const verdict = h("div");
              const element = form([
                field("Schema", schema),
                field("Force it because", input("force", { placeholder: "only if it breaks the rule" })),
              ], {
                submit: "Add this version",
                action: async (values) => {
                  await post(path`/v1/event-types/${name}/versions`, body(values));
                  again();
                },
                more: [
                  button("Check it", async (press) => {
                    const values = Object.fromEntries(new FormData(press.closest("form")));
                    try {
                      const would = await post(path`/v1/event-types/${name}/versions` + "?dry_run=true", body(values));
                      fill(verdict, h("p", {}, badge("compatible", "good"), ` It would be version ${would.version}.`));
                    } catch (error) {
                      fill(
                        verdict,
                        fault(error),
                        error.problem?.witness !== undefined &&
                          [h("p", {}, "One of the versions takes this, the other does not:"), json(error.problem.witness)],
                      );
                    }
                  }),
                  button("Put it on trial", async () => {
                    await put(path`/v1/event-types/${name}/candidate`, { schema: parsed(schema.value, "The schema") });
                    notice("Live events are held against it from now on.");
                  }),
                  button("Draft from events", async () => {
                    schema.value = JSON.stringify((await post(path`/v1/event-types/${name}/infer`)).schema, null, 2);
                  }),
                ],
              });
              element.id = "propose";
              return h("section", { class: "card" }, h("h2", {}, "New version"), element, verdict);
            }

            function holding(name) {
              const data = area("data", "{}", { rows: 4 });
              return h(
                "section",
                { class: "card" },
                h("h2", {}, "Does this match?"),
                form([field("Payload", data)], {
                  submit: "Validate",
                  action: async () => {
                    const said = await post(path`/v1/event-types/${name}/validate`, { data: parsed(data.value) });
                    return h(
                      "div",
                      {},
                      h(
                        "p",
                        {},
                        badge(said.valid ? "it matches" : "it does not match", said.valid ? "good" : "bad"),
                        said.version ? ` version ${said.version}` : " (there is no schema)",
                      ),
                      h("ul", {}, said.errors.map((one) => h("li", {}, h("code", {}, one.pointer), " ", one.detail))),
                    );
                  },
                }),
              );
            }

            /** A schema on trial: live events are held against it and only counted. */
            function trial(name, again) {
              const box = h("div");
              const look = async () => {
                const on = await found(get(path`/v1/event-types/${name}/candidate`));
                if (!on) {
                  return fill(
                    box,
                    h(
                      "p",
                      { class: "quiet" },
                      "None is on trial. Put one there, and live events are held against it and only counted.",
                    ),
                  );
                }
                fill(
                  box,
                  h(
                    "p",
                    {},
                    `${on.accepted} accepted, ${on.refused} refused, ${on.undecided} undecided since `,
                    time(on.created_at),
                  ),
                  h(
                    "ul",
                    {},
                    on.samples.map((one) =>
                      h(
                        "li",
                        {},
                        `${one.count} × `,
                        h("code", {}, one.error.pointer),
                        " ",
                        one.error.detail,
                        " ",
                        link("#/events/" + one.event, "the first"),
                      )
                    ),
                  ),
                  json(on.schema),
                  h(
                    "div",
                    { class: "tools" },
                    button("Make it the newest version", async () => {
                      await post(path`/v1/event-types/${name}/candidate/promote`);
                      again();
                    }),
                    button("End the trial", async () => {
                      await remove(path`/v1/event-types/${name}/candidate`);
                      look();
                    }, "danger"),
                  ),
                );
              };
              const details = h("details", { class: "card" }, h("summary", {}, "On trial"), box);
              details.addEventListener("toggle", () => {
                if (details.open) look().catch((error) => notice(error.message));
              });
              return details;
            }

            """#),
        SiteFile("pages/users.js", tag: "06feedfd32ee3c2e", text: #"""
            // Users as the app keeps them; of one: its channels, where it is now, its devices, what it has not read.
            import { found, get, path, put, query, remove } from "../api.js";
            import {
              badge,
              blank,
              button,
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
              timeOf,
            } from "../ui.js";

            const to = (name) => "#/users/" + encodeURIComponent(name);
            const toChannel = (name) => link("#/channels/" + encodeURIComponent(name), name);

            export default function users(view) {
              return view.rest[0] === undefined ? all() : one(view, view.rest[0]);
            }

            async function all() {
              const list = h("div");
              const load = async ({ filter }) =>
                fill(
                  list,
                  await pages((cursor) => get("/v1/users" + query({ filter, cursor, total: true, sort: "updated:desc" })), (rows) =>
                    table(
                      [
                        ["User", (row) =>
                          link(to(row.id), row.id)],
                        ["Name", (row) => row.name ?? "–"],
                        ["Status", (row) => row.status ?? "–"],
                        ["Type", (row) => row.type ?? "–"],
                        ["Changed", (row) => time(row.updated_at)],
                      ],
                      rows,
                      {
                        caption: "Users with a record",
                        empty: "None has a record. Users need none to take part; open one by its id.",
                      },
                    )),
                );
              await load({});
              return [
                head("Users"),
                form([field("Open by id", input("user", { required: true, placeholder: "ana" }))], {
                  submit: "Open",
                  kind: "row",
                  action: ({ user }) => {
                    location.hash = to(user);
                  },
                }),
                form([field("Condition", input("filter", { placeholder: "name LIKE 'An*'" }))], {
                  submit: "Find",
                  kind: "row",
                  action: load,
                }),
                list,
                h(
                  "details",
                  { class: "card" },
                  h("summary", {}, "Add a user"),
                  form([
                    field("Id", input("id", { required: true })),
                    field("Name", input("name")),
                    field("Email", input("email", { type: "email" })),
                  ], {
                    submit: "Add",
                    action: async ({ id, name, email }) => {
                      await put(path`/v1/users/${id}`, { name: name || null, email: email || null });
                      location.hash = to(id);
                    },
                  }),
                ),
              ];
            }

            async function one(view, id) {
              const soft = (promise, none) => promise.catch(() => none);
              const empty = { data: [] };
              const [record, places, present, sessions, unread, restrictions] = await Promise.all([
                found(get(path`/v1/users/${id}`)),
                soft(get(path`/v1/users/${id}/memberships` + "?limit=100"), empty),
                soft(get(path`/v1/users/${id}/presence`), empty),
                soft(get(path`/v1/users/${id}/sessions`), empty),
                soft(get(path`/v1/users/${id}/unread`), null),
                soft(get(path`/v1/users/${id}/restrictions`), empty),
              ]);
              return [
                head(
                  id,
                  record?.status && badge(record.status),
                  record && button("Delete", async () => {
                    if (
                      !await confirmed(
                        `Delete ${id}?`,
                        "Delete",
                        h("p", {}, "The user leaves every channel. What it has said stays."),
                      )
                    ) return;
                    await remove(path`/v1/users/${id}`);
                    location.hash = "#/users";
                  }, "danger"),
                ),
                h(
                  "div",
                  { class: "split" },
                  h(
                    "div",
                    {},
                    record
                      ? h(
                        "div",
                        { class: "card" },
                        facts([
                          ["Name", record.name],
                          ["Email", record.email],
                          ["Type", record.type],
                          ["Elsewhere", record.external_id],
                          ["Since", timeOf(record.created_timetoken)],
                          ["Not read", unread ? unread.unread_count : undefined],
                          ["Kept with it", record.custom ? json(record.custom) : undefined],
                        ]),
                      )
                      : blank("There is no record of this user."),
                    table(
                      [
                        ["Channel", (row) => toChannel(row.channel)],
                        ["State", (row) => [status(row.state), row.role === "operator" && [" ", badge("operator")]]],
                        ["Since", (row) => timeOf(row.joined_timetoken ?? row.invited_timetoken)],
                        ["Read up to", (row) => timeOf(row.read_timetoken)],
                      ],
                      places.data,
                      { caption: "Channels", empty: "In no channel." },
                    ),
                    restrictions.data.length > 0 &&
                      table(
                        [
                          ["Channel", (row) => toChannel(row.channel)],
                          ["What", (row) => [row.ban && badge("banned", "bad"), " ", row.mute && badge("muted", "warn")]],
                          ["Why", (row) => row.reason ?? "–"],
                          ["Until", (row) => row.until_timetoken ? timeOf(row.until_timetoken) : "lifted"],
                        ],
                        restrictions.data,
                        { caption: "Restrictions" },
                      ),
                  ),
                  h(
                    "div",
                    {},
                    h(
                      "section",
                      { class: "card" },
                      h("h2", {}, "Present now"),
                      present.data.length
                        ? h(
                          "ul",
                          {},
                          present.data.map((row) =>
                            h("li", {}, toChannel(row.channel), " ", row.state && h("code", {}, JSON.stringify(row.state)))
                          ),
                        )
                        : h("p", { class: "quiet" }, "Nowhere."),
                    ),
                    table(
                      [
                        ["Device", (row) => row.device],
                        ["State", (row) => status(row.state === "open" ? "live" : row.state)],
                        ["Streams", (row) => row.streams, "number"],
                        ["Since", (row) => time(row.opened_at)],
                        ["", (row) =>
                          button("End", async () => {
                            await remove(path`/v1/users/${id}/sessions/${row.id}`);
                            notice("Ended.");
                            view.reload();
                          }, "plain")],
                      ],
                      sessions.data,
                      { caption: "Devices", empty: "No device is connected." },
                    ),
                  ),
                ),
              ];
            }

            """#),
        SiteFile("pages/webhooks.js", tag: "c4bcdb12244c3f20", text: #"""
            // Whom the gateway tells, and how well that goes.
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
                    ["Types", (row) => row.types.join(", ")],
                    ["Channels", (row) => row.channels.join(", ")],
                    ["What for", (row) => row.description || "–"],
                  ],
                  rows,
                  {
                    caption: "Webhooks",
                    empty: "No webhooks yet. Register an address, and matching events are posted to it, signed.",
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
              const list = async () =>
                deliveries.replaceChildren(
                  await pages(
                    (cursor) => get("/v1/deliveries" + query({ webhook: id, status: chosen.value, cursor, limit: 20 })),
                    (rows) => deliveryTable(rows),
                  ),
                );
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
                  button("Send a test", async () => {
                    const tried = await post(path`/v1/webhooks/${id}/test`);
                    result.replaceChildren(h("div", { class: "card" }, h("h2", {}, "Test"), attempt(tried)));
                  }),
                  hook.status === "pending_verification" && button("Ask for consent", act("verify")),
                  isOn ? button("Disable", act("disable")) : button("Enable", act("enable"), "main"),
                  button("Rotate the secret", async () => {
                    if (
                      !await confirmed(
                        "Change to another secret?",
                        "Rotate",
                        h("p", {}, "Both sign for a day, so that the receiver can change over."),
                      )
                    ) return;
                    const made = await post(path`/v1/webhooks/${id}/rotate-secret`);
                    await secret("The new secret", made.secret, "where your receiver reads it");
                    again();
                  }),
                  button("Remove", async () => {
                    if (
                      !await confirmed("Remove this webhook?", "Remove", h("p", {}, "What is still owed to it is dropped."))
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
                      h("h3", {}, "Change"),
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
             * Its figures. What they say of its last attempts begins with the gateway's start: what was tried before is taken from
             * the log of its newest delivery of either end.
             */
            async function standing(id) {
              const stats = await get(path`/v1/webhooks/${id}/stats`);
              const last = async (status) => {
                const page = await get("/v1/deliveries" + query({ webhook: id, status, limit: 1 }));
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
              const span = { "5m": "5 minutes", "1h": "hour", "24h": "day" };
              return [
                hook.status_reason && h("p", { class: "fault" }, "Disabled: ", hook.status_reason),
                h(
                  "div",
                  { class: "cards" },
                  h(
                    "div",
                    { class: "card" },
                    h("h2", { class: "small quiet" }, "Owed"),
                    h("p", {}, h("span", { class: "figure" }, count("pending")), " pending, ", count("failed"), " to be retried"),
                    h("p", {}, count("dead"), " dead, ", count("held"), " held, ", count("delivered"), " delivered"),
                  ),
                  h(
                    "div",
                    { class: "card" },
                    h("h2", { class: "small quiet" }, "Circuit"),
                    h("p", { class: "figure" }, stats.circuit.replace("_", " ")),
                    stats.open_until && h("p", {}, "no attempt before ", time(stats.open_until)),
                    hook.failing_since && h("p", {}, "failing since ", time(hook.failing_since)),
                  ),
                  h(
                    "div",
                    { class: "card" },
                    h("h2", { class: "small quiet" }, "Last"),
                    facts([["Success", time(stats.last_success_at)], ["Failure", time(stats.last_failure_at)], [
                      "Oldest that waits",
                      stats.oldest_waiting ? link("#/deliveries/" + stats.oldest_waiting.id, stats.oldest_waiting.event) : null,
                    ]]),
                  ),
                ),
                table(
                  [
                    ["In the last", (row) => span[row[0]] ?? row[0]],
                    ["All", (row) => row[1].attempts, "number"],
                    ["Delivered", (row) => row[1].delivered, "number"],
                    ["Failed", (row) => row[1].failed, "number"],
                    ["Half took at most", (row) => row[1].p50_ms === null ? "–" : row[1].p50_ms + " ms", "number"],
                    ["99 % took at most", (row) => row[1].p99_ms === null ? "–" : row[1].p99_ms + " ms", "number"],
                  ],
                  Object.entries(stats.windows),
                  { caption: "Attempts since the last start" },
                ),
              ];
            }

            /** Sending events again, and how far that has come, which stays to be read; `onEnd` when it is over. */
            function replay(id, stats, onEnd) {
              const begun = h("div");
              const element = form([
                field(
                  "Which",
                  choice("only", [["failed", "what is not delivered"], ["dead", "what was given up"], [
                    "all",
                    "every event it asks for",
                  ]], stats.deliveries.dead > 0 ? "dead" : "failed"),
                ),
                field("Types", input("types", { placeholder: "all" })),
                field("At most a second", input("rate", { type: "number", min: 1, max: 10000, placeholder: "no limit" })),
              ], {
                submit: "Replay",
                action: async (values) => {
                  const done = await post(path`/v1/webhooks/${id}/replay`, order(values));
                  begun.replaceChildren(job(await get(path`/v1/jobs/${done.job}`), { onEnd }));
                },
                more: [button("Only count", async (press) => {
                  const values = Object.fromEntries(new FormData(press.closest("form")));
                  const done = await post(path`/v1/webhooks/${id}/replay`, { ...order(values), dry_run: true });
                  begun.replaceChildren(h("p", {}, `${done.count_is_exact ? "" : "At least "}${done.count} to send.`));
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
                h("h2", { id: "replay-title" }, "Send again"),
                element,
                begun,
              );
            }

            function previewing(id) {
              const element = form([
                field("Event", input("event", { placeholder: "evt_…, or leave it empty" })),
                field("Type of a made-up one", input("type", { value: "order.paid" })),
                field("Its data", area("data", '{"amount": 1}', { rows: 3 })),
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
              return h("details", { class: "card" }, h("summary", {}, "Preview a post"), element);
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
                  input("types", { value: hook.types?.join(", ") ?? "", placeholder: "all but the chatty ones" }),
                  "Names and patterns like order.*",
                ),
                field("Channels", input("channels", { value: hook.channels?.join(", ") ?? "", placeholder: "all but $system" })),
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
                  choice("ordering", [["none", "as fast as possible"], ["per_channel", "in order, per channel"], [
                    "strict",
                    "in order",
                  ]], hook.ordering ?? "none"),
                ),
                field("What for", input("description", { value: hook.description ?? "" })),
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

            """#),
        SiteFile("parley-hub.js", tag: "bd4ef5a0ff4118f8", text: #"""
            // What holds the stream of all tabs for parley.js; as a SharedWorker, or in a tab.

            const PATIENCE = 15000;

            /** Whether timetoken `a` is after `b`; before the first one is none. */
            export const after = (a, b) => !b || (a.length === b.length ? a > b : a.length > b.length);
            /** The lock a tab holds as long as it lives. */
            export const tabLock = (id) => "parley tab " + id;
            const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

            /** What the gateway refused, and whether to ask again. */
            class Refusal extends Error {
              constructor(status, problem, retryAfter) {
                super(problem.detail ?? problem.title ?? `status ${status}`);
                Object.assign(this, { status, retryAfter, isFinal: ![401, 408, 425, 429].includes(status) && status < 500 });
              }
            }

            /** Holds the one stream of all tabs, and tells them what comes by it. */
            export class Hub {
              #scope;
              #watches;
              #tabs = new Map();
              #cursor = null;
              #origin = null;
              #stream = null;
              #state = null;
              #followed = null;
              #ticket = null;
              #isFresh = false;
              #stopped = false;
              #running = false;
              #reading = null;
              #wake = () => {};
              #questions = new Map();
              #asked = 0;
              #settling = false;
              #isChanging = false;

              /** `watches` the locks of its tabs. */
              constructor(scope, post, watches = true) {
                this.#scope = scope;
                this.#watches = watches;
                this.post = post;
                globalThis.addEventListener?.("online", () => this.#wake());
              }

              stop() {
                this.#stopped = true;
                this.#reading?.abort();
                this.#wake();
              }

              receive({ from, say, ...message }) {
                if (this.#stopped) return;
                switch (say) {
                  case "hello":
                    return this.#enroll(from, message);
                  case "wish":
                    if (this.#tabs.has(from)) this.#tabs.set(from, message.wish);
                    return this.#settle();
                  case "bye":
                    return this.#forget(from);
                  case "answer":
                    return this.#questions.get(message.question)?.(message);
                }
              }

              #enroll(from, { wish, cursor, isNew }) {
                if (this.#watches && !this.#tabs.has(from)) navigator.locks.request(tabLock(from), () => this.#forget(from));
                this.#tabs.set(from, wish);
                // A tab that was there before has heard all since this hub began, a new one only what comes now.
                const place = isNew ? this.#cursor : this.#origin;
                if (cursor && (!place || after(place, cursor))) this.#rewind(cursor);
                if (this.#state) this.post({ ...this.#state, to: from });
                this.#settle();
              }

              #rewind(cursor) {
                this.post({ to: "all", say: "rewind" });
                this.#cursor = this.#origin = cursor;
                this.#reading?.abort();
              }

              #forget(id) {
                if (!this.#tabs.delete(id)) return;
                if (this.#tabs.size) return this.#settle();
                // Whoever comes next begins anew.
                this.#cursor =
                  this.#origin =
                  this.#ticket =
                  this.#state =
                    null;
                this.#reading?.abort();
                this.#wake();
              }

              /** Brings the stream in line with what the tabs want, once those that came together have all spoken. */
              async #settle() {
                if (this.#settling || this.#isChanging) return;
                this.#settling = true;
                await pause(25);
                this.#settling = false;
                if (this.#stopped || !this.#tabs.size) return;
                if (!this.#running) return this.#run();
                const wanted = this.#union();
                if (!this.#followed || JSON.stringify(wanted) === JSON.stringify(this.#followed)) return;
                this.#isChanging = true;
                await this.#change(wanted);
                this.#isChanging = false;
                this.#settle();
              }

              /** What all tabs want together; a tab that names nothing wants everything. */
              #union() {
                const all = (name) => {
                  const lists = [...this.#tabs.values()].map((wish) => wish[name]);
                  return lists.some((list) => !list.length) ? [] : [...new Set(lists.flat())].sort();
                };
                return { channels: all("channels"), types: all("types") };
              }

              async #change(wanted) {
                const before = this.#followed;
                this.#followed = wanted;
                const names = ["channels", "types"].filter((name) => String(wanted[name]) !== String(before[name]));
                const canPatch = this.#stream && !this.#ticket && !this.#scope.groups &&
                  names.every((name) => wanted[name].length && before[name].length);
                const isDone = canPatch && await this.#patch(Object.fromEntries(names.map((name) => [name, wanted[name]])));
                // A ticket is for what it was made for, and an empty list means everything: another stream, from the same place.
                if (isDone) return;
                this.#ticket = null;
                this.#reading?.abort();
              }

              async #patch(change) {
                try {
                  const headers = { "content-type": "application/json", ...await this.#authorization() };
                  const answer = await fetch(`${this.#scope.url}/v1/streams/${this.#stream}`, {
                    method: "PATCH",
                    headers,
                    body: JSON.stringify(change),
                  });
                  return answer.ok;
                } catch {
                  return false;
                }
              }

              async #run() {
                this.#running = true;
                for (let failures = 0; !this.#stopped && this.#tabs.size;) {
                  let wait = 0;
                  try {
                    this.#tell("connecting");
                    wait = await this.#read(() => {
                      failures = 0;
                    }) ?? 0;
                  } catch (error) {
                    if (this.#reading?.signal.aborted) continue;
                    if (error.isFinal || (error.status === 401 && this.#scope.credential === "cookie")) {
                      this.#tell("closed", error.message);
                      break;
                    }
                    // The ticket may have been too old: the next one is asked for at once, but only once.
                    const wasOld = error.status === 401 && this.#ticket && !this.#isFresh;
                    if (error.status === 401) this.#ticket = null;
                    wait = wasOld
                      ? 0
                      : Math.max(error.retryAfter ?? 0, Math.min(500 * 2 ** failures++, 30000) * (0.5 + Math.random() / 2));
                    this.#tell("waiting", error.message, Date.now() + wait);
                  }
                  if (wait) {
                    await Promise.race([
                      pause(wait),
                      new Promise((done) => {
                        this.#wake = done;
                      }),
                    ]);
                  }
                }
                this.#running = false;
              }

              /** Opens the stream and hands out what it says. Returns how long to stay away when the gateway ends it. */
              async #read(isUp) {
                const reading = this.#reading = new AbortController();
                this.#stream = null;
                this.#followed = this.#union();
                const answer = await this.#open(reading.signal);
                let silence = PATIENCE, timer;
                const lines = answer.body.pipeThrough(new TextDecoderStream()).getReader();
                try {
                  for (let rest = "";;) {
                    clearTimeout(timer);
                    timer = setTimeout(() => lines.cancel().catch(() => {}), silence);
                    const { value, done } = await lines.read();
                    if (done) throw new Error("the stream broke");
                    const parts = (rest + value).split("\n");
                    rest = parts.pop();
                    for (const line of parts) {
                      if (reading.signal.aborted) return 0;
                      if (!line) continue;
                      const said = JSON.parse(line);
                      if (!said.event) {
                        this.#hand(said);
                        continue;
                      }
                      if (said.event === "stream.closing" || said.event === "stream.lagged") return this.#closing(said.data);
                      if (said.event === "stream.ready") {
                        isUp();
                        silence = said.data.heartbeat_seconds * 2500;
                      }
                      this.#control(said.event, said.data);
                    }
                  }
                } finally {
                  clearTimeout(timer);
                  lines.cancel().catch(() => {});
                }
              }

              async #open(signal) {
                const { url, user, device, filter, groups, presence, credential } = this.#scope;
                const query = new URLSearchParams();
                const add = (name, values) => [values ?? []].flat().forEach((value) => query.append(name, value));
                add("channel", this.#followed.channels);
                add("type", this.#followed.types);
                Object.entries({ user, device, filter, group: groups, presence }).forEach(([name, value]) => add(name, value));
                const headers = { accept: "application/x-ndjson" };
                if (credential === "ticket") {
                  this.#isFresh = !this.#ticket;
                  this.#ticket ??= await this.#ask();
                  query.set("ticket", this.#ticket);
                  // With it, a ticket takes up the stream it has opened.
                  if (!this.#isFresh && this.#cursor) headers["last-event-id"] = this.#cursor;
                }
                if (this.#cursor && !headers["last-event-id"]) query.set("cursor", this.#cursor);
                Object.assign(headers, await this.#authorization());
                const answer = await fetch(`${url}/v1/stream?${query}`, { headers, signal, cache: "no-store" });
                if (answer.status === 204) throw Object.assign(new Error("the stream was ended"), { isFinal: true });
                if (!answer.ok) {
                  const problem = await answer.json().catch(() => ({}));
                  throw new Refusal(answer.status, problem, 1000 * Number(answer.headers.get("retry-after") ?? 0));
                }
                return answer;
              }

              #control(name, data) {
                if (name === "stream.ready") {
                  this.#stream = data.stream;
                  this.#place(data.cursor);
                  this.#origin ??= data.cursor;
                  this.#tell("live");
                  this.#settle();
                }
                if (name === "stream.gap") this.post({ to: "all", say: "gap", gap: data });
              }

              #hand(event) {
                if (after(event.timetoken, this.#cursor)) this.#cursor = event.timetoken;
                this.post({ to: "all", say: "event", event });
              }

              #place(cursor) {
                if (!after(cursor, this.#cursor)) return;
                this.#cursor = cursor;
                this.post({ to: "all", say: "place", cursor });
              }

              // Final means: with this credential. What a page renews by asking it (a ticket, a token) is asked for again; if that is
              // worth no more, its refusal is the end. A cookie is what it is.
              #closing({ reason, final, retry_ms }) {
                const canRenew = reason === "unauthorized" && this.#scope.credential !== "cookie";
                if (final && !canRenew) {
                  throw Object.assign(new Error(`the gateway ended the stream: ${reason}`), { isFinal: true });
                }
                if (canRenew) this.#ticket = null;
                this.#tell("waiting", reason, Date.now() + (retry_ms ?? 0));
                return retry_ms || 1;
              }

              async #authorization() {
                return this.#scope.credential === "token" ? { authorization: "Bearer " + await this.#ask() } : {};
              }

              /** Has a tab fetch what to show the gateway: the one that spoke last first, for it is most likely awake. */
              async #ask() {
                let reason = "no tab answered";
                for (const tab of [...this.#tabs.keys()].reverse()) {
                  const question = ++this.#asked;
                  const answer = await Promise.race([
                    pause(PATIENCE),
                    new Promise((done) => {
                      this.#questions.set(question, done);
                      this.post({ to: tab, say: "ask", question, wish: this.#followed });
                    }),
                  ]);
                  this.#questions.delete(question);
                  if (answer?.value) return answer.value;
                  reason = answer?.error ?? reason;
                }
                throw new Error(reason);
              }

              #tell(state, reason = null, retryAt = null) {
                this.#state = { to: "all", say: "state", state, reason, retryAt, stream: this.#stream };
                this.post(this.#state);
              }
            }

            if (globalThis.SharedWorkerGlobalScope && globalThis instanceof SharedWorkerGlobalScope) {
              const ports = new Map();
              const hub = new Hub(JSON.parse(self.name), (message) => {
                const to = message.to === "all" ? [...ports.values()] : [ports.get(message.to)];
                to.forEach((port) => port?.postMessage(message));
              });
              self.onconnect = ({ ports: [port] }) => {
                port.onmessage = ({ data }) => {
                  if (data.say === "bye") ports.delete(data.from);
                  else ports.set(data.from, port);
                  hub.receive(data);
                };
              };
            }

            """#),
        SiteFile("parley.js", tag: "af78bb021c619fd8", text: #"""
            // parley.js: follows a Parley gateway from a browser, by one stream for all tabs of a site. docs/browsers.md tells how.
            //
            // Every tab has a `Parley`, which says what it wants to hear. One `Hub` (parley-hub.js) for all of them holds the stream:
            // in a SharedWorker, else in the tab that holds a Web Lock, else, where browsers have neither or the page is not secure, in
            // each tab. Whoever holds it, a new one begins at the oldest place a tab has come to, and tabs drop what they have had:
            // nothing is lost or repeated when the stream, the gateway or the tab with the hub goes.

            import { after, Hub, tabLock } from "./parley-hub.js";

            const SCOPE = ["url", "user", "device", "filter", "groups", "presence"];

            /** Whether a name fits a pattern: itself, `a.b.*` for all below, `*`. */
            export const fits = (pattern, name) =>
              pattern === "*" || pattern === name || (pattern.endsWith(".*") && name.startsWith(pattern.slice(0, -1)));
            const fitsAny = (patterns, name) => !patterns?.length || patterns.some((pattern) => fits(pattern, name));

            /**
             * A tab's end of the stream. Dispatches `event` (detail: the envelope), `state` (detail: `{state, reason, retryAt}`) and
             * `gap` (detail: what is missing could not be had any more).
             */
            export class Parley extends EventTarget {
              #options;
              #wish;
              #id = crypto.getRandomValues(new Uint32Array(2)).join("-");
              #skip = null;
              #closed = false;
              #send = () => {};
              #leave = () => {};
              #let = () => {};

              /** `connecting`, `live`, `waiting` to try again, or `closed` for good. */
              state = "connecting";
              /** Why it waits or is closed. */
              reason = null;
              /** The timetoken up to which this tab has heard everything. */
              cursor = null;
              /** The stream's id on the gateway. */
              stream = null;

              constructor(options = {}) {
                super();
                this.#options = { ...options, url: String(options.url ?? new URL(import.meta.url).origin).replace(/\/$/, "") };
                this.#wish = wishOf(options);
                this.cursor = options.cursor ?? null;
                // The stream of the other tabs may stand further back.
                this.#skip = this.cursor;
                this.#connect();
              }

              /** Calls `listener` with the envelope of every event whose type fits; returns what ends that. */
              on(pattern, listener) {
                const hear = ({ detail }) => {
                  if (fits(pattern, detail.type)) listener(detail);
                };
                this.addEventListener("event", hear);
                return () => this.removeEventListener("event", hear);
              }

              /** Follows other channels and types from now on; what is left out stays. */
              follow(change) {
                this.#wish = wishOf({ ...this.#wish, ...change });
                this.#send({ say: "wish", wish: this.#wish });
              }

              /** Leaves; the stream ends with the last tab that follows it. */
              close() {
                if (this.#closed) return;
                this.#closed = true;
                this.#send({ say: "bye" });
                this.#leave();
                this.#let();
                this.#become("closed", null);
              }

              #connect() {
                const { share = true, token, ticket } = this.#options;
                const scope = Object.fromEntries(SCOPE.map((name) => [name, this.#options[name]]));
                scope.credential = ticket ? "ticket" : token ? "token" : "cookie";
                // Whoever shows another fixed token, or calls itself otherwise, is somebody else.
                scope.who = [typeof token === "string" ? token : "", share === true ? "" : String(share)];
                if (share === false || !globalThis.navigator?.locks) return this.#alone(scope);
                // The lock is let go when the tab goes, in whatever way: that is how the hub learns of it.
                navigator.locks.request(tabLock(this.#id), () =>
                  new Promise((go) => {
                    this.#let = go;
                    if (this.#closed) return go();
                    if (!this.#toWorker(scope)) this.#amongTabs(scope);
                  }));
              }

              #alone(scope) {
                const hub = new Hub(scope, (message) => queueMicrotask(() => this.#receive(message)), false);
                this.#send = (message) => hub.receive({ ...message, from: this.#id });
                this.#leave = () => hub.stop();
                this.#hello(true);
              }

              #toWorker(scope) {
                if (!globalThis.SharedWorker) return false;
                let worker;
                try {
                  // Throws where the file comes from another origin.
                  worker = new SharedWorker(trusted(new URL("parley-hub.js", import.meta.url).href), {
                    type: "module",
                    name: JSON.stringify(scope),
                  });
                } catch {
                  return false;
                }
                worker.addEventListener("error", () => {
                  this.#leave();
                  if (!this.#closed) this.#amongTabs(scope);
                }, { once: true });
                worker.port.onmessage = ({ data }) => this.#receive(data);
                this.#send = (message) => worker.port.postMessage({ ...message, from: this.#id });
                this.#leave = () => worker.port.close();
                this.#hello(true);
                return true;
              }

              #amongTabs(scope) {
                const name = "parley " + JSON.stringify(scope);
                const channel = new BroadcastChannel(name);
                let hub = null;
                channel.onmessage = ({ data }) => {
                  if (data.to === undefined) return hub?.receive(data);
                  if (data.to === "all" || data.to === this.#id) this.#receive(data);
                };
                this.#send = (message) => {
                  const signed = { ...message, from: this.#id };
                  if (hub) hub.receive(signed);
                  else channel.postMessage(signed);
                };
                const leaving = new AbortController();
                this.#leave = () => {
                  leaving.abort();
                  hub?.stop();
                };
                navigator.locks.request(name, { signal: leaving.signal }, () =>
                  new Promise((go) => {
                    hub = new Hub(scope, (message) => {
                      if (message.to !== this.#id) channel.postMessage(message);
                      if (message.to === "all" || message.to === this.#id) queueMicrotask(() => this.#receive(message));
                    });
                    leaving.signal.addEventListener("abort", go, { once: true });
                    hub.post({ to: "all", say: "begin" });
                  })).catch(() => {});
                this.#hello(true);
              }

              #hello(isNew) {
                this.#send({ say: "hello", wish: this.#wish, cursor: this.cursor, isNew });
              }

              #receive(message) {
                if (this.#closed) return;
                switch (message.say) {
                  case "begin":
                    this.#skip = this.cursor;
                    return this.#hello(false);
                  case "rewind":
                    this.#skip = this.cursor;
                    return;
                  case "state":
                    this.stream = message.stream ?? this.stream;
                    return this.#become(message.state, message.reason, message.retryAt);
                  case "gap":
                    return this.dispatchEvent(new CustomEvent("gap", { detail: message.gap }));
                  case "place":
                    if (after(message.cursor, this.cursor)) this.cursor = message.cursor;
                    return;
                  case "ask":
                    return this.#answer(message);
                  case "event":
                    return this.#hear(message.event);
                }
              }

              #hear(event) {
                if (this.#skip && !after(event.timetoken, this.#skip)) return;
                if (after(event.timetoken, this.cursor)) this.cursor = event.timetoken;
                const { channels, types } = this.#wish;
                // Which channels a group has, only the gateway knows.
                if (!fitsAny(types, event.type) || !(this.#options.groups || fitsAny(channels, event.channel))) return;
                this.dispatchEvent(new CustomEvent("event", { detail: event }));
              }

              async #answer({ question, wish }) {
                const { ticket, token } = this.#options;
                try {
                  const give = ticket ?? token;
                  const value = typeof give === "function" ? await give(wish) : give;
                  this.#send({ say: "answer", question, value });
                } catch (error) {
                  this.#send({ say: "answer", question, error: String(error?.message ?? error) });
                }
              }

              #become(state, reason = null, retryAt = null) {
                if (state === this.state && reason === this.reason) return;
                Object.assign(this, { state, reason });
                this.dispatchEvent(new CustomEvent("state", { detail: { state, reason, retryAt } }));
              }
            }

            const wishOf = ({ channels, types }) => ({ channels: [...(channels ?? [])], types: [...(types ?? [])] });

            /** Pages that demand trusted types allow the policy `parley`, which may be made once. */
            let policy;
            function trusted(url) {
              try {
                policy ??= globalThis.trustedTypes?.createPolicy("parley", { createScriptURL: (text) => text });
              } catch { /* the page allows none, and may demand none */ }
              return policy?.createScriptURL(url) ?? url;
            }

            """#),
        SiteFile("receivers.js", tag: "926cbabef4297500", text: #"""
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

            """#),
        SiteFile("schemaform.js", tag: "9421c96a3a50ef71", text: #"""
            // A form made from a JSON Schema, and the value it holds. What it has no control for is written as JSON.
            import { area, choice, field, h, input } from "./ui.js";

            const MOST_DEEP = 4;

            /** `{ element, value() }`; `value()` throws what is no JSON, and gives undefined for what was left empty. */
            export function schemaForm(schema, { label = "Data", example } = {}) {
              return part(schema, schema, label, example ?? first(schema), true, 0);
            }

            const first = (schema) => schema?.default ?? schema?.examples?.[0];

            /** The schema behind `$ref`s into the same document. */
            function resolved(schema, root) {
              for (let turns = 0; schema?.$ref?.startsWith("#") && turns < 10; turns++) {
                const names = schema.$ref.slice(1).split("/").slice(1).map((name) =>
                  decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~")
                );
                schema = names.reduce((node, name) => node?.[name], root);
              }
              return schema ?? {};
            }

            function part(given, root, label, example, isRequired, depth) {
              const schema = resolved(given, root);
              if (schema.const !== undefined) return fixed(label, schema.const);
              if (Array.isArray(schema.enum)) return listed(schema, label, example, isRequired);
              const kinds = [schema.type ?? (schema.properties ? "object" : undefined)].flat().filter((kind) => kind !== "null");
              const make = kinds.length === 1 && !schema.oneOf && !schema.anyOf && !schema.allOf &&
                { object, boolean, string, number, integer: number }[kinds[0]];
              if (make === object && (depth >= MOST_DEEP || !schema.properties)) return raw(schema, label, example, isRequired);
              return make
                ? make({ schema, root, label, example, isRequired, depth, kind: kinds[0] })
                : raw(schema, label, example, isRequired);
            }

            const help = (schema, isRequired) =>
              [schema.description, isRequired ? null : "May be left out."].filter(Boolean).join(" ");

            const fixed = (label, value) => ({
              element: field(label, input("", { value: JSON.stringify(value), readonly: true })),
              value: () => value,
            });

            function listed(schema, label, example, isRequired) {
              const options = schema.enum.map((
                value,
                index,
              ) => [String(index), typeof value === "string" ? value : JSON.stringify(value)]);
              const control = choice("", isRequired ? options : [["", "–"], ...options], String(schema.enum.indexOf(example)));
              return {
                element: field(label, control, help(schema, isRequired)),
                value: () => control.value === "" ? undefined : schema.enum[control.value],
              };
            }

            function object({ schema, root, label, example, isRequired, depth }) {
              const required = new Set(schema.required ?? []);
              const parts = Object.entries(schema.properties).map((
                [name, inner],
              ) => [name, part(inner, root, name, example?.[name] ?? first(resolved(inner, root)), required.has(name), depth + 1)]);
              const value = () => {
                const entries = parts.map(([name, { value }]) => [name, value()]).filter(([, value]) => value !== undefined);
                return entries.length || isRequired ? Object.fromEntries(entries) : undefined;
              };
              return {
                element: h(
                  "fieldset",
                  {},
                  h("legend", {}, label),
                  schema.description && h("p", { class: "help" }, schema.description),
                  parts.map(([, { element }]) => element),
                ),
                value,
              };
            }

            function boolean({ schema, label, example, isRequired }) {
              const control = choice(
                "",
                [...(isRequired ? [] : [["", "–"]]), ["true", "yes"], ["false", "no"]],
                example === undefined ? undefined : String(example),
              );
              return {
                element: field(label, control, help(schema, isRequired)),
                value: () => control.value === "" ? undefined : control.value === "true",
              };
            }

            function string({ schema, label, example, isRequired }) {
              const control = input("", {
                value: example ?? "",
                minlength: schema.minLength,
                maxlength: schema.maxLength,
                placeholder: schema.format,
              });
              return {
                element: field(label, control, help(schema, isRequired)),
                value: () => control.value === "" && !isRequired ? undefined : control.value,
              };
            }

            function number({ schema, label, example, isRequired, kind }) {
              const control = input("", {
                type: "number",
                step: kind === "integer" ? 1 : "any",
                min: schema.minimum,
                max: schema.maximum,
                value: example ?? "",
              });
              return {
                element: field(label, control, help(schema, isRequired)),
                value: () => control.value === "" ? undefined : Number(control.value),
              };
            }

            function raw(schema, label, example, isRequired) {
              const control = area("", example === undefined ? "" : JSON.stringify(example, null, 2), { rows: 4 });
              return {
                element: field(label, control, [help(schema, isRequired), "As JSON."].filter(Boolean).join(" ")),
                value() {
                  if (control.value.trim() === "") return undefined;
                  try {
                    return JSON.parse(control.value);
                  } catch (error) {
                    throw new Error(`${label} is no JSON: ${error.message}`);
                  }
                },
              };
            }

            """#),
        SiteFile("style.css", tag: "ff013a30ced1bcff", text: #"""
            /* Colours have at least 4.5:1 against the surface they stand on, in both schemes. */
            :root {
              color-scheme: light dark;
              --ground: #f6f7f8; --surface: #fff; --raised: #f0f2f4; --text: #1b1f24; --quiet: #59626c; --line: #d9dde2;
              --accent: #1a5fd0; --on-accent: #fff; --good: #14702f; --warn: #855300; --bad: #b42318;
              --good-ground: #e2f4e6; --warn-ground: #fbefd8; --bad-ground: #fde7e5; --accent-ground: #e4edfc;
              --mono: ui-monospace, "Cascadia Mono", "SF Mono", Menlo, Consolas, monospace;
              --round: .375rem;
            }
            @media (prefers-color-scheme: dark) {
              :root {
                --ground: #0f1215; --surface: #171b20; --raised: #20262c; --text: #e6e9ec; --quiet: #9ea8b3; --line: #2e353d;
                --accent: #86b4ff; --on-accent: #0b1a33; --good: #6fd08c; --warn: #e3b45c; --bad: #ff948c;
                --good-ground: #12301c; --warn-ground: #33270f; --bad-ground: #3a1a18; --accent-ground: #16284a;
              }
            }
            * { box-sizing: border-box; }
            [hidden] { display: none !important; }
            html { font: 14px/1.45 system-ui, sans-serif; -webkit-text-size-adjust: 100%; }
            body { margin: 0; background: var(--ground); color: var(--text); display: grid; min-height: 100vh;
              grid-template: "top top" auto "menu main" 1fr / 11.5rem minmax(0, 1fr); }
            a { color: var(--accent); text-underline-offset: .15em; }
            :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 2px; }
            main:focus, h1:focus { outline: none; }
            .skip { position: absolute; left: -100vw; }
            .skip:focus { left: .5rem; top: .5rem; background: var(--surface); padding: .5rem; z-index: 9; }

            #top { grid-area: top; display: flex; gap: .25rem .75rem; align-items: center; padding: .5rem 1rem; background: var(--surface);
              border-bottom: 1px solid var(--line); flex-wrap: wrap; min-height: 3rem; }
            .brand { display: inline-flex; gap: .5rem; align-items: center; font-weight: 650; font-size: 1.1rem; color: inherit;
              text-decoration: none; }
            .state { margin: 0; display: inline-flex; gap: .4rem; align-items: center; color: var(--quiet); }
            .state::before { content: ""; width: .55rem; height: .55rem; border-radius: 50%; background: var(--warn); }
            .state[data-state=live]::before { background: var(--good); }
            .state[data-state=closed]::before { background: var(--bad); }
            #app-name { margin-right: auto; }
            #menu { grid-area: menu; background: var(--surface); border-right: 1px solid var(--line); padding: .5rem; }
            #menu h2 { font-size: .75rem; font-weight: 600; color: var(--quiet); margin: .9rem .5rem .25rem; }
            #menu ul { list-style: none; margin: 0; padding: 0; }
            #menu a { display: block; padding: .3rem .5rem; border-radius: var(--round); color: inherit; text-decoration: none; }
            #menu a:hover { background: var(--raised); }
            #menu a[aria-current] { background: var(--accent-ground); color: var(--accent); font-weight: 600; }
            main { grid-area: main; padding: 1rem 1.25rem 4rem; min-width: 0; }
            .alone main { grid-column: 1 / -1; }
            @media (max-width: 50rem) {
              body { grid-template: "top" auto "menu" auto "main" 1fr / minmax(0, 1fr); }
              #menu { border-right: 0; border-bottom: 1px solid var(--line); display: flex; overflow-x: auto; padding: .25rem .5rem; }
              #menu h2 { display: none; }
              #menu ul { display: flex; }
              #menu a { white-space: nowrap; padding: .45rem .6rem; }
              main { padding: .75rem .75rem 3rem; }
            }

            h1 { font-size: 1.35rem; margin: 0; line-height: 1.25; overflow-wrap: anywhere; }
            h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
            h3 { font-size: .95rem; margin: 1rem 0 .35rem; }
            p { margin: .35rem 0; }
            .head { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: center; margin-bottom: .75rem; }
            .head .tools { margin-left: auto; }
            .tools { display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; }
            .quiet { color: var(--quiet); }
            .small { font-size: .857rem; }
            .mono, code, pre { font-family: var(--mono); font-size: .9em; }
            .wide { overflow-wrap: anywhere; }
            a .id { display: block; color: var(--quiet); font-size: .857rem; font-weight: 400; }
            .blank { color: var(--quiet); padding: 1.5rem 0; }
            .card { background: var(--surface); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; margin: 0 0 .75rem; }
            .card > :first-child { margin-top: 0; } .card > :last-child { margin-bottom: 0; }
            .cards { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(min(13rem, 100%), 1fr)); margin-bottom: .75rem; }
            .cards .card { margin: 0; }
            .cards.figures { grid-template-columns: repeat(2, minmax(0, 1fr)); }
            .split { display: grid; gap: .75rem 1.25rem; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); align-items: start; }
            @media (max-width: 70rem) { .split { grid-template-columns: minmax(0, 1fr); } }
            .figure { font-size: 1.4rem; font-weight: 600; font-variant-numeric: tabular-nums; }

            button, .button, .head .tools > a { font: inherit; white-space: nowrap; padding: .3rem .7rem; border: 1px solid var(--line); border-radius: var(--round);
              background: var(--surface); color: inherit; cursor: pointer; text-decoration: none; display: inline-block; min-height: 2rem; }
            td button { padding: 0 .4rem; min-height: 1.6rem; margin: -.1rem 0; }
            button:hover, .button:hover, .head .tools > a:hover { background: var(--raised); }
            button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
            button.main:hover { filter: brightness(1.08); }
            button.danger { color: var(--bad); }
            button.plain { border-color: transparent; background: none; color: var(--accent); }
            button[aria-pressed=true] { background: var(--accent-ground); border-color: var(--accent); color: var(--accent); }
            button:disabled { opacity: .55; cursor: default; }
            input, select, textarea { font: inherit; color: inherit; background: var(--surface); border: 1px solid #8a929b;
              border-radius: var(--round); padding: .3rem .5rem; min-height: 2rem; max-width: 100%; }
            input[type=checkbox] { min-height: 0; width: 1rem; height: 1rem; accent-color: var(--accent); }
            textarea { font-family: var(--mono); font-size: .9em; width: 100%; min-height: 5rem; resize: vertical; }
            [aria-invalid=true] { border-color: var(--bad); outline-color: var(--bad); }
            form.row { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin-bottom: .75rem; }
            form.stack { display: grid; gap: .65rem; }
            .field { display: grid; gap: .15rem; min-width: 0; }
            .field > label, .field > .label, legend { font-size: .857rem; font-weight: 600; }
            .field input:not([type=checkbox]), .field select { width: 100%; }
            form.row .field { flex: 1 1 9rem; max-width: 20rem; }
            .field.check { display: flex; gap: .5rem; align-items: center; }
            .help { color: var(--quiet); font-size: .857rem; margin: 0; }
            fieldset { border: 1px solid var(--line); border-radius: var(--round); padding: .5rem .75rem .75rem; margin: 0; min-width: 0; display: grid; gap: .5rem; }
            .fault { color: var(--bad); margin: .25rem 0; overflow-wrap: anywhere; }
            .fault ul { margin: .25rem 0; padding-left: 1.25rem; }

            .scroll { overflow-x: auto; background: var(--surface); border: 1px solid var(--line); border-radius: .5rem; margin-bottom: .75rem; }
            table { border-collapse: collapse; width: 100%; }
            caption { text-align: left; padding: .5rem .75rem; font-weight: 600; }
            th, td { text-align: left; padding: .4rem .75rem; vertical-align: top; border-top: 1px solid var(--line); }
            thead th { border-top: 0; color: var(--quiet); font-size: .857rem; font-weight: 600; white-space: nowrap; }
            tbody tr:hover { background: var(--raised); }
            td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
            /* Words stay whole, and a table that is too wide is scrolled; only what is longer than its cell may be is broken. */
            td { overflow-wrap: break-word; min-width: 6.5rem; max-width: 20rem; }
            td.number { min-width: 0; }
            /* Ids are no words: where there is room for the whole table but for them, they give way. */
            @media (min-width: 50rem) { td code, td .id { overflow-wrap: anywhere; } }
            td time { white-space: nowrap; }
            dl.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .25rem 1rem; margin: 0; }
            dl.facts dt { color: var(--quiet); } dl.facts dd { margin: 0; overflow-wrap: anywhere; }
            @media (max-width: 30rem) { dl.facts { grid-template-columns: 6.5rem minmax(0, 1fr); } }

            .badge { display: inline-block; padding: 0 .45rem; border-radius: 1rem; font-size: .857rem; background: var(--raised);
              color: var(--quiet); white-space: nowrap; }
            .badge.good { background: var(--good-ground); color: var(--good); }
            .badge.warn { background: var(--warn-ground); color: var(--warn); }
            .badge.bad { background: var(--bad-ground); color: var(--bad); }
            .badge.type { background: var(--accent-ground); color: var(--accent); font-family: var(--mono); white-space: normal; overflow-wrap: anywhere; }

            pre.json { margin: 0; padding: .6rem .75rem; background: var(--raised); border-radius: var(--round); overflow-x: auto;
              white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2; }
            .json .name { color: var(--accent); } .json .text { color: var(--good); } .json .number { color: var(--warn); }
            .json .word { color: var(--bad); }

            #events { list-style: none; margin: 0; padding: 0; background: var(--surface); border: 1px solid var(--line); border-radius: .5rem; }
            #events:empty { display: none; }
            #events > li { border-top: 1px solid var(--line); } #events > li:first-child { border-top: 0; }
            #events summary { display: grid; grid-template-columns: 6.5rem minmax(8rem, 15rem) minmax(6rem, 12rem) minmax(0, 1fr);
              gap: .15rem .75rem; padding: .35rem .75rem; cursor: pointer; align-items: baseline; list-style: none; }
            #events summary::-webkit-details-marker { display: none; }
            #events summary:hover { background: var(--raised); }
            #events .gist { color: var(--quiet); font-family: var(--mono); font-size: .9em; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
            #events.history summary { grid-template-columns: 9.5rem minmax(8rem, 13rem) minmax(3rem, 8rem) minmax(0, 1fr); }
            #events [open] > summary .gist { visibility: hidden; }
            #events time { color: var(--quiet); font-variant-numeric: tabular-nums; }
            #events .more { padding: 0 .75rem .75rem; }
            @media (max-width: 60rem) {
              #events summary, #events.history summary { grid-template-columns: minmax(0, 1fr) auto; }
              #events summary time { order: 2; } #events .gist { grid-column: 1 / -1; order: 4; } #events summary .place { order: 3; grid-column: 1 / -1; }
            }
            .chart { display: block; width: 100%; height: 2.5rem; }
            .chart path { fill: none; stroke: var(--accent); stroke-width: 1.5; stroke-linecap: round;
              vector-effect: non-scaling-stroke; }
            .chart .area { fill: var(--accent-ground); stroke: none; }
            progress { width: 100%; accent-color: var(--accent); }

            dialog { border: 1px solid var(--line); border-radius: .6rem; background: var(--surface); color: inherit; padding: 1rem 1.25rem;
              width: min(34rem, calc(100vw - 2rem)); }
            dialog::backdrop { background: #0008; }
            #notices { position: fixed; right: 1rem; bottom: 1rem; display: grid; gap: .5rem; max-width: min(26rem, calc(100vw - 2rem)); z-index: 5; }
            .notice { background: var(--text); color: var(--surface); padding: .5rem .8rem; border-radius: var(--round); overflow-wrap: anywhere; }
            .sign-in { max-width: 24rem; margin: 12vh auto 0; }
            @media (prefers-reduced-motion: no-preference) {
              #events > li.new { animation: come .6s; } @keyframes come { from { background: var(--accent-ground); } }
            }

            """#),
        SiteFile("ui.js", tag: "e8ac8eafb8083360", text: #"""
            // Pieces of pages. Whatever comes from the gateway becomes a text node, never markup.

            /** An element: `h("p", { class: "quiet", onclick: … }, "text", child, [more])`; null and false leave nothing. */
            export function h(name, attributes = {}, ...children) {
              const element = document.createElement(name);
              for (const [key, value] of Object.entries(attributes ?? {})) {
                if (value === undefined || value === null || value === false) continue;
                if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
                else if (key === "value") element.value = value;
                else element.setAttribute(key, value === true ? "" : value);
              }
              element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
              return element;
            }

            export const fill = (element, ...children) => {
              element.replaceChildren(...children.flat(3).filter(Boolean));
              return element;
            };

            /** The title of a page, and what can be done there. */
            export const head = (title, ...tools) =>
              h(
                "div",
                { class: "head" },
                h("h1", { tabindex: -1 }, title),
                tools.length > 0 && h("div", { class: "tools" }, tools),
              );

            export const link = (href, ...text) => h("a", { href }, ...text);
            export const badge = (text, kind) => h("span", { class: "badge " + (kind ?? "") }, text);
            export const blank = (text) => h("p", { class: "blank" }, text);

            const KINDS = {
              enabled: "good",
              delivered: "good",
              live: "good",
              done: "good",
              joined: "good",
              accepted: "good",
              closed: "good",
              enforce: "good",
              valid: "good",
              pending: "",
              held: "warn",
              running: "warn",
              paused: "warn",
              failed: "bad",
              dead: "bad",
              disabled: "bad",
              open: "bad",
              warn: "warn",
              half_open: "warn",
              pending_verification: "warn",
              duplicate: "warn",
              dropped: "warn",
              catching_up: "warn",
              signature_invalid: "bad",
              rejected: "bad",
              cancelled: "warn",
            };
            /** A word of the API about how something is. */
            export const status = (word) => badge(String(word).replaceAll("_", " "), KINDS[word]);

            export function button(text, action, kind, more = {}) {
              const element = h("button", { type: "button", class: kind, ...more }, text);
              element.addEventListener("click", async () => {
                element.disabled = true;
                try {
                  await action(element);
                } catch (error) {
                  notice(error.message);
                } finally {
                  element.disabled = false;
                }
              });
              return element;
            }

            /** A moment, in the reader's own time. */
            export function time(text, form = "full") {
              if (!text) return "–";
              const moment = new Date(text);
              const shown = form === "clock"
                ? moment.toLocaleTimeString(undefined, { hour12: false }) + "." + String(moment.getMilliseconds()).padStart(3, "0")
                : moment.toLocaleString(undefined, { dateStyle: form === "short" ? "short" : "medium", timeStyle: "medium" });
              return h("time", { datetime: text, title: text }, shown);
            }

            /** A moment as a timetoken has it. */
            export const timeOf = (timetoken) => timetoken ? time(new Date(Number(BigInt(timetoken) / 10000n)).toISOString()) : "–";

            /** JSON, set in lines and coloured. */
            export function json(value) {
              const pre = h("pre", { class: "json" });
              const text = typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "null";
              const tokens = /("(?:\\.|[^"\\])*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g;
              let end = 0;
              for (const match of text.matchAll(tokens)) {
                pre.append(text.slice(end, match.index));
                const kind = match[2] ? "name" : match[1] ? "text" : /^[-\d]/.test(match[0]) ? "number" : "word";
                pre.append(h("span", { class: kind }, match[1] ?? match[0]), match[2] ?? "");
                end = match.index + match[0].length;
              }
              pre.append(text.slice(end));
              return pre;
            }

            /** Names and what they are: `facts([["Address", url], …])`. */
            export const facts = (pairs) =>
              h(
                "dl",
                { class: "facts" },
                pairs.filter((pair) => pair && pair[1] !== undefined).map((
                  [name, value],
                ) => [h("dt", {}, name), h("dd", {}, value === null || value === "" ? "–" : value)]),
              );

            /** A table of `[title, row => content, class?]` columns; with a `label` where a heading above it says what it is. */
            export function table(columns, rows, { caption, label = caption, empty = "Nothing here yet." } = {}) {
              if (!rows.length) return blank(empty);
              const line = (row) => h("tr", {}, columns.map(([, cell, kind]) => h("td", { class: kind }, cell(row) ?? "–")));
              return h(
                "div",
                { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
                h(
                  "table",
                  {},
                  caption && h("caption", {}, caption),
                  h("thead", {}, h("tr", {}, columns.map(([title, , kind]) => h("th", { scope: "col", class: kind }, title)))),
                  h("tbody", {}, rows.map(line)),
                ),
              );
            }

            /** A list of the API, page by page: `load(cursor)` gives a page, `show(rows)` what to show of all that was read. */
            export async function pages(load, show) {
              const box = h("div"), rows = [];
              const more = async (cursor) => {
                const page = await load(cursor);
                rows.push(...page.data);
                fill(
                  box,
                  show(rows),
                  page.next_cursor && button("Show more", () => more(page.next_cursor)),
                  page.total !== undefined && h("p", { class: "quiet small" }, `${rows.length} of ${page.total}`),
                );
              };
              await more();
              return box;
            }

            let named = 0;
            /** A labelled control: `field("Channel", h("input", …), "what it is for")`. */
            export function field(label, control, help) {
              const id = control.id || `f${++named}`;
              control.id = id;
              if (help) control.setAttribute("aria-describedby", id + "-help");
              const isCheck = control.type === "checkbox";
              const name = h("label", { for: id }, label);
              return h(
                "div",
                { class: isCheck ? "field check" : "field" },
                isCheck ? [control, name] : [name, control],
                help && h("p", { class: "help", id: id + "-help" }, help),
              );
            }

            export const input = (name, more = {}) => h("input", { name, autocomplete: "off", spellcheck: "false", ...more });
            export const area = (name, value = "", more = {}) => h("textarea", { name, spellcheck: "false", value, ...more });
            export const choice = (name, options, value) =>
              h(
                "select",
                { name },
                options.map((option) => {
                  const [key, text] = Array.isArray(option) ? option : [option, option];
                  return h("option", { value: key, selected: key === value }, text);
                }),
              );

            /** What the gateway refused, with its single faults. */
            export const fault = (error) =>
              h(
                "div",
                { class: "fault", role: "alert" },
                error.message,
                error.problem?.errors?.length > 0 &&
                  h("ul", {}, error.problem.errors.map((one) => h("li", {}, h("code", {}, one.pointer), " ", one.detail))),
              );

            /** A form that says what went wrong under its button. `action(values, form)` gets the texts of its fields. */
            export function form(parts, { submit = "Save", action, kind = "stack", more = [] }) {
              const answer = h("div");
              const send = h("button", { class: "main" }, submit);
              const element = h(
                "form",
                { class: kind, novalidate: kind === "stack" ? null : true },
                parts,
                h("div", { class: "tools" }, send, more),
                answer,
              );
              element.addEventListener("submit", async (event) => {
                event.preventDefault();
                send.disabled = true;
                fill(answer);
                try {
                  fill(answer, await action(Object.fromEntries(new FormData(element)), element));
                } catch (error) {
                  fill(answer, fault(error));
                } finally {
                  send.disabled = false;
                }
              });
              return element;
            }

            /** Words between commas or spaces; undefined for none. */
            export const words = (text) => {
              const list = String(text ?? "").split(/[\s,]+/).filter(Boolean);
              return list.length ? list : undefined;
            };

            /** JSON somebody typed. */
            export function parsed(text, name = "data") {
              try {
                return JSON.parse(text);
              } catch (error) {
                throw new Error(`${name} is no JSON: ${error.message}`);
              }
            }

            export function notice(text) {
              const element = h("div", { class: "notice" }, text);
              document.getElementById("notices").append(element);
              setTimeout(() => element.remove(), 6000);
            }

            /** A question in front of the page; the promise tells whether it was confirmed. */
            export function confirmed(question, action, details) {
              return shown(h("div", {}, h("h2", {}, question), details), [["cancel", "Cancel", ""], ["yes", action, "danger"]])
                .then((answer) => answer === "yes");
            }

            /** Something that is shown once; `place` says where it belongs. */
            export const secret = (title, text, place) =>
              shown(
                h(
                  "div",
                  {},
                  h("h2", {}, title),
                  h("p", {}, `It is shown this once. Keep it ${place}.`),
                  h("p", { class: "mono wide", id: "secret" }, text),
                  button("Copy", async () => {
                    await navigator.clipboard.writeText(text);
                    notice("Copied.");
                  }),
                ),
                [["ok", "Done", "main"]],
              );

            function shown(content, answers) {
              return new Promise((done) => {
                const dialog = h(
                  "dialog",
                  { "aria-label": content.querySelector("h2")?.textContent },
                  content,
                  h(
                    "div",
                    { class: "tools" },
                    answers.map(([value, text, kind]) =>
                      h("button", { type: "button", class: kind, onclick: () => dialog.close(value) }, text)
                    ),
                  ),
                );
                dialog.addEventListener("close", () => {
                  dialog.remove();
                  done(dialog.returnValue);
                });
                document.body.append(dialog);
                dialog.showModal();
              });
            }

            """#),
        SiteFile("yaml.js", tag: "76194f1244070ec0", text: #"""
            // Reads YAML as openapi.yaml is written: block and flow collections, quoted and plain scalars, literal and folded blocks,
            // comments. No anchors, tags, multiple documents. A test holds it against a full parser.

            export function parseYAML(text) {
              const lines = text.split("\n").map((line) => ({ indent: line.search(/\S|$/), text: line.trim(), raw: line }));
              return new Reader(lines).block(0);
            }

            class Reader {
              constructor(lines) {
                this.lines = lines;
                this.at = 0;
              }

              /** The next line that says something, without moving past it. */
              peek() {
                while (this.at < this.lines.length && (!this.lines[this.at].text || this.lines[this.at].text.startsWith("#"))) {
                  this.at++;
                }
                return this.lines[this.at];
              }

              block(indent) {
                const line = this.peek();
                if (!line || line.indent < indent) return null;
                return /^-(\s|$)/.test(line.text) ? this.sequence(line.indent) : this.mapping(line.indent);
              }

              sequence(indent) {
                const items = [];
                for (let line; (line = this.peek()) && line.indent === indent && /^-(\s|$)/.test(line.text);) {
                  const rest = line.text.slice(1).trimStart();
                  if (!rest) {
                    this.at++;
                    items.push(this.block(indent + 1));
                    continue;
                  }
                  // `- a: 1` begins a mapping where `a` stands.
                  const inner = line.raw.length - line.raw.slice(indent + 1).trimStart().length;
                  if (keyOf(rest)) {
                    this.lines[this.at] = { indent: inner, text: rest, raw: " ".repeat(inner) + rest };
                    items.push(this.mapping(inner));
                  } else {
                    this.at++;
                    items.push(this.value(rest, indent));
                  }
                }
                return items;
              }

              mapping(indent) {
                const members = {};
                for (let line; (line = this.peek()) && line.indent === indent;) {
                  const key = keyOf(line.text);
                  if (!key) throw new Error(`line ${this.at + 1}: expected a key: ${line.text}`);
                  this.at++;
                  members[key.name] = this.value(key.rest, indent);
                }
                return members;
              }

              value(rest, indent) {
                if (/^[|>]/.test(rest)) return this.scalarBlock(rest, indent);
                if (!rest || rest.startsWith("#")) {
                  const next = this.peek();
                  // A sequence may stand under its key without an indent of its own.
                  return next && (next.indent > indent || (next.indent === indent && /^-(\s|$)/.test(next.text)))
                    ? this.block(next.indent)
                    : null;
                }
                let text = rest;
                const more = () => text += " " + this.lines[this.at++].text;
                if (/^[[{'"]/.test(rest)) {
                  while (!isWhole(text) && this.at < this.lines.length) more();
                  return new Flow(text).whole();
                }
                while (this.at < this.lines.length && this.lines[this.at].text && this.lines[this.at].indent > indent) more();
                return scalar(text.replace(/\s+#.*$/, ""));
              }

              scalarBlock(head, indent) {
                const body = [];
                let inner = null;
                for (; this.at < this.lines.length; this.at++) {
                  const line = this.lines[this.at];
                  if (line.text && line.indent <= indent) break;
                  if (line.text) inner ??= line.indent;
                  body.push(line.text ? line.raw.slice(inner) : "");
                }
                while (body.length && !body.at(-1)) body.pop();
                const text = head[0] === "|" ? body.join("\n") : fold(body);
                return head.includes("-") ? text : text + "\n";
              }
            }

            /** Lines become spaces, empty lines line ends. */
            const fold = (lines) =>
              lines.reduce(
                (all, line, index) =>
                  index === 0 ? line : line === "" ? all + "\n" : all.endsWith("\n") || all === "" ? all + line : all + " " + line,
                "",
              );

            function keyOf(text) {
              const match = text.match(/^(?:'((?:[^']|'')*)'|"((?:[^"\\]|\\.)*)"|([^\s'"[\]{},#&*!|>%@`][^#]*?))\s*:(?:\s+(.*)|$)/);
              if (!match) return null;
              const name = match[1]?.replaceAll("''", "'") ?? (match[2] !== undefined ? JSON.parse(`"${match[2]}"`) : match[3]);
              return { name, rest: match[4] ?? "" };
            }

            /** Whether every bracket and quote that was opened is closed. */
            function isWhole(text) {
              let depth = 0, quote = null, before = " ";
              for (let at = 0; at < text.length; at++) {
                const sign = text[at];
                if (quote) {
                  if (quote === '"' && sign === "\\") at++;
                  else if (sign === quote) {
                    if (quote === "'" && text[at + 1] === "'") at++;
                    else quote = null;
                  }
                } else if ((sign === "'" || sign === '"') && /[\s,[{:]/.test(before)) quote = sign;
                else if (sign === "[" || sign === "{") depth++;
                else if (sign === "]" || sign === "}") depth--;
                before = sign;
              }
              return depth <= 0 && !quote;
            }

            class Flow {
              constructor(text) {
                this.text = text;
                this.at = 0;
              }

              whole() {
                return this.value("");
              }
              blank() {
                while (/\s/.test(this.text[this.at] ?? "")) this.at++;
              }

              value(ends) {
                this.blank();
                const sign = this.text[this.at];
                if (sign === "[") return this.list();
                if (sign === "{") return this.members();
                if (sign === "'" || sign === '"') return this.quoted(sign);
                return scalar(this.plain(ends));
              }

              list() {
                const items = [];
                for (this.at++, this.blank(); this.text[this.at] !== "]"; this.next()) items.push(this.value(",]"));
                this.at++;
                return items;
              }

              members() {
                const members = {};
                for (this.at++, this.blank(); this.text[this.at] !== "}"; this.next()) {
                  const sign = this.text[this.at];
                  const name = sign === "'" || sign === '"' ? this.quoted(sign) : this.plain(":,}");
                  this.blank();
                  const has = this.text[this.at] === ":";
                  if (has) this.at++;
                  this.blank();
                  members[name] = has && !/[,}]/.test(this.text[this.at]) ? this.value(",}") : null;
                }
                this.at++;
                return members;
              }

              next() {
                this.blank();
                if (this.text[this.at] === ",") this.at++;
                else if (!/[\]}]/.test(this.text[this.at] ?? "")) {
                  throw new Error(`not understood: ${this.text.slice(this.at, this.at + 30)}`);
                }
                this.blank();
              }

              quoted(quote) {
                const from = ++this.at;
                for (;; this.at++) {
                  if (this.at >= this.text.length) throw new Error("a quote is not closed");
                  if (quote === '"' && this.text[this.at] === "\\") this.at++;
                  else if (this.text[this.at] === quote) {
                    if (quote === "'" && this.text[this.at + 1] === "'") this.at++;
                    else break;
                  }
                }
                const inner = this.text.slice(from, this.at++);
                return quote === "'" ? inner.replaceAll("''", "'") : JSON.parse(`"${inner}"`);
              }

              plain(ends) {
                const from = this.at;
                while (this.at < this.text.length) {
                  const sign = this.text[this.at];
                  if (
                    sign === ":"
                      ? ends.includes(":") && /[\s,}\]]|^$/.test(this.text[this.at + 1] ?? "")
                      : ends.includes(sign) || (ends && /[[\]{}]/.test(sign))
                  ) break;
                  this.at++;
                }
                return this.text.slice(from, this.at).trim();
              }
            }

            function scalar(text) {
              if (/^(null|~|)$/.test(text)) return null;
              if (/^(true|false)$/.test(text)) return text === "true";
              return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : text;
            }

            """#),
    ]
}
