// The API reference, generated in the browser from the gateway's own description.
import { badge, blank, fill, h, json } from "./ui.js";
import { parseYAML } from "./yaml.js";

const METHODS = ["get", "post", "put", "patch", "delete", "options"];
const $ = (id) => document.getElementById(id);
let api;

const resolve = (node) => node?.$ref ? node.$ref.slice(2).split("/").reduce((at, name) => at?.[name], api) : node;
const nameOf = (reference) => reference.split("/").at(-1);

/** Text in which backquotes mark `code`, and [text](/path) is a link to a page of this gateway. */
const marked = (text) =>
  text.split(/(`[^`]+`|\[[^\]]+\]\(\/[^)]+\))/).map((piece) => {
    if (/^`.+`$/s.test(piece)) return h("code", {}, piece.slice(1, -1));
    const link = piece.match(/^\[(.+)\]\((.+)\)$/s);
    return link ? h("a", { href: link[2] }, link[1]) : piece;
  });

const paragraphs = (text) => String(text ?? "").trim().split(/\n\s*\n/).filter(Boolean);
const prose = (text) => paragraphs(text).map((part) => h("p", {}, marked(part)));

// MARK: operations

function operations() {
  const all = [];
  for (const [path, item] of Object.entries(api.paths)) {
    for (const method of METHODS) {
      if (item[method]) {
        all.push({
          path,
          method,
          ...item[method],
          parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])],
        });
      }
    }
  }
  return all;
}

function operation(one) {
  const details = h(
    "details",
    { class: "operation card", id: one.operationId },
    h(
      "summary",
      {},
      h("span", { class: "method " + one.method }, one.method.toUpperCase()),
      h("h3", {}, one.summary),
      h("code", {}, one.path),
    ),
  );
  // An operation is rendered when it is opened, because there are about two hundred operations.
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(...body(one));
  });
  details.sought = [one.operationId, one.path, one.method, one.summary, one.description, one.tags].join(" ")
    .toLowerCase();
  return details;
}

function body(one) {
  const parameters = one.parameters.map(resolve);
  const request = resolve(one.requestBody);
  return [
    h(
      "div",
      {},
      prose(one.description),
      h(
        "p",
        { class: "small" },
        h("a", { href: "#" + one.operationId }, "#" + one.operationId),
        one.security?.length === 0 && [" ", badge("needs no key")],
      ),
      parameters.length > 0 && [
        h("h4", {}, "Parameters"),
        h(
          "ul",
          { class: "members" },
          parameters.map((parameter) =>
            member(parameter.name, parameter.schema, parameter.required, [
              badge(parameter.in),
              ...prose(parameter.description),
            ])
          ),
        ),
      ],
      request && [h("h4", {}, "Body"), content(request)],
      h("h4", {}, "Responses"),
      h(
        "ul",
        { class: "members" },
        Object.entries(one.responses).map(([status, response]) => answer(status, resolve(response))),
      ),
      h("h4", {}, "Try it"),
      h("pre", { class: "json", tabindex: 0 }, curl(one, parameters, request)),
    ),
  ];
}

function answer(status, response) {
  const kind = status < 300 ? "good" : status < 400 ? "" : "bad";
  const head = [badge(status, kind), " ", marked(paragraphs(response.description)[0] ?? "")];
  // All problems have the same form.
  if (!response.content || status >= 400) return h("li", {}, head);
  return h("li", {}, h("details", { open: status < 300 }, h("summary", {}, head), content(response)));
}

const content = ({ content = {} }) =>
  Object.entries(content).map(([type, { schema, example, examples }]) =>
    h(
      "div",
      {},
      h("p", { class: "quiet small" }, type),
      schema && shape(schema),
      example !== undefined && json(example),
      Object.entries(examples ?? {}).map(([name, { value }]) =>
        h("div", {}, h("p", { class: "quiet small" }, name), json(value))
      ),
    )
  );

function curl(one, parameters, request) {
  const query = parameters.filter((parameter) => parameter.in === "query" && parameter.required).map((parameter) =>
    `${parameter.name}=…`
  );
  const path = one.path.replace(/{(\w+)}/g, (_, name) => name.toUpperCase());
  const parts = [
    "curl",
    one.method !== "get" && !(one.method === "post" && request) && `-X ${one.method.toUpperCase()}`,
    one.security?.length !== 0 && `-H "Authorization: Bearer $PARLEY_KEY"`,
    request && `--json '${JSON.stringify(sample(Object.values(request.content)[0]))}'`,
    `"${location.origin}${path}${query.length ? "?" + query.join("&") : ""}"`,
  ];
  return parts.filter(Boolean).join(" \\\n  ");
}

/** A sample body with the required members. */
function sample({ example, schema }) {
  if (example !== undefined) return example;
  const made = (node, depth) => {
    const inner = resolve(node) ?? {};
    if (inner.default !== undefined) return inner.default;
    if (inner.const !== undefined) return inner.const;
    if (inner.enum) return inner.enum[0];
    const type = [inner.type].flat()[0] ?? (inner.properties ? "object" : undefined);
    if (type === "object" && depth < 3) {
      return Object.fromEntries(
        (inner.required ?? []).map((name) => [name, made(inner.properties?.[name], depth + 1)]),
      );
    }
    return {
      string: "…",
      integer: 1,
      number: 1,
      boolean: true,
      array: inner.items && depth < 3 ? [made(inner.items, depth + 1)] : [],
      object: {},
    }[type] ?? {};
  };
  return made(schema, 0);
}

// MARK: schemas

const typeOf = (schema) =>
  schema === true ? "anything" : [
    [
      schema.type ?? (schema.enum
        ? "one of"
        : schema.const !== undefined
        ? "constant"
        : schema.properties
        ? "object"
        : schema.oneOf || schema.anyOf
        ? "one of"
        : ""),
    ].flat().join(" or "),
    schema.type === "array" && schema.items &&
    " of " + (schema.items.$ref ? nameOf(schema.items.$ref) : typeOf(schema.items)),
  ].filter(Boolean).join("");

const BOUNDS = {
  format: "",
  pattern: "pattern ",
  minLength: "minimum length ",
  maxLength: "maximum length ",
  minimum: "≥ ",
  maximum: "≤ ",
  minItems: "minimum items ",
  maxItems: "maximum items ",
  maxProperties: "maximum members ",
  default: "default ",
};
const bounds = (schema) =>
  Object.entries(BOUNDS).filter(([name]) => schema[name] !== undefined).map(([name, text]) =>
    text + (typeof schema[name] === "string" ? schema[name] : JSON.stringify(schema[name]))
  );

/** A member: its name, its type and constraints, and its own members. */
function member(name, schema = {}, isRequired, more = []) {
  const own = schema.$ref ? { ...schema, $ref: undefined } : schema;
  return h(
    "li",
    {},
    h(
      "p",
      {},
      h("code", {}, name),
      " ",
      !schema.$ref && h("span", { class: "quiet small" }, typeOf(schema)),
      isRequired && [" ", h("span", { class: "must" }, "required")],
      bounds(own).map((text) => [" ", badge(text)]),
      schema.enum && [" ", schema.enum.map((value) => [h("code", {}, JSON.stringify(value)), " "])],
    ),
    prose(schema.description),
    more,
    schema.$ref ? unfolding(schema.$ref) : inside(schema),
  );
}

/** A reference to a schema, which can be expanded in place. Its members are rendered when it is opened. */
function unfolding(ref, isOpen = false) {
  const schema = resolve({ $ref: ref });
  const isListed = nameOf(ref) in api.components.schemas;
  const details = h(
    "details",
    {},
    h("summary", {}, nameOf(ref), " ", h("span", { class: "quiet small" }, typeOf(schema))),
  );
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) {
      details.append(
        ...prose(schema.description),
        ...bounds(schema).map((text) => badge(text)),
        ...inside(schema).flat(3),
        ...(isListed
          ? [h("p", { class: "small" }, h("a", { href: "#schema-" + nameOf(ref) }, "in the list of objects"))]
          : []),
      );
    }
  });
  details.open = isOpen;
  return details;
}

function inside(schema) {
  const parts = [];
  if (schema.properties) {
    parts.push(h(
      "ul",
      { class: "members" },
      Object.entries(schema.properties).map(([name, inner]) => member(name, inner, schema.required?.includes(name))),
    ));
  }
  if (schema.items?.$ref) parts.push(h("p", { class: "quiet small" }, "each item"), unfolding(schema.items.$ref));
  else if (schema.items) parts.push(inside(schema.items));
  for (const [key, text] of [["allOf", "all of"], ["oneOf", "one of"], ["anyOf", "one of"]]) {
    if (schema[key]) {
      parts.push(
        h("p", { class: "quiet small" }, text),
        h(
          "ul",
          { class: "members" },
          schema[key].map((inner) =>
            inner.$ref
              ? h("li", {}, unfolding(inner.$ref, key === "allOf"))
              : h("li", {}, typeOf(inner), prose(inner.description), inside(inner))
          ),
        ),
      );
    }
  }
  if (schema.additionalProperties?.$ref) {
    parts.push(h("p", { class: "quiet small" }, "each member"), unfolding(schema.additionalProperties.$ref));
  }
  return parts;
}

const shape = (schema) =>
  schema.$ref
    ? unfolding(schema.$ref, true)
    : h("div", {}, h("p", { class: "quiet small" }, typeOf(schema)), prose(schema.description), inside(schema));

function component(name, schema) {
  const details = h(
    "details",
    { class: "schema card", id: "schema-" + name },
    h("summary", {}, h("h3", {}, name), h("span", { class: "quiet small" }, typeOf(schema))),
  );
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) {
      details.append(shape(schema), ...(schema.example !== undefined ? [json(schema.example)] : []));
    }
  });
  details.sought = (name + " " + JSON.stringify(schema)).toLowerCase();
  return details;
}

// MARK: the page

function show() {
  const all = operations(), groups = [];
  for (const { name, description } of api.tags) {
    const its = all.filter((one) => one.tags.includes(name));
    if (its.length) {
      groups.push({
        id: "tag-" + name.replaceAll(" ", "-"),
        name,
        description,
        items: its.map((one) => [operation(one), one.summary]),
      });
    }
  }
  groups.push({
    id: "schemas",
    name: "schemas",
    description: "The objects in request and response bodies.",
    items: Object.entries(api.components.schemas).map(([name, schema]) => [component(name, schema), name]),
  });
  fill(
    $("main"),
    h("h1", { tabindex: -1 }, `${api.info.title} ${api.info.version}`),
    prose(api.info.description),
    h(
      "p",
      {},
      "For programs, this description is at ",
      h("a", { href: "/openapi.yaml" }, "openapi.yaml"),
      ", and an AsyncAPI description of the app's events is at ",
      h("code", {}, "/v1/asyncapi.json"),
      ". The ",
      h("a", { href: "/docs/" }, "guides"),
      " explain single tasks.",
    ),
    h("p", { id: "none", class: "blank", hidden: true }, "Nothing matches the search."),
    groups.map((group) =>
      h(
        "section",
        { id: group.id },
        h("h2", {}, group.name[0].toUpperCase() + group.name.slice(1)),
        prose(group.description),
        group.items.map(([element]) => element),
      )
    ),
  );
  fill(
    $("menu"),
    groups.map((group) =>
      h(
        "details",
        {},
        h("summary", {}, group.name),
        h("ul", {}, group.items.map(([element, title]) => h("li", {}, h("a", { href: "#" + element.id }, title)))),
      )
    ),
  );
}

function find() {
  const wanted = $("find").value.toLowerCase().split(/\s+/).filter(Boolean);
  let any = false;
  for (const section of $("main").querySelectorAll("section")) {
    let some = false;
    for (const item of section.querySelectorAll(":scope > details")) {
      item.hidden = !wanted.every((word) => item.sought.includes(word));
      some ||= !item.hidden;
    }
    section.hidden = !some;
    any ||= some;
  }
  $("none").hidden = any;
}

/** Opens the part of the page that the fragment of the URL names. */
function go() {
  const target = $(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.hidden || target.closest("section")?.hidden) {
    $("find").value = "";
    find();
  }
  if (target.tagName === "DETAILS") target.open = true;
  target.scrollIntoView();
  target.querySelector("summary")?.focus({ preventScroll: true });
}

try {
  const answer = await fetch("/openapi.yaml");
  api = parseYAML(await answer.text());
  show();
  $("find").addEventListener("input", find);
  addEventListener("hashchange", go);
  go();
} catch (error) {
  fill($("main"), h("h1", {}, "API reference"), blank(`Cannot read the API description: ${error.message}`));
}
