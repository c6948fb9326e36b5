// Event types: declared types, the versions of their schemas, and the compatibility of new versions.
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
const MODES = [["enforce", "reject the event"], ["warn", "accept the event and report the violation"], [
  "off",
  "do not check events",
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
          ["Description", (row) => [row.deprecated && badge("deprecated", "warn"), " ", row.description]],
        ],
        rows,
        {
          caption: builtIn === "true" ? "The gateway's own types" : "Your types",
          empty: "No event types are declared yet. Events of undeclared types are not checked.",
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
  field("Description", input("description", { value: type.description ?? "" })),
  field("Owner", input("owner", { value: type.owner ?? "" })),
  field("Events that do not match the schema", choice("mode", MODES, type.mode ?? "enforce")),
  field(
    "Compatibility of new versions",
    choice("compatibility", RULES.map((rule) => [rule, rule.replaceAll("_", " ")]), type.compatibility ?? "backward"),
  ),
  field("Reason for deprecation", input("deprecated", { value: type.deprecated ?? "", placeholder: "not deprecated" })),
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
      ["Compatibility", (row) => row.compatibility.replaceAll("_", " ")],
      ["Added", (row) => time(row.created_at)],
      ["Reason for accepting an incompatible version", (row) => row.forced ?? "none"],
    ],
    versions,
    { caption: "Versions", empty: "No schema yet: events are not checked." },
  );
  return [
    head(
      name,
      status(type.mode),
      type.deprecated && badge("deprecated", "warn"),
      link("#/emit?type=" + encodeURIComponent(name), "Emit an event"),
      !type.built_in && button("Delete", async () => {
        if (
          !await confirmed(
            `Delete ${name}?`,
            "Remove",
            h("p", {}, "Events of the type are no longer checked. Its versions stay readable."),
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
        ["Description", type.description],
        ["Owner", type.owner],
        ["Compatibility", type.compatibility.replaceAll("_", " ")],
        ["Origin of the settings", type.origin.replace("_", " ")],
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

/** A form for a new version, which is compared with the earlier ones before it is added. */
function proposing(name, newest, again) {
  const schema = area("schema", newest ? JSON.stringify(newest.schema, null, 2) : '{\n  "type": "object"\n}', {
    rows: 12,
  });
  const body = ({ force }) => ({ schema: parsed(schema.value, "The schema"), ...(force && { force }) });
  const verdict = h("div");
  const element = form([
    field("Schema", schema),
    field("Reason to accept an incompatible version", input("force", { placeholder: "none" })),
  ], {
    submit: "Add this version",
    action: async (values) => {
      await post(path`/v1/event-types/${name}/versions`, body(values));
      again();
    },
    more: [
      button("Check compatibility", async (press) => {
        const values = Object.fromEntries(new FormData(press.closest("form")));
        try {
          const would = await post(path`/v1/event-types/${name}/versions` + "?dry_run=true", body(values));
          const number = ` The new version would have the number ${would.version}.`;
          fill(verdict, h("p", {}, badge("compatible", "good"), number));
        } catch (error) {
          fill(
            verdict,
            fault(error),
            error.problem?.witness !== undefined &&
              [h("p", {}, "One version accepts this payload, the other rejects it:"), json(error.problem.witness)],
          );
        }
      }),
      button("Start a trial", async () => {
        await put(path`/v1/event-types/${name}/candidate`, { schema: parsed(schema.value, "The schema") });
        notice("New events are now also checked against the schema on trial.");
      }),
      button("Infer from events", async () => {
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
    h("h2", {}, "Test a payload"),
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
            badge(said.valid ? "the payload matches" : "the payload does not match", said.valid ? "good" : "bad"),
            said.version ? ` version ${said.version}` : " (there is no schema)",
          ),
          h("ul", {}, said.errors.map((one) => h("li", {}, h("code", {}, one.pointer), " ", one.detail))),
        );
      },
    }),
  );
}

/** A candidate schema: live events are validated against it, and the results are only counted. */
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
          "No schema is on trial. A schema on trial checks new events and only counts the results.",
        ),
      );
    }
    fill(
      box,
      h(
        "p",
        {},
        `${on.accepted} accepted, ${on.refused} rejected, ${on.undecided} undecided since `,
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
            link("#/events/" + one.event, "first event with this error"),
          )
        ),
      ),
      json(on.schema),
      h(
        "div",
        { class: "tools" },
        button("Promote to the newest version", async () => {
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
  const details = h("details", { class: "card" }, h("summary", {}, "Schema on trial"), box);
  details.addEventListener("toggle", () => {
    if (details.open) look().catch((error) => notice(error.message));
  });
  return details;
}
