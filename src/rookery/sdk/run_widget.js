// The live view of a run in a notebook. Data in (`seen`), picture out; every text from outside is set as text, never as markup.
const COLORS = ["#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2", "#be185d", "#4d7c0f"];
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 560, HEIGHT = 200, LEFT = 56, BOTTOM = 22, TOP = 8, RIGHT = 8;

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function drawn(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(4)));
}

// The path of a curve; a value that is none lifts the pen.
export function path(xs, ys, toX, toY) {
  let drawnYet = false;
  let text = "";
  xs.forEach((x, i) => {
    if (ys[i] === null || ys[i] === undefined) { drawnYet = false; return; }
    // A line of no length with round ends: a value between two gaps is a dot.
    text += `${drawnYet ? "L" : "M"}${toX(x).toFixed(1)} ${toY(ys[i]).toFixed(1)}${drawnYet ? "" : "h0"}`;
    drawnYet = true;
  });
  return text;
}

function chart(curve, color) {
  const points = curve.x.map((x, i) => [x, curve.y[i]]).filter(([, y]) => y !== null && y !== undefined);
  const picture = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "rk-chart", role: "img", "aria-label": `Curve of ${curve.name}` });
  if (!points.length) return picture;
  let [low, high] = [Math.min(...points.map(p => p[1])), Math.max(...points.map(p => p[1]))];
  const [first, last] = [Math.min(...points.map(p => p[0])), Math.max(...points.map(p => p[0]))];
  if (low === high) { low -= Math.abs(low) * 0.1 || 1; high += Math.abs(high) * 0.1 || 1; }
  const toX = x => LEFT + (last === first ? 0.5 : (x - first) / (last - first)) * (WIDTH - LEFT - RIGHT);
  const toY = y => TOP + (1 - (y - low) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  for (let i = 0; i <= 4; i++) {
    const value = low + (high - low) * i / 4;
    picture.append(drawn("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: toY(value), y2: toY(value), class: "rk-grid" }));
    picture.append(drawn("text", { x: LEFT - 6, y: toY(value) + 4, "text-anchor": "end" }, short(value)));
  }
  picture.append(drawn("text", { x: LEFT, y: HEIGHT - 4 }, short(first)));
  picture.append(drawn("text", { x: WIDTH - RIGHT, y: HEIGHT - 4, "text-anchor": "end" }, short(last)));
  if (points.length === 1) picture.append(drawn("circle", { cx: toX(points[0][0]), cy: toY(points[0][1]), r: 3, fill: color }));
  picture.append(drawn("path", { d: path(curve.x, curve.y, toX, toY), fill: "none", stroke: color, "stroke-width": 1.5, "stroke-linecap": "round" }));
  return picture;
}

function render({ model, el }) {
  const root = element("div", "rookery-run");
  const head = element("div", "rk-head");
  const cause = element("pre", "rk-cause");
  const charts = element("div", "rk-charts");
  const log = element("pre", "rk-log");
  log.tabIndex = 0;
  root.append(head, cause, charts, log);
  el.append(root);

  const show = () => {
    const seen = model.get("seen") || {};
    head.replaceChildren(
      element("span", `rk-status rk-${String(seen.status || "").toLowerCase()}`, seen.status || ""),
      element("strong", "", seen.name || ""),
      element("span", "rk-dim", seen.experiment || ""),
    );
    if (seen.reason) head.append(element("span", "rk-dim", seen.reason));
    if (seen.problem) head.append(element("span", "rk-problem", seen.problem));
    if (/^https?:\/\//.test(seen.url || "")) {
      const link = element("a", "", "Open in the studio");
      link.href = seen.url;
      link.target = "_blank";
      link.rel = "noopener";
      head.append(link);
    }
    cause.textContent = seen.cause || "";
    cause.hidden = !seen.cause;
    charts.replaceChildren(...(seen.series || []).map((curve, i) => {
      const box = element("figure", "");
      const values = curve.y.filter(y => y !== null && y !== undefined);
      box.append(element("figcaption", "", `${curve.name}${values.length ? "  " + short(values[values.length - 1]) : ""}`));
      box.append(chart(curve, COLORS[i % COLORS.length]));
      return box;
    }));
    const follows = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
    log.textContent = (seen.log || []).join("\n");
    log.hidden = !(seen.log || []).length;
    log.setAttribute("aria-label", seen.log_name || "log");
    if (follows) log.scrollTop = log.scrollHeight;
  };
  model.on("change:seen", show);
  show();
  return () => model.off("change:seen", show);
}

export default { render };
