// Building blocks of pages. Data of the gateway becomes text nodes, never markup.

/**
 * Creates an element: `h("p", { class: "quiet", onclick: … }, "text", child, [more])`. Children that are null or false
 * are skipped.
 */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const fill = (element, ...children) => {
  element.replaceChildren(...children.flat(3).filter(Boolean));
  return element;
};

/** The header of a page: its title and its buttons. */
export const head = (title, ...tools) =>
  h(
    "div",
    { class: "head" },
    h("h1", { tabindex: -1 }, title),
    tools.length > 0 && h("div", { class: "tools" }, tools),
  );

export const link = (href, ...text) => h("a", { href }, ...text);
export const badge = (text, kind) => h("span", { class: "badge " + (kind ?? "") }, text);
export const blank = (text) => h("p", { class: "blank" }, text);

const KINDS = {
  enabled: "good",
  delivered: "good",
  live: "good",
  done: "good",
  joined: "good",
  accepted: "good",
  closed: "good",
  enforce: "good",
  valid: "good",
  pending: "",
  held: "warn",
  running: "warn",
  paused: "warn",
  failed: "bad",
  dead: "bad",
  disabled: "bad",
  open: "bad",
  warn: "warn",
  half_open: "warn",
  pending_verification: "warn",
  duplicate: "warn",
  dropped: "warn",
  catching_up: "warn",
  signature_invalid: "bad",
  rejected: "bad",
  cancelled: "warn",
};
/** A badge for a status or state of the API, such as `enabled`. */
export const status = (word) => badge(String(word).replaceAll("_", " "), KINDS[word]);

export function button(text, action, kind, more = {}) {
  const element = h("button", { type: "button", class: kind, ...more }, text);
  element.addEventListener("click", async () => {
    element.disabled = true;
    try {
      await action(element);
    } catch (error) {
      notice(error.message);
    } finally {
      element.disabled = false;
    }
  });
  return element;
}

/** A time in the browser's time zone. */
export function time(text, form = "full") {
  if (!text) return "–";
  const moment = new Date(text);
  const shown = form === "clock"
    ? moment.toLocaleTimeString(undefined, { hour12: false }) + "." + String(moment.getMilliseconds()).padStart(3, "0")
    : moment.toLocaleString(undefined, { dateStyle: form === "short" ? "short" : "medium", timeStyle: "medium" });
  return h("time", { datetime: text, title: text }, shown);
}

/** The time of a timetoken. */
export const timeOf = (timetoken) => timetoken ? time(new Date(Number(BigInt(timetoken) / 10000n)).toISOString()) : "–";

/** Formatted and coloured JSON. */
export function json(value) {
  const pre = h("pre", { class: "json" });
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "null";
  const tokens = /("(?:\\.|[^"\\])*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\b(?:true|false|null)\b/g;
  let end = 0;
  for (const match of text.matchAll(tokens)) {
    pre.append(text.slice(end, match.index));
    const kind = match[2] ? "name" : match[1] ? "text" : /^[-\d]/.test(match[0]) ? "number" : "word";
    pre.append(h("span", { class: kind }, match[1] ?? match[0]), match[2] ?? "");
    end = match.index + match[0].length;
  }
  pre.append(text.slice(end));
  return pre;
}

/** A list of names and values: `facts([["Address", url], …])`. */
export const facts = (pairs) =>
  h(
    "dl",
    { class: "facts" },
    pairs.filter((pair) => pair && pair[1] !== undefined).map((
      [name, value],
    ) => [h("dt", {}, name), h("dd", {}, value === null || value === "" ? "–" : value)]),
  );

/**
 * A table with columns `[title, row => content, class?]`; set `label` instead of `caption` where a heading above the
 * table names it.
 */
export function table(columns, rows, { caption, label = caption, empty = "Nothing here yet." } = {}) {
  if (!rows.length) return blank(empty);
  const line = (row) => h("tr", {}, columns.map(([, cell, kind]) => h("td", { class: kind }, cell(row) ?? "–")));
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    h(
      "table",
      {},
      caption && h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map(([title, , kind]) => h("th", { scope: "col", class: kind }, title)))),
      h("tbody", {}, rows.map(line)),
    ),
  );
}

/** A list of the API, page by page: `load(cursor)` returns a page, `show(rows)` renders all rows loaded so far. */
export async function pages(load, show) {
  const box = h("div"), rows = [];
  const more = async (cursor) => {
    const page = await load(cursor);
    rows.push(...page.data);
    fill(
      box,
      show(rows),
      page.next_cursor && button("Show more", () => more(page.next_cursor)),
      page.total !== undefined && h("p", { class: "quiet small" }, `${rows.length} of ${page.total}`),
    );
  };
  await more();
  return box;
}

let named = 0;
/** A labelled control: `field("Channel", h("input", …), "help text")`. */
export function field(label, control, help) {
  const id = control.id || `f${++named}`;
  control.id = id;
  if (help) control.setAttribute("aria-describedby", id + "-help");
  const isCheck = control.type === "checkbox";
  const name = h("label", { for: id }, label);
  return h(
    "div",
    { class: isCheck ? "field check" : "field" },
    isCheck ? [control, name] : [name, control],
    help && h("p", { class: "help", id: id + "-help" }, help),
  );
}

export const input = (name, more = {}) => h("input", { name, autocomplete: "off", spellcheck: "false", ...more });
export const area = (name, value = "", more = {}) => h("textarea", { name, spellcheck: "false", value, ...more });
export const choice = (name, options, value) =>
  h(
    "select",
    { name },
    options.map((option) => {
      const [key, text] = Array.isArray(option) ? option : [option, option];
      return h("option", { value: key, selected: key === value }, text);
    }),
  );

/** An error response of the gateway, with a list of its errors. */
export const fault = (error) =>
  h(
    "div",
    { class: "fault", role: "alert" },
    error.message,
    error.problem?.errors?.length > 0 &&
      h("ul", {}, error.problem.errors.map((one) => h("li", {}, h("code", {}, one.pointer ?? one.parameter), " ", one.detail))),
  );

/** A form that shows errors under its button. `action(values, form)` receives the texts of its fields. */
export function form(parts, { submit = "Save", action, kind = "stack", more = [] }) {
  const answer = h("div");
  const send = h("button", { class: "main" }, submit);
  const element = h(
    "form",
    { class: kind, novalidate: kind === "stack" ? null : true },
    parts,
    h("div", { class: "tools" }, send, more),
    answer,
  );
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    fill(answer);
    try {
      fill(answer, await action(Object.fromEntries(new FormData(element)), element));
    } catch (error) {
      fill(answer, fault(error));
    } finally {
      send.disabled = false;
    }
  });
  return element;
}

/** The words in a text, separated by commas or spaces; undefined when there are none. */
export const words = (text) => {
  const list = String(text ?? "").split(/[\s,]+/).filter(Boolean);
  return list.length ? list : undefined;
};

/** Parses JSON that a user typed. */
export function parsed(text, name = "data") {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${name} is not valid JSON: ${error.message}`);
  }
}

export function notice(text) {
  const element = h("div", { class: "notice" }, text);
  document.getElementById("notices").append(element);
  setTimeout(() => element.remove(), 6000);
}

/** A dialog with a question; the promise resolves to true when the user confirmed. */
export function confirmed(question, action, details) {
  return shown(h("div", {}, h("h2", {}, question), details), [["cancel", "Cancel", ""], ["yes", action, "danger"]])
    .then((answer) => answer === "yes");
}

/** A dialog with a secret that is shown only once; `place` describes where to store it. */
export const secret = (title, text, place) =>
  shown(
    h(
      "div",
      {},
      h("h2", {}, title),
      h("p", {}, `The text below is shown only once. Store it ${place}.`),
      h("p", { class: "mono wide", id: "secret" }, text),
      button("Copy", async () => {
        await navigator.clipboard.writeText(text);
        notice("Copied.");
      }),
    ),
    [["ok", "Done", "main"]],
  );

function shown(content, answers) {
  return new Promise((done) => {
    const dialog = h(
      "dialog",
      { "aria-label": content.querySelector("h2")?.textContent },
      content,
      h(
        "div",
        { class: "tools" },
        answers.map(([value, text, kind]) =>
          h("button", { type: "button", class: kind, onclick: () => dialog.close(value) }, text)
        ),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      done(dialog.returnValue);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
