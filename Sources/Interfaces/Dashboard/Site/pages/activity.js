// The audit log: administrative changes, and requests that lacked the right to make one.
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
            ["Action", (row) => h("code", {}, row.action)],
            ["Resource", (row) => row.resource ?? "–"],
            ["Credential", (row) => [row.actor ?? "unknown", row.user && ` for ${row.user}`]],
            ["Address", (row) => row.address ?? "–"],
            ["Result", (row) => [badge(row.result, row.result === "done" ? "good" : "bad"), " ", row.code]],
          ],
          rows,
          { label: "Activity", empty: "No entries match." },
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
