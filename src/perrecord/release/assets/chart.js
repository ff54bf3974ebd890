// A line on two logarithmic axes, drawn as inline SVG at the width that there is.

const SVG = "http://www.w3.org/2000/svg";

const drawn = (parent, name, attributes, text) => {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
};

// Whole decades around the values, at least two, so that a flat line lies in the middle.
const decades = (values) => {
  let low = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  let high = Math.ceil(Math.log10(Math.max(...values)) - 1e-9);
  while (high - low < 2) [low, high] = high - low === 0 ? [low - 1, high + 1] : [low, high + 1];
  return [low, high];
};

const ticksOf = ([low, high], most) => {
  const stride = Math.max(1, Math.ceil((high - low) / most));
  const found = [];
  for (let exponent = Math.ceil(low / stride) * stride; exponent <= high; exponent += stride)
    found.push(exponent);
  return found;
};

// points and mark: [x, y], what is not above 0 left out; others: further lines, thinner, each with
// its points and kind; floor: { y, label } or null.
const chart = (host, { points, others = [], mark, floor, xLabel, yLabel, summary }) => {
  host.replaceChildren();
  const isDrawn = ([x, y]) => x > 0 && y > 0 && Number.isFinite(y);
  const shownPoints = points.filter(isDrawn);
  const thinner = others.map((each) => ({ ...each, points: each.points.filter(isDrawn) }));
  if (shownPoints.length < 2) return;
  const width = Math.max(260, host.clientWidth || 640);
  const height = Math.round(Math.min(380, Math.max(250, width * 0.55)));
  const isMarked = mark && mark[0] > 0 && mark[1] > 0 && Number.isFinite(mark[1]);
  const marks = isMarked ? [mark] : [];
  const floors = floor && floor.y > 0 ? [floor.y] : [];
  const xs = shownPoints.map(([x]) => x);
  const xEnds = [Math.log10(Math.min(...xs)), Math.log10(Math.max(...xs))];
  const yRange = decades(
    [...shownPoints, ...marks, ...thinner.flatMap((each) => each.points)].map(([, y]) => y).concat(floors),
  );
  const [left, right, top, bottom] = [76, 18, 34, 52];
  const across = (x) =>
    left + ((Math.log10(x) - xEnds[0]) / (xEnds[1] - xEnds[0])) * (width - left - right);
  const down = (y) =>
    height -
    bottom -
    ((Math.log10(y) - yRange[0]) / (yRange[1] - yRange[0])) * (height - top - bottom);
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", summary);

  for (const exponent of ticksOf(yRange, 5)) {
    const y = down(10 ** exponent);
    drawn(svg, "line", { class: "grid", x1: left, x2: width - right, y1: y, y2: y });
    drawn(
      svg,
      "text",
      { class: "tick", x: left - 10, y: y + 4, "text-anchor": "end" },
      tick(10 ** exponent),
    );
  }
  const inner = [Math.ceil(xEnds[0] - 1e-9), Math.floor(xEnds[1] + 1e-9)];
  for (const exponent of ticksOf(inner, Math.max(2, Math.floor(width / 130)))) {
    const x = across(10 ** exponent);
    drawn(svg, "line", {
      class: "axis",
      x1: x,
      x2: x,
      y1: height - bottom,
      y2: height - bottom + 5,
    });
    const anchor = x > width - 50 ? "end" : "middle";
    drawn(
      svg,
      "text",
      {
        class: "tick",
        x: anchor === "end" ? width - right + 6 : x,
        y: height - bottom + 20,
        "text-anchor": anchor,
      },
      tick(10 ** exponent),
    );
  }
  drawn(svg, "line", {
    class: "axis",
    x1: left,
    x2: width - right,
    y1: height - bottom,
    y2: height - bottom,
  });
  drawn(
    svg,
    "text",
    { class: "name", x: width - right, y: height - 10, "text-anchor": "end" },
    xLabel,
  );
  drawn(svg, "text", { class: "name", x: 0, y: 14 }, yLabel);
  if (floors.length) {
    const y = down(floor.y);
    drawn(svg, "line", { class: "floor", x1: left, x2: width - right, y1: y, y2: y });
    drawn(
      svg,
      "text",
      { class: "tick", x: width - right, y: y - 6, "text-anchor": "end" },
      floor.label,
    );
  }
  const path = (line) =>
    line
      .map(([x, y], i) => `${i ? "L" : "M"}${across(x).toFixed(1)} ${down(y).toFixed(1)}`)
      .join("");
  for (const { points: line, kind } of thinner)
    drawn(svg, "path", { class: `line change ${kind}`, d: path(line) });
  drawn(svg, "path", { class: "line", d: path(shownPoints) });
  if (isMarked && mark[0] >= Math.min(...xs) && mark[0] <= Math.max(...xs)) {
    const [x, y] = [across(mark[0]), down(mark[1])];
    drawn(svg, "line", { class: "drop", x1: x, x2: x, y1: y, y2: height - bottom });
    drawn(svg, "circle", { class: "mark", cx: x, cy: y, r: 6 });
    const isRoomLeft = x > left + 90; // losses grow to the right, so the left is free
    drawn(
      svg,
      "text",
      {
        class: "here",
        x: x + (isRoomLeft ? -11 : 4),
        y: y - 12,
        "text-anchor": isRoomLeft ? "end" : "start",
      },
      "this record",
    );
  }
  host.append(svg);
};
