// Open streams, and which of them lag.
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
      { caption: "Open streams", empty: "No streams are open." },
    ));
  return [head("Streams", button("Reload", () => view.reload())), list];
}
