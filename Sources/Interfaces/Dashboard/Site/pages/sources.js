// Sources of posts by other services: verification, mapping and the latest requests.
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
        ["Address", (row) => h("code", {}, row.path)],
        ["Signature scheme", (row) => row.scheme],
        ["Secrets", (row) => row.secret_count, "number"],
        ["Mapping", (row) => "version " + row.mapping_version],
        ["Description", (row) => row.description || "–"],
      ],
      rows,
      {
        caption: "Sources",
        empty:
          "No sources yet. A source is an address to which another service posts. The gateway checks each post and maps it to events.",
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
              ["Events, or the reason why there are none", (row) =>
                row.events.length
                  ? row.events.map((event) => [link("#/events/" + event, event), " "])
                  : row.reason ?? "–"],
              ["", (row) =>
                button("Show", () => fill(detail, request(id, row, load)), "plain")],
            ],
            rows,
            { label: "Latest requests", empty: "No requests since the gateway started." },
          ),
      ),
    );
  outcome.addEventListener("change", load);
  await load();
  return [
    head(
      id,
      badge(source.scheme),
      button("Delete", async () => {
        const consequence = h("p", {}, "After the deletion, the address of the source responds with 404.");
        if (!await confirmed(`Delete ${id}?`, "Delete", consequence)) return;
        await remove(path`/v1/sources/${id}`);
        location.hash = "#/sources";
      }, "danger"),
    ),
    h(
      "div",
      { class: "card" },
      facts([
        ["Address", h("code", {}, location.origin + source.path)],
        ["Description", source.description],
        ["Verification request", source.handshake],
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
    facts([
      ["Outcome", [status(one.outcome), " ", one.reason]],
      ["Index of the secret that signed the post", one.secret ?? undefined],
      ["Mapping", "version " + one.mapping_version],
      ["Replay of", one.replay_of ?? undefined],
    ]),
    one.errors.length > 0 &&
      h("ul", {}, one.errors.map((each) => h("li", {}, h("code", {}, each.pointer), " ", each.detail))),
    h(
      "details",
      {},
      h("summary", {}, "Header fields"),
      h("pre", { class: "json", tabindex: 0 }, one.headers.map(({ name, value }) => `${name}: ${value}`).join("\n")),
    ),
    h("h3", {}, `Body (${one.body_bytes} bytes${one.truncated ? ", only the beginning is shown" : ""})`),
    h("pre", { class: "json", tabindex: 0 }, one.body ?? one.body_base64 ?? ""),
    button("Process the request again", async () => {
      const got = await post(path`/v1/sources/${source}/requests/${one.id}/replay`);
      notice(`${got.accepted} events accepted.`);
      load();
    }),
  );
}

/** A form that shows the events that a post would produce, with the source's mapping or another mapping. */
function trying(id, source) {
  const element = form([
    field("Header fields, one per line", area("headers", "Content-Type: application/json", { rows: 3 })),
    field("Body", area("body", '{"user": "ana"}', { rows: 5 })),
    field(
      "Mapping to test instead of the saved mapping",
      area("mapping", "", { rows: 4, placeholder: JSON.stringify(source.mapping) }),
    ),
  ], {
    submit: "Test",
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
          badge(said.verified ? "signature is valid" : "signature is not valid", said.verified ? "good" : "bad"),
          " ",
          said.rejection,
        ),
        said.handshake &&
        h(
          "p",
          {},
          `The post is a provider's verification request; the gateway responds with ${said.handshake.status}.`,
        ),
        h("ul", {}, said.errors.map((one) => h("li", {}, h("code", {}, one.pointer), " ", one.detail))),
        said.dropped > 0 && h("p", {}, `Conditions of the mapping dropped ${said.dropped} events.`),
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
              badge(event.valid ? "accepted" : "rejected", event.valid ? "good" : "bad"),
            ),
            json(event.data),
          )
        ),
      );
    },
  });
  element.id = "try";
  return h("section", { class: "card" }, h("h2", {}, "Test a post"), element);
}

function editor(source, isNew, done) {
  return form(
    [
      isNew && field("Id", input("id", { required: true, placeholder: "github" })),
      field("Signature scheme", choice("scheme", SCHEMES, source.scheme)),
      field("Secret", input("secret", { type: "password", placeholder: isNew ? "" : "unchanged if empty" })),
      field(
        "Options of the scheme",
        area("options", source.scheme_options ? JSON.stringify(source.scheme_options) : "", { rows: 2 }),
        "For the schemes generic, ed25519, rfc9421 and token.",
      ),
      field("Mapping", area("mapping", JSON.stringify(source.mapping, null, 2), { rows: 10 })),
      field("Description", input("description", { value: source.description ?? "" })),
    ].filter(Boolean),
    {
      submit: isNew ? "Add" : "Save",
      action: async ({ id = source.id, scheme, secret, options, mapping, description }) => {
        await put(path`/v1/sources/${id}`, {
          scheme,
          mapping: parsed(mapping, "The mapping"),
          description,
          ...(secret && { secrets: [secret] }),
          ...(options.trim() && { scheme_options: parsed(options, "The text in 'Options of the scheme'") }),
        });
        done(id);
      },
    },
  );
}
