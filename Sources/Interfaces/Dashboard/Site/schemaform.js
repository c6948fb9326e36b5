// A form generated from a JSON Schema, and its value. Parts of the schema without a matching control become JSON text
// fields.
import { area, choice, field, h, input } from "./ui.js";

const MOST_DEEP = 4;

/** Returns `{ element, value() }`. `value()` throws for invalid JSON and returns undefined for an empty field. */
export function schemaForm(schema, { label = "Data", example } = {}) {
  return part(schema, schema, label, example ?? first(schema), true, 0);
}

const first = (schema) => schema?.default ?? schema?.examples?.[0];

/** The schema to which a `$ref` within the same document refers. */
function resolved(schema, root) {
  for (let turns = 0; schema?.$ref?.startsWith("#") && turns < 10; turns++) {
    const names = schema.$ref.slice(1).split("/").slice(1).map((name) =>
      decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~")
    );
    schema = names.reduce((node, name) => node?.[name], root);
  }
  return schema ?? {};
}

function part(given, root, label, example, isRequired, depth) {
  const schema = resolved(given, root);
  if (schema.const !== undefined) return fixed(label, schema.const);
  if (Array.isArray(schema.enum)) return listed(schema, label, example, isRequired);
  const kinds = [schema.type ?? (schema.properties ? "object" : undefined)].flat().filter((kind) => kind !== "null");
  const make = kinds.length === 1 && !schema.oneOf && !schema.anyOf && !schema.allOf &&
    { object, boolean, string, number, integer: number }[kinds[0]];
  if (make === object && (depth >= MOST_DEEP || !schema.properties)) return raw(schema, label, example, isRequired);
  return make
    ? make({ schema, root, label, example, isRequired, depth, kind: kinds[0] })
    : raw(schema, label, example, isRequired);
}

const help = (schema, isRequired) =>
  [schema.description, isRequired ? null : "Optional."].filter(Boolean).join(" ");

const fixed = (label, value) => ({
  element: field(label, input("", { value: JSON.stringify(value), readonly: true })),
  value: () => value,
});

function listed(schema, label, example, isRequired) {
  const options = schema.enum.map((
    value,
    index,
  ) => [String(index), typeof value === "string" ? value : JSON.stringify(value)]);
  const control = choice("", isRequired ? options : [["", "–"], ...options], String(schema.enum.indexOf(example)));
  return {
    element: field(label, control, help(schema, isRequired)),
    value: () => control.value === "" ? undefined : schema.enum[control.value],
  };
}

function object({ schema, root, label, example, isRequired, depth }) {
  const required = new Set(schema.required ?? []);
  const parts = Object.entries(schema.properties).map((
    [name, inner],
  ) => [name, part(inner, root, name, example?.[name] ?? first(resolved(inner, root)), required.has(name), depth + 1)]);
  const value = () => {
    const entries = parts.map(([name, { value }]) => [name, value()]).filter(([, value]) => value !== undefined);
    return entries.length || isRequired ? Object.fromEntries(entries) : undefined;
  };
  return {
    element: h(
      "fieldset",
      {},
      h("legend", {}, label),
      schema.description && h("p", { class: "help" }, schema.description),
      parts.map(([, { element }]) => element),
    ),
    value,
  };
}

function boolean({ schema, label, example, isRequired }) {
  const control = choice(
    "",
    [...(isRequired ? [] : [["", "–"]]), ["true", "yes"], ["false", "no"]],
    example === undefined ? undefined : String(example),
  );
  return {
    element: field(label, control, help(schema, isRequired)),
    value: () => control.value === "" ? undefined : control.value === "true",
  };
}

function string({ schema, label, example, isRequired }) {
  const control = input("", {
    value: example ?? "",
    minlength: schema.minLength,
    maxlength: schema.maxLength,
    placeholder: schema.format,
  });
  return {
    element: field(label, control, help(schema, isRequired)),
    value: () => control.value === "" && !isRequired ? undefined : control.value,
  };
}

function number({ schema, label, example, isRequired, kind }) {
  const control = input("", {
    type: "number",
    step: kind === "integer" ? 1 : "any",
    min: schema.minimum,
    max: schema.maximum,
    value: example ?? "",
  });
  return {
    element: field(label, control, help(schema, isRequired)),
    value: () => control.value === "" ? undefined : Number(control.value),
  };
}

function raw(schema, label, example, isRequired) {
  const control = area("", example === undefined ? "" : JSON.stringify(example, null, 2), { rows: 4 });
  return {
    element: field(label, control, [help(schema, isRequired), "Enter the value as JSON."].filter(Boolean).join(" ")),
    value() {
      if (control.value.trim() === "") return undefined;
      try {
        return JSON.parse(control.value);
      } catch (error) {
        throw new Error(`${label} is not valid JSON: ${error.message}`);
      }
    },
  };
}
