// A small chart of recent values, with the latest one as text.
import { h } from "./ui.js";

const SVG = "http://www.w3.org/2000/svg";

function draw(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

/** A chart of the last `steps` values. `add(value)` appends one, null leaves a gap. `text(value)` formats a value. */
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
    const runs = [];
    values.forEach((value, index) => {
      if (value === null) return;
      if (index === 0 || values[index - 1] === null) runs.push({ start: from + index, points: [] });
      runs.at(-1).points.push(`${from + index} ${(20 - 19 * (most ? value / most : 0)).toFixed(2)}`);
    });
    // A single value between gaps is drawn as a dot: a line of zero length with round ends.
    line.setAttribute("d", runs.map(({ points }) => `M${points.join("L")}h0`).join(""));
    const under = ({ start, points }) => `M${start} 20L${points.join("L")}L${start + points.length - 1} 20Z`;
    area.setAttribute("d", runs.map(under).join(""));
  };
  return { element, add };
}
