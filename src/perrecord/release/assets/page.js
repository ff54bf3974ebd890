// The page: listens to the form and shows what the record loses.

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
  speaking = setTimeout(() => {
    at("summary").textContent = text;
  }, 400);
};

const showNothing = (reason) => {
  latest = null;
  const result = at("result");
  result.dataset.state = "invalid";
  for (const name of ["loss", "delta", "epsilon", "power", "odds", "about", "estimates", "changes", "periods"])
    delete result.dataset[name];
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
      if (error.dimensions.includes(each.field.name))
        each.tell("", "No rule covers this value: the policy promises nothing for such a record.");
    }
    return showNothing("No rule of this policy covers such a record: it promises nothing for it.");
  }
  const { loss, delta, meaning, about, estimates, changes, periods } = latest;
  Object.assign(at("result").dataset, {
    state: "valid",
    loss: written(loss),
    delta: written(delta),
    epsilon: meaning.epsilon,
    power: meaning.power,
    odds: meaning.odds,
    about: about ?? "",
    estimates: JSON.stringify(
      estimates &&
        estimates.map(({ field, error, relative, isLeast }) => [
          field.name,
          error,
          relative,
          isLeast,
        ]),
    ),
    changes: JSON.stringify(
      changes &&
        changes.map((each) => [
          each.field.name,
          Number(each.percent),
          written(each.other),
          written(each.loss),
          written(each.delta),
          each.power,
          each.about,
        ]),
    ),
    periods: JSON.stringify(
      periods && [periods.period, periods.soFar, periods.limit].map((each) => each && written(each)),
    ),
  });
  at("loss").textContent = brief(loss);
  at("verdict").textContent = verdictOf(about ?? meaning.power);
  at("comparison").textContent = comparison(loss);
  at("epsilon").textContent = figure(meaning.epsilon);
  at("epsilon-delta").textContent = meaning.delta === 0 ? "0" : figure(meaning.delta, 2);
  at("exact").textContent = written(loss);
  [showMeaning, showPieces, showBreakdown, showPeriods, showRecord].forEach((show) => show(latest));
  drawSoon();
  speak(`${verdictOf(about ?? meaning.power)}. Privacy loss ${brief(loss)}. ${comparison(loss)}`);
  return undefined;
};

// Fill in an example; what it leaves out starts as without one.
const fillIn = (values) => {
  const given = new Map(values);
  for (const each of controls) {
    if (given.has(each.field.name)) each.put(given.get(each.field.name));
    else each.start();
  }
  update();
};
const begin = () => fillIn(data.examples[0]?.[1] ?? []);

at("fields").append(...controls.map((each) => each.row));
drawnMeasures.forEach((field, index) =>
  at("curve-measure").append(make("option", { value: index, dir: "auto", text: labelOf(field) })),
);
for (const [name, values] of data.examples) {
  const button = make("button", { type: "button", dir: "auto", text: name });
  button.addEventListener("click", () => fillIn(values));
  at("examples").append(button, " ");
}
at("examples").hidden = data.examples.length < 2; // one is filled in anyway
at("curve-section").hidden = drawnMeasures.length === 0;
at("curve-choice").hidden = drawnMeasures.length < 2;
at("curve-key").hidden = !isPriced;
for (const head of document.querySelectorAll("#curve-section .change-head")) head.hidden = !isPriced;
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
// Values of earlier periods: what is typed is kept for one of them, until all are forgotten.
if (series !== null) {
  const earlier = new Set(series.earlier.map(({ period }) => period));
  earlier.delete(series.period);
  const act = (text, change) => {
    const button = make("button", { type: "button", dir: "auto", text });
    button.addEventListener("click", () => {
      change();
      update();
    });
    at("series-keep").append(button, " ");
  };
  for (const period of earlier)
    act(`Keep these values for ${period}`, () => latest && keptRecords.set(period, latest.record));
  if (earlier.size) act("Forget kept values", () => keptRecords.clear());
}
at("unit-section").hidden = unit === null;
if (unit !== null) {
  clearUnit();
  at("unit-records").addEventListener("input", showUnit);
  at("unit-add").addEventListener("click", addRecord);
  at("unit-clear").addEventListener("click", clearUnit);
}
