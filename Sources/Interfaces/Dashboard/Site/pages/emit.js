// Emitting an event: a form generated from the type's schema, with an optional dry run.
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
    placeholder: "message.created if empty",
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
    field("Type", type, "For a declared type, the form below shows its fields."),
    field("User", input("user")),
    place,
    field("Store the event", h("input", { type: "checkbox", name: "store", checked: true })),
  ], {
    submit: "Emit",
    action: async (values) => {
      fill(verdict);
      const sent = await post(target(values.channel), body(values));
      return h("p", {}, "Accepted as ", link("#/events/" + sent.id, sent.id), ".");
    },
    more: [button("Test without emitting", async (press) => {
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

/** The result that a dry run predicts. */
async function forecast({ valid, errors, version, would_reach: reach }) {
  const receiver = reach.webhooks && await receivers();
  return h(
    "div",
    { class: "card" },
    h("h2", {}, "Result of the test"),
    h(
      "p",
      {},
      badge(valid ? "accepted" : "rejected", valid ? "good" : "bad"),
      version ? ` by version ${version} of the type's schema` : "",
    ),
    errors.length > 0 && h("ul", {}, errors.map((one) => h("li", {}, h("code", {}, one.pointer), " ", one.detail))),
    h("p", {}, `${reach.streams} open stream${reach.streams === 1 ? "" : "s"} would receive the event.`),
    reach.webhooks && h(
      "ul",
      {},
      reach.webhooks.map((one) =>
        h(
          "li",
          {},
          badge(one.match ? "sent" : "not sent", one.match ? "good" : ""),
          " ",
          receiver(one.id),
          ": ",
          one.why,
        )
      ),
    ),
  );
}
