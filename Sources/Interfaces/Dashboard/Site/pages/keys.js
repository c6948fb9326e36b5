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
  ["read", "read and follow events"],
  ["manage", "manage webhooks, sources and types"],
  ["admin", "everything, including keys"],
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
          row.id === view.who.credential && [" ", badge("this session", "good")],
          row.jwt && [" ", badge("verifies tokens")],
        ]],
        ["Id", (row) => h("code", {}, row.id)],
        ["Scopes", (row) => row.scopes.join(", ")],
        ["Channels", (row) => row.channels.join(", ")],
        ["Types", (row) => row.types.join(", ")],
        ["Request rate", (row) => rate(row.rate_limit)],
        ["Created", (row) => time(row.created_at)],
        ["Last used", (row) => row.last_used_at ? time(row.last_used_at) : "never"],
        ["Expires", (row) => row.expires_at ? time(row.expires_at) : "never"],
        ["", (row) => row.id !== view.who.credential && removing(row, view)],
      ],
      rows,
      { caption: "API keys" },
    ));

const removing = (key, view) =>
  button("Delete", async () => {
    const what = h("p", {}, "Programs that use the key lose access immediately, and their streams are closed.");
    if (!await confirmed(`Delete the key ${key.name || key.id}?`, "Delete", what)) return;
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
      field("Name", input("name", { placeholder: "the purpose of the key" })),
      h("fieldset", {}, h("legend", {}, "Scopes"), SCOPES.map(scope)),
      field("Channels", input("channels", { placeholder: "all" })),
      field("Types", input("types", { placeholder: "all" })),
      field("Requests per minute", input("rate", { type: "number", min: 1, placeholder: "the gateway's default" })),
      field("Expires", input("expires", { type: "datetime-local" })),
      h(
        "details",
        {},
        h("summary", {}, "For tokens that your server signs"),
        field("Algorithm", choice("alg", ["EdDSA", "ES256", "RS256"])),
        field(
          "Public key",
          area("public", "", { placeholder: "-----BEGIN PUBLIC KEY-----" }),
          "With a public key, no secret is created.",
        ),
      ),
    ], {
      submit: "Create",
      action: async (values) => {
        const made = await post("/v1/keys", order(values));
        if (made.key) await secret("The new key", made.key, "where the program that uses the key reads its secrets");
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
      ["Events are stored for", app.retention_hours ? `${app.retention_hours} hours` : "an unlimited time"],
      ["Request rate", rate(app.rate_limit)],
      ["Event quota", rate(app.event_quota)],
      ["Fields visible to other users", ["name", "profile_url", ...app.public_user_fields].join(", ")],
      ["Subscribe key", app.subscribe_key && h("code", {}, app.subscribe_key)],
      ["Publish key", app.publish_key && h("code", {}, app.publish_key)],
    ]),
    form([
      check("require_declared_types", "Reject events of undeclared types"),
      check("demand_tokens", "Require access tokens from PubNub clients"),
      check("store_by_default", "Store messages that PubNub clients publish without the parameter 'store'"),
    ], {
      submit: "Save",
      action: async (values) => {
        await patch(path`/v1/apps/${app.id}`, {
          require_declared_types: "require_declared_types" in values,
          demand_tokens: "demand_tokens" in values,
          store_by_default: "store_by_default" in values,
        });
        notice("Saved.");
      },
    }),
  );
}
