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
        ["Last used", (row) => row.last_used_at ? time(row.last_used_at) : "never"],
        ["Expires", (row) => row.expires_at ? time(row.expires_at) : "never"],
        ["", (row) => row.id !== view.who.credential && removing(row, view)],
      ],
      rows,
      { caption: "API keys" },
    ));

const removing = (key, view) =>
  button("Remove", async () => {
    const what = h("p", {}, "Programs that use it lose access at once, and its streams end.");
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
      ["Users see of others", ["name", "profile_url", ...app.public_user_fields].join(", ")],
      ["Subscribe key", app.subscribe_key && h("code", {}, app.subscribe_key)],
      ["Publish key", app.publish_key && h("code", {}, app.publish_key)],
    ]),
    form([
      check("require_declared_types", "Refuse events of types that are not declared"),
      check("demand_tokens", "Have PubNub's clients show an access token"),
      check("store_by_default", "Store what PubNub's clients publish without saying whether to store it"),
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
