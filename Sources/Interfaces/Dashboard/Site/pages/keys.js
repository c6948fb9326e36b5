// Credentials of the app.
import { get, path, post, query, remove } from "../api.js";
import { badge, button, confirmed, field, form, h, head, input, pages, secret, table, time, words } from "../ui.js";

export default async function keys(view) {
  const list = await pages((cursor) => get("/v1/keys" + query({ cursor })), (rows) =>
    table(
      [
        [
          "Name",
          (row) => [
            row.name || h("span", { class: "quiet" }, "no name"),
            row.id === view.who.credential && [" ", badge("yours", "good")],
          ],
        ],
        ["Id", (row) => h("code", {}, row.id)],
        ["May", (row) => row.scopes.join(", ")],
        ["Channels", (row) => row.channels.join(", ")],
        ["Types", (row) => row.types.join(", ")],
        ["Made", (row) => time(row.created_at)],
        ["Expires", (row) => row.expires_at ? time(row.expires_at) : "never"],
        ["", (row) =>
          row.id !== view.who.credential && button("Remove", async () => {
            if (
              !await confirmed(
                `Remove the key ${row.name || row.id}?`,
                "Remove",
                h("p", {}, "Whoever uses it is shut out at once; its streams end."),
              )
            ) return;
            await remove(path`/v1/keys/${row.id}`);
            view.reload();
          }, "plain")],
      ],
      rows,
      { caption: "API keys" },
    ));
  const scope = (name, text) =>
    field(text, h("input", { type: "checkbox", name: "scope-" + name, checked: name === "emit" || name === "read" }));
  return [
    head("Keys"),
    list,
    h(
      "section",
      { class: "card" },
      h("h2", {}, "New key"),
      form([
        field("Name", input("name", { placeholder: "what it is for" })),
        h(
          "fieldset",
          {},
          h("legend", {}, "It may"),
          scope("emit", "emit events"),
          scope("read", "read and follow"),
          scope("manage", "manage webhooks, sources, types"),
          scope("admin", "everything, keys included"),
        ),
        field("Channels", input("channels", { placeholder: "all" })),
        field("Types", input("types", { placeholder: "all" })),
        field("Expires", input("expires", { type: "datetime-local" })),
      ], {
        submit: "Make",
        action: async (values) => {
          const scopes = ["emit", "read", "manage", "admin"].filter((name) => values["scope-" + name]);
          const made = await post("/v1/keys", {
            name: values.name,
            scopes,
            ...(words(values.channels) && { channels: words(values.channels) }),
            ...(words(values.types) && { types: words(values.types) }),
            ...(values.expires && { expires_at: new Date(values.expires).toISOString() }),
          });
          await secret("The new key", made.key);
          view.reload();
        },
      }),
    ),
  ];
}
