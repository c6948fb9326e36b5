// A small chart: values over the last while, and what they are now in words.
import { h } from "./ui.js";

const SVG = "http://www.w3.org/2000/svg";

function draw(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** `add(value)` moves it on by one step of `steps`; `text(value)` says a value. */
export function chart(title, text, { steps = 60 } = {}) {
  const values = [];
  const figure = h("span", { class: "figure" }, "–");
  const peak = h("span", { class: "quiet small" });
  const line = draw("path", {}), area = draw("path", { class: "area" });
  const svg = draw("svg", {
    class: "chart",
    viewBox: `0 0 ${steps - 1} 20`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  svg.append(area, line);
  const element = h(
    "div",
    { class: "card" },
    h("h2", { class: "small quiet" }, title),
    h("p", {}, figure, " ", peak),
    svg,
  );
  const add = (value) => {
    values.push(value);
    if (values.length > steps) values.shift();
    const known = values.filter((value) => value !== null);
    const most = Math.max(...known, 0);
    figure.textContent = value === null ? "–" : text(value);
    peak.textContent = known.length ? `at most ${text(most)}` : "";
    const from = steps - values.length;
    const points = values.map((value, index) =>
      `${from + index} ${(20 - 19 * (most ? (value ?? 0) / most : 0)).toFixed(2)}`
    );
    line.setAttribute("d", "M" + points.join("L"));
    area.setAttribute("d", `M${from} 20L${points.join("L")}L${steps - 1} 20Z`);
  };
  return { element, add };
}
