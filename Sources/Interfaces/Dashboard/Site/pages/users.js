// The app's users. For one user: channels, presence, devices and unread messages.
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
      await pages((cursor) => get("/v1/users" + query({ filter, cursor, total: true, sort: "updated_at:desc" })), (rows) =>
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
            empty: "No users have a record. Users do not need a record; open a user by id.",
          },
        )),
    );
  await load({});
  return [
    head("Users"),
    form([field("Open a user by id", input("user", { required: true, placeholder: "ana" }))], {
      submit: "Open",
      kind: "row",
      action: ({ user }) => {
        location.hash = to(user);
      },
    }),
    form([field("Filter", input("filter", { placeholder: "name LIKE 'An*'" }))], {
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
            h("p", {}, "The record is deleted, and the user's tokens are revoked. Memberships and messages stay."),
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
              ["Id in another system", record.external_id],
              ["Created", timeOf(record.created_timetoken)],
              ["Unread messages", unread ? unread.unread_count : undefined],
              ["Custom values", record.custom ? json(record.custom) : undefined],
            ]),
          )
          : blank("This user has no record."),
        table(
          [
            ["Channel", (row) => toChannel(row.channel)],
            ["State", (row) => [status(row.state), row.role === "operator" && [" ", badge("operator")]]],
            ["Joined or invited", (row) => timeOf(row.joined_timetoken ?? row.invited_timetoken)],
            ["Read up to", (row) => timeOf(row.read_timetoken)],
          ],
          places.data,
          { caption: "Channels", empty: "The user is in no channel." },
        ),
        restrictions.data.length > 0 &&
          table(
            [
              ["Channel", (row) => toChannel(row.channel)],
              ["Restriction", (row) => [row.ban && badge("banned", "bad"), " ", row.mute && badge("muted", "warn")]],
              ["Reason", (row) => row.reason ?? "–"],
              ["Until", (row) => row.until ? time(row.until) : "no end"],
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
            : h("p", { class: "quiet" }, "The user is present on no channel."),
        ),
        table(
          [
            ["Device", (row) => row.device],
            ["State", (row) => status(row.state === "open" ? "live" : row.state)],
            ["Streams", (row) => row.streams, "number"],
            ["Open since", (row) => time(row.opened_at)],
            ["", (row) =>
              button("End the session", async () => {
                await remove(path`/v1/users/${id}/sessions/${row.id}`);
                notice("The session has ended.");
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
