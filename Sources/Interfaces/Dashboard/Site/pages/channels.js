// The app's channels. For one channel: members, presence and messages.
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
        (cursor) => get("/v1/channels" + query({ filter, cursor, total: true, sort: "updated_at:desc" })),
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
              empty: "No channels have a record.",
            },
          ),
      ),
    );
  await load({});
  return [
    head("Channels"),
    form([field("Open a channel by name", input("name", { required: true, placeholder: "demo" }))], {
      submit: "Open",
      kind: "row",
      action: ({ name }) => {
        location.hash = to(name);
      },
    }),
    form([field("Filter", input("filter", { placeholder: "name LIKE 'An*'" }))], {
      submit: "Find",
      kind: "row",
      action: load,
    }),
    h(
      "p",
      { class: "quiet" },
      "A channel exists as soon as it is used. Only channels with a record are listed; open other channels by name.",
    ),
    list,
    h(
      "details",
      { class: "card" },
      h("summary", {}, "Create a channel"),
      form([
        field("Id", input("id", { placeholder: "generated if empty" })),
        field(
          "Kind",
          choice("kind", [["public", "public: anyone may join"], ["group", "group: by invitation"], [
            "open",
            "open: users enter and leave",
          ], ["direct", "direct: between two users"]]),
        ),
        field("Name", input("name")),
        field("First members", input("users", { placeholder: "ana, ben" })),
      ], {
        submit: "Create",
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
        : blank("No events of this channel are stored."),
  );
  return [
    head(
      name,
      record && badge(record.kind),
      record?.frozen && badge("frozen", "warn"),
      link("#/emit?channel=" + encodeURIComponent(name), "Emit an event"),
      record && button(record.frozen ? "Unfreeze" : "Freeze", async () => {
        await (record.frozen ? remove : put)(path`/v1/channels/${name}/freeze`);
        again();
      }),
      record && button("Delete", async () => {
        if (
          !await confirmed(
            `Delete ${name}?`,
            "Delete",
            h("p", {}, "The record and the memberships are deleted; the events stay."),
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
              ["Description", record.description],
              ["Created by", record.created_by ?? "the app"],
              ["Created", timeOf(record.created_timetoken)],
              ["Operators", record.operators.length ? record.operators.map((user) => [toUser(user), " "]) : null],
              ["Members", record.member_count ?? undefined],
              ["Custom values", record.custom ? json(record.custom) : undefined],
            ]),
          )
          : blank("This channel has no record."),
        h(
          "section",
          { class: "card" },
          h("h2", {}, "Present now"),
          people(present, (row) => row.state && h("code", {}, JSON.stringify(row.state))),
        ),
        inside && h("section", { class: "card" }, h("h2", {}, "Users inside the channel"), people(inside, () => null)),
        record && !isOpen && await members(name, again),
      ),
    ),
  ];
}

const people = (page, more) =>
  page.data.length
    ? h("ul", {}, page.data.map((row) => h("li", {}, toUser(row.user), " ", more(row))))
    : h("p", { class: "quiet" }, "No users.");

async function members(name, again) {
  const list = await pages((cursor) => get(path`/v1/channels/${name}/members` + query({ cursor })), (rows) =>
    table(
      [
        ["User", (row) => toUser(row.user)],
        ["State", (row) => [status(row.state), row.role === "operator" && [" ", badge("operator")]]],
        ["Read up to", (row) => timeOf(row.read_timetoken)],
        ["", (row) =>
          button("Delete", async () => {
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
        notice("The user was added.");
        again();
      },
    }),
  );
}
