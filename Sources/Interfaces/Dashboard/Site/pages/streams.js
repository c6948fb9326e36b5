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
          "Channels and types",
          (row) => [
            row.channels.join(", "),
            row.types.join() !== "*" && ` · ${row.types.join(", ")}`,
            row.filter && [" ", badge(row.filter)],
          ],
        ],
        [
          "User or service",
          (row) => [
            row.user ? link("#/users/" + encodeURIComponent(row.user), row.user) : "a service",
            row.device && ` (${row.device})`,
          ],
        ],
        ["State", (row) => status(row.state)],
        ["Unsent data", (row) => row.lag_bytes ? badge(bytes(row.lag_bytes), "warn") : "nothing", "number"],
        ["Data sent", (row) => bytes(row.bytes_sent), "number"],
        ["Open since", (row) => time(row.opened_at)],
        ["Format", (row) => row.format],
        ["Client address", (row) => row.remote],
        ["", (row) =>
          button("Close", async () => {
            await remove(path`/v1/streams/${row.id}`);
            notice("The stream was closed.");
            view.reload();
          }, "plain")],
      ],
      rows,
      { caption: "Open streams", empty: "No streams are open." },
    ));
  return [head("Streams", button("Reload", () => view.reload())), list];
}
