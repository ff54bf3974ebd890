// The records of one unit, typed or pasted as lines of text, and what they lose together.

const MOST_RECORDS = 2000;
const MOST_LINES = 100;
const unit = data.unit;
const lineOf = (texts) => texts.map((text) => text.replace(/[\t\r\n]/g, " ")).join("\t");

// The parts of a line; two quotes within quotes are one that is meant.
const partsOf = (line, sign) => {
  const parts = [];
  let [part, isQuoted] = ["", false];
  for (let place = 0; place < line.length; place++) {
    const letter = line[place];
    if (letter === '"' && isQuoted && line[place + 1] === '"') part += line[++place];
    else if (letter === '"') isQuoted = !isQuoted;
    else if (letter === sign && !isQuoted) {
      parts.push(part);
      part = "";
    } else part += letter;
  }
  return [...parts, part].map((each) => each.trim());
};

const columnOf = (text) => {
  const same = (name) => name.trim().toLowerCase() === text.toLowerCase();
  return unit.fields.findIndex((field) => same(field.name) || same(labelOf(field)));
};

// What stands between the values of a spreadsheet, of CSV, or of CSV with semicolons: the first line says it.
const signOf = (heads) =>
  columnOf(heads.trim()) >= 0 ? "\t" : (["\t", ";"].find((each) => heads.includes(each)) ?? ",");

const TRUTHS = new Map([["true", "b1"], ["yes", "b1"], ["1", "b1"], ["false", "b0"], ["no", "b0"], ["0", "b0"]]);
const readDimension = (field, typed) => {
  if (typed === "") return { tag: "n" };
  if (field.kind !== "truth") return tagged(field, typed);
  const tag = TRUTHS.get(typed.toLowerCase());
  return tag ? { tag } : { problem: "Write yes or no." };
};

// { records, names } or { problem }.
const readUnit = (text) => {
  const lines = text.split(/\r\n?|\n/);
  const sign = signOf(lines[0]);
  const heads = partsOf(lines[0], sign);
  const twice = heads.find((head, place) => columnOf(head) >= 0 && heads.findIndex((each) => columnOf(each) === columnOf(head)) < place);
  if (twice !== undefined) return { problem: `The first line names ${twice} twice.` };
  const places = unit.fields.map((_, index) => heads.findIndex((head) => columnOf(head) === index));
  const lacking = unit.fields.filter((field, index) => places[index] < 0 && !field.computed).map(labelOf);
  if (lacking.length)
    return { problem: `The first line must name the columns; it lacks ${lacking.join(", ")}.` };
  const found = { records: [], names: [] };
  for (const [index, line] of lines.entries()) {
    if (index === 0 || line.trim() === "") continue;
    if (found.records.length === MOST_RECORDS)
      return { problem: `There are more than ${grouped(`${MOST_RECORDS}`)} records; perrecord policy --records has no such limit.` };
    const parts = partsOf(line, sign);
    if (parts.length !== heads.length)
      return { problem: `Line ${index + 1} has ${parts.length} values for ${heads.length} columns. Put tabs or semicolons between values that hold commas, in the first line too.` };
    const own = found.records.length;
    const record = { measures: new Map(), dimensions: new Map(), missing: new Set() };
    for (const name of unit.hidden) record.dimensions.set(name, name === unit.column ? "t" : `t${own}`);
    for (const [place, field] of unit.fields.entries()) {
      const typed = parts[places[place]];
      const read = field.computed
        ? computedMeasure(field, record)
        : field.kind === "measure"
          ? readMeasure(field, typed)
          : readDimension(field, typed);
      if (read.problem) return { problem: `Line ${index + 1}, ${labelOf(field)}: ${read.problem}` };
      if (read.missing) record.missing.add(field.name);
      if (read.number) record.measures.set(field.name, read.number);
      else record.dimensions.set(field.name, read.tag);
    }
    found.records.push(record);
    found.names.push(lineOf(parts).replace(/\t/g, " · "));
  }
  return found;
};

const together = ({ loss, delta, isByCell }) => {
  const { power } = isRho
    ? meaningOfRho(toNumber(loss), toNumber(delta))
    : meaningOfEpsilon(toNumber(loss));
  return [
    "If all of them belong to one unit, they lose ",
    ...(isByCell ? [] : ["at most "]),
    strong(brief(loss)),
    " together. Suppose someone knows every other record, and accepts 5 false alarms in 100. ",
    ...succeeds("recognise that these are in the data", power, null),
    ...(delta.top > 0n
      ? [" The chance that a group is listed because of them is at most ", strong(chance(toNumber(delta))), "."]
      : []),
  ];
};

const showUnit = () => {
  const result = at("unit-result");
  const tell = (state, problem) => {
    result.dataset.state = state;
    at("unit-problem").textContent = problem;
  };
  const found = readUnit(at("unit-records").value);
  if (found.problem) return tell("invalid", found.problem);
  if (found.records.length === 0) return tell("empty", "");
  let joint;
  try {
    joint = assessUnit(found.records);
  } catch (error) {
    if (!(error instanceof NotCovered)) throw error;
    return tell("invalid", "No rule of this policy covers one of these records: it promises nothing for it.");
  }
  if (joint === null)
    return tell("invalid", "Some of the limit is kept for further answers, so this page cannot say what they lose together; perrecord policy --records can.");
  const row = (name, loss) =>
    make("tr", {}, make("th", { scope: "row", dir: "auto", text: name }), make("td", { text: brief(loss) }));
  const { losses } = joint;
  const lines = losses.slice(0, MOST_LINES).map((loss, place) => row(found.names[place], loss));
  const more = losses.length - lines.length;
  if (more > 0) lines.push(make("tr", {}, make("th", { scope: "row", text: `and ${grouped(`${more}`)} more` }), make("td")));
  at("unit-losses").replaceChildren(...lines);
  at("unit-end").replaceChildren(row("Together", joint.loss));
  at("unit-said").replaceChildren(...together(joint));
  Object.assign(result.dataset, {
    loss: written(joint.loss),
    delta: written(joint.delta),
    losses: JSON.stringify(losses.map(written)),
  });
  return tell("valid", "");
};

// The record of the form as a line; what the form does not ask for stays empty, to be filled in.
const addRecord = () => {
  const record = readRecord();
  if (!record) return;
  const texts = unit.fields.filter((field) => !field.computed).map(({ name }) => {
    if (record.missing.has(name)) return "";
    if (record.measures.has(name)) return decimal(record.measures.get(name));
    const tag = record.dimensions.get(name);
    return tag === undefined || tag === "n" ? "" : tagText(tag);
  });
  const box = at("unit-records");
  box.value = `${box.value.replace(/[\r\n]+$/, "")}\n${lineOf(texts)}\n`;
  showUnit();
};

const clearUnit = () => {
  at("unit-records").value = `${lineOf(unit.fields.filter((field) => !field.computed).map(labelOf))}\n`;
  showUnit();
};
