// The results, put where they belong on the page; names only ever as text.

const showMeaning = (found) => {
  at("meaning").replaceChildren(
    ...meaningItems(found).map(([question, answer]) =>
      make(
        "div",
        { class: "item" },
        make("h4", {}, ...[question].flat()),
        make("p", {}, ...answer),
      ),
    ),
  );
  const { about, meaning } = found;
  at("gauge").style.setProperty("--share", `${100 * Math.min(1, about ?? meaning.power)}%`);
  at("gauge-what").textContent = `Chance of being recognised, ${about === null ? "at most" : "about"}`;
  at("gauge-text").textContent =
    about === null ? `${inHundred(meaning.power)} in 100` : `${aboutHundred(about)} in 100`;
};

const showPieces = ({ pieces }) => {
  at("pieces").replaceChildren(
    ...pieces.map(({ index, count, thresholds, cap, measure }) => {
      const limits = limitsText(thresholds);
      const reason =
        measure === null
          ? ["It fits into one piece, which holds "]
          : ["Cut by its ", isolated(nameOf(measure)), ". A piece holds "];
      const most = cap === null ? "." : `; never more than ${shown(fraction(cap))} pieces.`;
      const item = make(
        "li",
        {},
        strong(`${shown(fraction(count))} ${count === 1n ? "piece" : "pieces"}`),
        make("p", {}, ...reason, ...limits, most),
      );
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
    const cells = [
      make("th", { scope: "row", dir: "auto" }, title),
      make("td", {}, kind ? "" : bar, make("span", { class: "amount", text: brief(amount) })),
    ];
    if (withDelta)
      cells.push(make("td", { text: delta && delta.top > 0n ? chance(toNumber(delta)) : "–" }));
    return make("tr", { class: kind }, ...cells);
  };
  const rows = shares.map((share) => {
    const made = row(share.title || share.name, share.loss, share.delta, "");
    made.dataset.charge = share.name;
    made.dataset.loss = written(share.loss);
    made.dataset.delta = written(share.delta);
    return made;
  });
  if (shares.length && reserve.top > 0n)
    rows.push(row("Kept in reserve for further answers", reserve, null, "reserve"));
  at("breakdown").replaceChildren(...rows);
  const ends = [row("Together", loss, whole, "total")];
  if (limit) ends.push(row("Limit fixed in advance", limit, null, "limit"));
  at("breakdown-end").replaceChildren(...ends);
};

const showPeriods = ({ loss, periods }) => {
  if (series === null) return;
  at("series-uncovered").hidden = periods !== null;
  at("series-table").hidden = periods === null;
  if (periods === null) return;
  const row = (title, kind, ...cells) =>
    make("tr", { class: kind }, make("th", { scope: "row", dir: "auto" }, title), ...cells);
  const amount = (each) => make("td", {}, make("span", { class: "amount", text: brief(each) }));
  const rows = periods.before.map(({ period, titles, isKept, loss: each }) =>
    row(`${period}: ${titles.join(", ")}${isKept ? " (values kept)" : ""}`, "", amount(each)),
  );
  rows.push(row(`${series.period}: this release`, "", amount(loss)));
  at("series-losses").replaceChildren(...rows);
  const ends = [
    row(`All of ${series.period} so far`, "total", amount(periods.period)),
    row("All periods so far", "total", amount(periods.soFar)),
  ];
  if (periods.limit)
    ends.push(row("All periods, if everything is spent", "limit", amount(periods.limit)));
  at("series-end").replaceChildren(...ends);
};

const showRecord = ({ record }) => {
  at("printed").replaceChildren(
    ...data.fields.flatMap((field) => {
      const value =
        field.kind === "measure"
          ? withUnit(shown(record.measures.get(field.name)), field.unit)
          : [tagText(record.dimensions.get(field.name))];
      return [
        make("dt", { dir: "auto", text: labelOf(field) }),
        make("dd", { dir: "auto" }, ...value),
      ];
    }),
  );
};
