// Shows a job of the gateway until it ends.
import { get, path, post } from "./api.js";
import { button, facts, h, status } from "./ui.js";

/** `onEnd` is called when a running job has ended; `receiver` renders its webhook. */
export function job(first, { receiver, onEnd } = {}) {
  const box = h("div", { class: "job" });
  const isOver = (one) => ["done", "cancelled", "failed"].includes(one.state);
  const show = (one) => {
    const act = (verb) => async () => watch(await post(path`/v1/jobs/${one.id}` + "/" + verb));
    box.replaceChildren(...[
      h(
        "p",
        {},
        h("strong", {}, one.kind),
        " ",
        status(one.state),
        " ",
        one.webhook && receiver?.(one.webhook),
      ),
      h("progress", {
        max: Math.max(one.count, one.done + one.skipped, 1),
        value: isOver(one) ? Math.max(one.count, 1) : one.done + one.skipped,
        "aria-label": "Progress",
      }),
      facts([["Done", `${one.done} of ${one.count_is_exact ? "" : "at least "}${one.count}`], [
        "Skipped",
        one.skipped,
      ], ["Reason for the failure", one.reason ?? undefined]]),
      !isOver(one) &&
      h(
        "div",
        { class: "tools" },
        one.state === "paused" ? button("Resume", act("resume")) : button("Pause", act("pause")),
        button("Cancel", act("cancel"), "danger"),
      ),
    ].filter(Boolean));
  };
  const watch = async (one) => {
    show(one);
    // The job is read again only while the element is in the page.
    while (!isOver(one)) {
      await new Promise((done) => setTimeout(done, 700));
      if (!box.isConnected) return;
      one = await get(path`/v1/jobs/${one.id}`);
      show(one);
    }
    onEnd?.();
  };
  if (isOver(first) && !onEnd) show(first);
  else queueMicrotask(() => watch(first));
  return box;
}
