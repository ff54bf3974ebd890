// The curves: loss against size, of the record and of its changes, and the chance of being revealed against pieces.

const SAMPLES = 160;
const sizesOf = (field, value) => {
  const [unit, step] = [toNumber(scaleOf(field)), exact(field.resolution)];
  const low = Math.max(toNumber(step), Math.min(unit / 10, value > 0 ? value / 2 : Infinity));
  const high = Math.min(
    Math.max(unit * 1000, value * 5),
    toNumber(multiply(fraction(BigInt(field.largest)), step)),
  );
  const steps = new Set();
  for (let i = 0; i <= SAMPLES; i += 1) {
    steps.add(
      BigInt(Math.max(1, Math.round((low * (high / low) ** (i / SAMPLES)) / toNumber(step)))),
    );
  }
  return [...steps]
    .sort((a, b) => (a < b ? -1 : 1))
    .map((count) => multiply(fraction(count), step));
};

// What greater values of a measure cost, one curve for each percentage; none where it is not said.
const changeCurves = (changes, field, sizes, withValue) =>
  changes === null || decides(field)
    ? []
    : PERCENTS.map((percent) => ({
        percent,
        points: sizes.map((value) => {
          const other = raisedValue(field, value, percent);
          return [toNumber(value), toNumber(changeOf(charges, withValue(value), field.name, other).loss)];
        }),
      }));

const drawCurve = ({ record, loss, changes }) => {
  const field = drawnMeasures[Number(at("curve-measure").value)];
  if (!field) return;
  const own = absolute(record.measures.get(field.name));
  const withValue = (value) => withMeasure(record, field.name, value);
  const sizes = sizesOf(field, toNumber(own));
  if (own.top > 0n) sizes.push(own);
  sizes.sort((a, b) => (isBelow(a, b) ? -1 : isBelow(b, a) ? 1 : 0));
  const points = sizes.map((value) => [
    toNumber(value),
    toNumber(lossOf(policy, withValue(value), POWER)),
  ]);
  const others = changeCurves(changes, field, sizes.filter((_, place) => place % 2 === 0), withValue);
  Object.assign(at("curve").dataset, {
    measure: field.name,
    points: JSON.stringify(sizes.map((value, place) => [written(value), points[place][1]])),
    changes: JSON.stringify(others.map(({ percent, points: line }) => [Number(percent), line])),
  });
  const name = labelOf(field) + (field.unit ? ` (${field.unit})` : "");
  chart(at("curve"), {
    points,
    others: others.map((each) => ({ points: each.points, kind: `change-${each.percent}` })),
    mark: [toNumber(own), toNumber(loss)],
    floor: { y: toNumber(least), label: "least of any record" },
    xLabel: name,
    yLabel: "Privacy loss",
    summary: `Privacy loss against ${name}: from ${figure(points[0][1])} to ${figure(points.at(-1)[1])}.`,
  });
  const unit = scaleOf(field);
  at("curve-table").replaceChildren(
    ...["0", "1", "2", "5", "10", "100", "1000"].map((factor) => {
      const value = factor === "0" ? ZERO : onGrid(field, multiply(exact(factor), unit));
      return make(
        "tr",
        {},
        make("th", { scope: "row", text: shown(value) }),
        make("td", { text: brief(lossOf(policy, withValue(value), POWER)) }),
        ...(changes === null ? [] : PERCENTS).map((percent) => {
          if (decides(field)) return make("td", { text: "–" });
          const other = raisedValue(field, value, percent);
          const changed = changeOf(charges, withValue(value), field.name, other);
          return make("td", { text: brief(changed.loss) });
        }),
      );
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
