// The page: reads the embedded policy, listens to the form, shows what the record loses.

const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const isRho = data.currency === "rho";
const POWER = isRho ? 2n : 1n;

const curves = new Map(
  data.curves.map(({ rho, threshold, points }) => [
    `${rho} ${threshold}`,
    points.map(([pieces, delta]) => ({ pieces: BigInt(pieces), delta: exact(delta) })),
  ]),
);
const splits = data.splits.map(compiledSplit);
const compiled = (form) => compiledForm(form, { splits, curves });
const policy = compiled(data.total);
const budget = data.budget === null ? null : compiled(data.budget);
const charges = data.charges.map((charge) => ({ ...charge, form: compiled(charge.form) }));
const least = exact(data.least);
const labels = new Map(data.labels);
const nameOf = (name) => labels.get(name) || name;
const measures = data.fields.filter((field) => field.kind === "measure");

// The example: the usual threshold of each measure, on its grid.
const scaleOf = (field) => exact(field.scale);
const onGrid = (field, value) => {
  const step = exact(field.resolution);
  const steps = roundHalfAway(divide(value, step));
  const most = BigInt(field.largest);
  return multiply(fraction(steps < 1n ? 1n : steps > most ? most : steps), step);
};
const controls = data.fields.map((field, index) =>
  control(field, index, field.kind === "measure" ? onGrid(field, scaleOf(field)) : null),
);

const readRecord = () => {
  const record = { measures: new Map(), dimensions: new Map() };
  let isWhole = true;
  for (const each of controls) {
    const { number, tag, note, problem } = each.read();
    each.tell(note, problem);
    if (problem) isWhole = false;
    else if (number) record.measures.set(each.field.name, number);
    else record.dimensions.set(each.field.name, tag);
  }
  return isWhole ? record : null;
};

// Everything there is to say of a record, or NotCovered.
const assess = (record) => {
  const parts = partsOf(policy, record, POWER);
  const loss = total(parts);
  const delta = deltaOf(policy, record);
  const shares = charges.map(({ name, title, form }) => ({
    name,
    title,
    loss: lossOf(form, record, POWER),
    delta: deltaOf(form, record),
  }));
  const meaning = isRho ? meaningOfRho(toNumber(loss), toNumber(delta)) : meaningOfEpsilon(toNumber(loss));
  // A part that reads several measures counts for each of them: it may be the total of any.
  const precision = measures
    .filter(({ name }) => isRho && record.measures.get(name).top !== 0n)
    .map((field) => ({ field, loss: total(parts.filter((part) => part.measures.includes(field.name))) }))
    .filter((each) => each.loss.top > 0n)
    .map((each) => ({ field: each.field, ratio: precisionOf(toNumber(each.loss)) }));
  return {
    record, loss, delta, shares, meaning, precision,
    limit: budget && lossOf(budget, record, POWER),
    reserve: subtract(loss, sum(shares.map((share) => share.loss))),
    pieces: data.shown_splits.map((index) => ({ index, ...piecesOf(splits[index], record) })),
    slots: slotsOf(policy, record).map((slot) => ({ slot, pieces: slotPieces(slot, record) })),
  };
};

// -- words ------------------------------------------------------------------------------------

const VERDICTS = [
  [0.1, "Very well protected"],
  [0.25, "Well protected"],
  [0.6, "Moderately protected"],
  [0.95, "Weakly protected"],
  [Infinity, "Hardly protected"],
];
const verdictOf = (power) => VERDICTS.find(([most]) => power <= most)[1];

const comparison = (loss) => {
  if (least.top === 0n) return loss.top === 0n ? "Nothing at all; no record can lose less." : "Some records lose nothing at all.";
  if (loss.top * least.bottom === least.top * loss.bottom) return `The least that any record can lose.`;
  return `${times(toNumber(divide(loss, least)))} the least that any record can lose, which is ${brief(least)}.`;
};

const inHundred = (probability) => (probability >= 1 ? "100" : figure(100 * probability, probability > 0.99 ? 4 : 2));

const meaningItems = ({ meaning, precision, delta, slots }) => {
  const items = [
    [
      "Could someone tell that this record is in the data?",
      ["Suppose they know every other record, and accept 5 false alarms in 100. They would recognise this one at most ", strong(`${inHundred(meaning.power)} times in 100`), ". Blind guessing gives 5."],
    ],
    [
      "How far could a guess about it be sharpened?",
      meaning.odds < 1e6
        ? [isRho ? "In 95 of 100 cases the" : "The", " published figures multiply the odds of any guess about this record by less than ", strong(figure(meaning.odds, 2)), "."]
        : [strong("There is no useful limit"), ": the published figures may turn a guess about this record into near certainty."],
    ],
  ];
  for (const { field, ratio } of precision) {
    const percent = `±${figure(100 * ratio, 2, Math.floor)} %`;
    items.push([
      [isolated(labelOf(field)), ": how closely could someone estimate it?"],
      ratio > 1
        ? ["Hardly: even knowing every other record, they would be off by about ", strong(percent), ", more than the value itself."]
        : ["Knowing every other record, to within about ", strong(percent), "."],
    ]);
  }
  if (slots.length) {
    const keys = [...new Set(slots.flatMap(({ slot }) => slot.keys))];
    items.push([
      "Could it give away that its group exists?",
      ["Groups are listed only where the data has enough. If this record were alone in its group (", ...keys.flatMap((key, i) => [i ? ", " : "", isolated(nameOf(key))]), "), the group would be listed, and the record thereby revealed, with a chance of at most ", strong(chance(toNumber(delta))), "."],
    ]);
  }
  return items;
};

// "Employees up to 50 people and Annual payroll up to 5,000,000 dollars"
const limitsText = (thresholds) =>
  thresholds.flatMap(([name, limit], i) => {
    const { unit } = measures.find((field) => field.name === name);
    return [i ? " and " : "", isolated(nameOf(name)), ` up to ${shown(limit)}`, ...(unit ? [" ", isolated(unit)] : [])];
  });

// -- showing ----------------------------------------------------------------------------------

const showMeaning = (found) => {
  at("meaning").replaceChildren(
    ...meaningItems(found).map(([question, answer]) =>
      make("div", { class: "item" }, make("h4", {}, ...[question].flat()), make("p", {}, ...answer)),
    ),
  );
  at("gauge").style.setProperty("--share", `${100 * Math.min(1, found.meaning.power)}%`);
  at("gauge-text").textContent = `${inHundred(found.meaning.power)} in 100`;
};

const showPieces = ({ pieces }) => {
  at("pieces").replaceChildren(
    ...pieces.map(({ index, count, thresholds, cap, measure }) => {
      const limits = limitsText(thresholds);
      const reason = measure === null ? ["It fits into one piece, which holds "] : ["Cut by its ", isolated(nameOf(measure)), ". A piece holds "];
      const most = cap === null ? "." : `; never more than ${shown(fraction(cap))} pieces.`;
      const item = make("li", {}, strong(`${shown(fraction(count))} ${count === 1n ? "piece" : "pieces"}`), make("p", {}, ...reason, ...limits, most));
      item.dataset.split = index;
      item.dataset.pieces = `${count}`;
      return item;
    }),
  );
  at("pieces-section").hidden = pieces.length === 0;
};

const showBreakdown = ({ shares, reserve, loss, delta: whole, limit, slots }) => {
  const withDelta = slots.length > 0;
  at("delta-head").hidden = !withDelta;
  const largest = Math.max(...shares.map((share) => toNumber(share.loss)), Number.MIN_VALUE);
  const row = (title, amount, delta, kind) => {
    const bar = make("span", { class: "bar" });
    bar.style.setProperty("--share", `${(100 * Math.min(toNumber(amount), largest)) / largest}%`);
    const cells = [make("th", { scope: "row", dir: "auto" }, title), make("td", {}, kind ? "" : bar, make("span", { class: "amount", text: brief(amount) }))];
    if (withDelta) cells.push(make("td", { text: delta && delta.top > 0n ? chance(toNumber(delta)) : "–" }));
    return make("tr", { class: kind }, ...cells);
  };
  const rows = shares.map((share) => {
    const made = row(share.title || share.name, share.loss, share.delta, "");
    made.dataset.charge = share.name;
    made.dataset.loss = written(share.loss);
    made.dataset.delta = written(share.delta);
    return made;
  });
  if (shares.length && reserve.top > 0n) rows.push(row("Kept in reserve for further answers", reserve, null, "reserve"));
  at("breakdown").replaceChildren(...rows);
  const ends = [row("Together", loss, whole, "total")];
  if (limit) ends.push(row("Limit fixed in advance", limit, null, "limit"));
  at("breakdown-end").replaceChildren(...ends);
};

const showRecord = ({ record }) => {
  at("printed").replaceChildren(
    ...data.fields.flatMap((field) => {
      const value = field.kind === "measure" ? `${shown(record.measures.get(field.name))} ${field.unit}` : tagText(record.dimensions.get(field.name));
      return [make("dt", { dir: "auto", text: labelOf(field) }), make("dd", { dir: "auto", text: value })];
    }),
  );
};

// -- curves -----------------------------------------------------------------------------------

const SAMPLES = 160;
const sizesOf = (field, value) => {
  const [unit, step] = [toNumber(scaleOf(field)), exact(field.resolution)];
  const low = Math.max(toNumber(step), Math.min(unit / 10, value > 0 ? value / 2 : Infinity));
  const high = Math.min(Math.max(unit * 1000, value * 5), toNumber(multiply(fraction(BigInt(field.largest)), step)));
  const steps = new Set();
  for (let i = 0; i <= SAMPLES; i += 1) {
    steps.add(BigInt(Math.max(1, Math.round((low * (high / low) ** (i / SAMPLES)) / toNumber(step)))));
  }
  return [...steps].sort((a, b) => (a < b ? -1 : 1)).map((count) => multiply(fraction(count), step));
};

const drawCurve = ({ record, loss }) => {
  const field = measures[Number(at("curve-measure").value)];
  if (!field) return;
  const own = absolute(record.measures.get(field.name));
  const withValue = (value) => ({ ...record, measures: new Map(record.measures).set(field.name, value) });
  const sizes = sizesOf(field, toNumber(own));
  if (own.top > 0n) sizes.push(own);
  const points = sizes
    .map((value) => [toNumber(value), toNumber(lossOf(policy, withValue(value), POWER))])
    .sort((a, b) => a[0] - b[0]);
  const name = labelOf(field) + (field.unit ? ` (${field.unit})` : "");
  chart(at("curve"), {
    points,
    mark: [toNumber(own), toNumber(loss)],
    floor: { y: toNumber(least), label: "least of any record" },
    xLabel: name,
    yLabel: "Privacy loss",
    summary: `Privacy loss against ${name}, other fields as entered: from ${figure(points[0][1])} to ${figure(points.at(-1)[1])}. The table below gives the numbers.`,
  });
  const unit = scaleOf(field);
  at("curve-table").replaceChildren(
    ...["0", "1", "2", "5", "10", "100", "1000"].map((factor) => {
      const value = factor === "0" ? ZERO : onGrid(field, multiply(exact(factor), unit));
      return make("tr", {}, make("th", { scope: "row", text: shown(value) }), make("td", { text: brief(lossOf(policy, withValue(value), POWER)) }));
    }),
  );
};

const drawSelection = ({ slots, delta }) => {
  at("selection-section").hidden = slots.length === 0;
  if (!slots.length) return;
  const chosenSlot = slots.reduce((best, next) => (next.pieces > best.pieces ? next : best));
  const { curve } = chosenSlot.slot;
  const points = curve.map((point) => [Number(point.pieces), toNumber(point.delta)]);
  points.push([Number(curve.at(-1).pieces) * 1.5 + 1, 1]);
  chart(at("selection"), {
    points,
    mark: [Number(chosenSlot.pieces), toNumber(deltaAt(curve, chosenSlot.pieces))],
    floor: null,
    xLabel: "Pieces of the record",
    yLabel: "Chance of being revealed if alone",
    summary: `Chance of being revealed against the record's number of pieces; this record: ${chance(toNumber(delta))}.`,
  });
};

// -- living -----------------------------------------------------------------------------------

let latest = null;
let drawing = null;
const drawSoon = () => {
  clearTimeout(drawing); // numbers follow every key, curves the pause after it
  drawing = setTimeout(() => {
    if (latest) [drawCurve, drawSelection].forEach((draw) => draw(latest));
  }, 60);
};

let speaking = null;
const speak = (text) => {
  clearTimeout(speaking); // one sentence after the typing, not one per key
  speaking = setTimeout(() => { at("summary").textContent = text; }, 400);
};

const showNothing = (reason) => {
  latest = null;
  const result = at("result");
  result.dataset.state = "invalid";
  for (const name of ["loss", "delta", "epsilon", "power", "odds", "precision"]) delete result.dataset[name];
  at("waiting").textContent = reason;
  speak(reason);
};

const update = () => {
  const record = readRecord();
  if (!record) return showNothing("Correct the field that is marked, and the result appears here.");
  try {
    latest = assess(record);
  } catch (error) {
    if (!(error instanceof NotCovered)) throw error;
    for (const each of controls) {
      if (error.dimensions.includes(each.field.name)) each.tell("", "No rule covers this value: such a record is not part of the release.");
    }
    return showNothing("Such a record is not part of the release, so there is nothing it could lose.");
  }
  const { loss, delta, meaning, precision } = latest;
  Object.assign(at("result").dataset, {
    state: "valid",
    loss: written(loss),
    delta: written(delta),
    epsilon: meaning.epsilon,
    power: meaning.power,
    odds: meaning.odds,
    precision: JSON.stringify(precision.map(({ field, ratio }) => [field.name, ratio])),
  });
  at("loss").textContent = brief(loss);
  at("verdict").textContent = verdictOf(meaning.power);
  at("comparison").textContent = comparison(loss);
  at("epsilon").textContent = figure(meaning.epsilon);
  at("epsilon-delta").textContent = meaning.delta === 0 ? "0" : figure(meaning.delta, 2);
  at("exact").textContent = written(loss);
  [showMeaning, showPieces, showBreakdown, showRecord].forEach((show) => show(latest));
  drawSoon();
  speak(`${verdictOf(meaning.power)}. Privacy loss ${brief(loss)}. ${comparison(loss)}`);
  return undefined;
};

const begin = () => {
  controls.forEach((each) => each.start());
  update();
};

at("fields").append(...controls.map((each) => each.row));
measures.forEach((field, index) => at("curve-measure").append(make("option", { value: index, dir: "auto", text: labelOf(field) })));
at("curve-section").hidden = measures.length === 0;
at("curve-choice").hidden = measures.length < 2;
at("breakdown-section").hidden = charges.length === 0;
at("form").addEventListener("input", update);
at("form").addEventListener("submit", (event) => event.preventDefault());
at("again").addEventListener("click", begin);
at("print").addEventListener("click", () => window.print());
at("curve-measure").addEventListener("input", drawSoon);
new ResizeObserver(drawSoon).observe(at("result"));
at("words").open = false; // open without script, where nothing else tells
at("calculator").hidden = false;
begin();
