"use strict";
(() => {
  const PAGE = 50;
  const NO_ANSWER = "no answer";
  const COLLATE = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" }).compare;
  const byId = (id) => document.getElementById(id);
  const [table, status] = [byId("question-table"), byId("status")];
  const tasks = new Map();
  const view = { task: 0, template: 0, query: "", marks: "all", part: "", sort: null, down: false, page: 0 };

  /* Text only ever enters the page through textContent: names come from other people's files. */
  const make = (name, className, text) => {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const draw = (name, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };

  const load = (index) => {
    if (!tasks.has(index)) tasks.set(index, JSON.parse(byId(`data-${index}`).textContent));
    return tasks.get(index);
  };
  const data = () => load(view.task);
  const column = (model) => data().answers[model][view.template];

  const prompt = (row) => {
    const { templates, fields } = data();
    return templates[view.template].pieces.map(([text, field]) => text + (field ? fields[field][row] : "")).join("");
  };

  const chip = (place) => {
    const { labels, paint } = data();
    const node = make("span", "chip");
    if (paint[place]) node.append(make("span", `swatch ${paint[place]}`));
    node.append(make("bdi", "", labels[place]));
    return node;
  };

  /* The bar begins with the answer, then comes gold; what is neither is pale. Colours stay those of
     the options, and a line runs below what is gold. */
  const shareBar = (row, { shares, chosen, tops }) => {
    const { options, paint, gold } = data();
    const answers = tops[row] ?? [chosen[row]];
    const accepted = gold[row].filter(([, isAccepted]) => isAccepted).map(([place]) => place);
    const rank = (place) =>
      4 * (place !== chosen[row]) + 2 * !answers.includes(place) + !accepted.includes(place);
    const parts = options.map((place, index) => ({ place, share: shares[row][index] }));
    parts.sort((a, b) => rank(a.place) - rank(b.place));
    const total = parts.reduce((sum, { share }) => sum + share, 0) || 1;
    const svg = draw("svg", { class: "bar", "aria-hidden": "true" });
    const lines = [];
    let start = 0;
    for (const { place, share } of parts) {
      const [x, width] = [(100 * start) / total, (100 * share) / total];
      const kind = answers.includes(place) ? "answered" : "other";
      if (share) svg.append(draw("rect", { class: `${paint[place]} ${kind}`, x: `${x}%`, width: `${width}%` }));
      if (accepted.includes(place)) lines.push(draw("line", { class: "of-gold", x1: `${x}%`, x2: `${x + width}%` }));
      start += share;
    }
    svg.append(...lines);
    return svg;
  };

  const answered = (model, row) => data().labels[column(model).chosen[row]] ?? NO_ANSWER;

  const columns = () => {
    const { objects, gold, labels, models } = data();
    const list = [
      { key: "object", title: "Question", value: (row) => objects[row] },
      { key: "gold", title: "Gold", value: (row) => labels[gold[row][0][0]] },
    ];
    models.forEach((model, index) => {
      list.push({ key: `answer-${index}`, title: "Answer", model, value: (row) => answered(index, row) });
      list.push({ key: `p-${index}`, title: "Probability", model, value: (row) => column(index).p[row] ?? -1 });
    });
    return list;
  };

  const header = () => {
    const { models } = data();
    const groups = make("tr", "models");
    const names = make("tr");
    groups.append(make("td"), make("td"));
    for (const model of models) {
      const cell = make("th");
      cell.colSpan = 2;
      cell.scope = "colgroup";
      cell.append(make("bdi", `t${model.hue}`, model.label));
      groups.append(cell);
    }
    for (const { key, title, model } of columns()) {
      const cell = make("th", key.startsWith("p-") ? "num" : "");
      const button = make("button", "sort", title);
      if (model) {
        button.setAttribute("aria-label", `${title}, ${model.label}`);
        button.dataset.model = model.label;
      }
      button.type = "button";
      button.dataset.key = key;
      cell.scope = "col";
      cell.setAttribute("aria-sort", view.sort !== key ? "none" : view.down ? "descending" : "ascending");
      cell.append(button);
      names.append(cell);
    }
    table.tHead.replaceChildren(groups, names);
  };

  const picture = (row) => {
    const { pictures, objects } = data();
    const place = pictures?.of[row] ?? null;
    if (place === null) return null;
    const image = make("img", "thumbnail");
    image.src = pictures.addresses[place];
    image.alt = `Picture: ${objects[row]}`;
    return image;
  };

  const questionCell = (row) => {
    const cell = make("th", "question");
    cell.scope = "row";
    const image = picture(row);
    if (image) cell.append(image);
    cell.append(make("bdi", "object", data().objects[row]));
    const line = make("span", "prompt");
    line.dir = "auto";
    const [before, ...after] = prompt(row).split(data().slot);
    const blank = make("span", "slot");
    blank.setAttribute("role", "img");
    blank.setAttribute("aria-label", "blank");
    line.append(before, blank, after.join(data().slot));
    cell.append(line);
    return cell;
  };

  const goldCell = (row) => {
    const cell = make("td", "gold");
    cell.dataset.label = "gold";
    const gold = data().gold[row];
    for (const [place] of gold.slice(0, 4)) cell.append(chip(place));
    if (gold.length > 4) {
      const more = make("span", "quiet", `+${gold.length - 4}`);
      more.title = gold.slice(4).map(([place]) => data().labels[place]).join(", ");
      cell.append(more);
    }
    return cell;
  };

  const answerCells = (row, model) => {
    const { chosen, p, marks, ties, shares } = column(model);
    const [answer, probability] = [make("td", "answer"), make("td", "num probability")];
    answer.dataset.label = data().models[model].label;
    if (marks[row] === "-") {
      answer.append(make("span", "quiet", "not asked"));
      return [answer, probability];
    }
    const [kind, sign] = { 1: ["right", "✓"], 0: ["wrong", "✗"], "=": ["tie", "≈"] }[marks[row]];
    const mark = make("span", `mark ${kind}`, sign);
    mark.setAttribute("role", "img");
    mark.setAttribute("aria-label", kind);
    answer.append(mark, chosen[row] === null ? make("span", "quiet", NO_ANSWER) : chip(chosen[row]));
    if (ties[row]) answer.append(make("span", "quiet", `and ${ties[row] - 1} more`));
    probability.append((p[row] / 1000).toFixed(3));
    if (shares) probability.append(shareBar(row, column(model)));
    return [answer, probability];
  };

  const passes = (row) => {
    const { models, objects, gold, labels, tags } = data();
    if (view.part) {
      const [tag, value] = JSON.parse(view.part);
      if (tags[tag].of[row] !== value) return false;
    }
    if (view.marks !== "all") {
      const marks = models.map((_, model) => column(model).marks[row]);
      const [wanted, which] = view.marks.split(" ");
      const distinct = new Set(marks.filter((mark) => mark !== "-"));
      if (wanted === "differ" ? distinct.size < 2 : marks[which] !== wanted) return false;
    }
    if (!view.query) return true;
    const words = [objects[row], ...gold[row].map(([place]) => labels[place])];
    models.forEach((_, model) => words.push(answered(model, row)));
    return words.some((word) => word.toLowerCase().includes(view.query));
  };

  const chosenRows = () => {
    const rows = data().objects.map((_, row) => row).filter(passes);
    const by = columns().find(({ key }) => key === view.sort);
    if (by) {
      const way = view.down ? -1 : 1;
      const compare = (a, b) => (typeof a === "number" ? a - b : COLLATE(a, b));
      rows.sort((a, b) => way * compare(by.value(a), by.value(b)) || a - b);
    }
    return rows;
  };

  const show = () => {
    const rows = chosenRows();
    const pages = Math.max(1, Math.ceil(rows.length / PAGE));
    view.page = Math.min(view.page, pages - 1);
    const first = view.page * PAGE;
    const shown = rows.slice(first, first + PAGE);
    const lines = shown.map((row) => {
      const line = make("tr");
      line.append(questionCell(row), goldCell(row));
      data().models.forEach((_, model) => line.append(...answerCells(row, model)));
      return line;
    });
    table.tBodies[0].replaceChildren(...lines);
    const all = data().objects.length;
    const of = rows.length === all ? `${all}` : `${rows.length} (of ${all})`;
    status.textContent = rows.length ? `${first + 1}–${first + shown.length} of ${of}` : "No question matches.";
    byId("previous").disabled = view.page === 0;
    byId("next").disabled = view.page >= pages - 1;
  };

  const option = (value, text) => {
    const node = make("option", "", text);
    node.value = value;
    return node;
  };

  const open = (index) => {
    Object.assign(view, { task: index, template: 0, marks: "all", part: "", sort: null, down: false, page: 0 });
    const { templates, models, tags, slot, pictures, answers } = data();
    byId("pick-task").value = index;
    byId("pick-template").replaceChildren(
      ...templates.map(({ pieces }, place) => {
        const text = pieces.map(([literal, field]) => literal + (field ? `‹${field}›` : "")).join("");
        return option(place, text.replace(slot, "___"));
      }),
    );
    const named = models.length > 1 ? ({ label }) => `: ${label}` : () => "";
    byId("pick-marks").replaceChildren(
      option("all", "all answers"),
      ...(models.length > 1 ? [option("differ", "where models differ")] : []),
      ...models.flatMap((model, place) => [
        option(`0 ${place}`, `wrong${named(model)}`),
        option(`1 ${place}`, `right${named(model)}`),
      ]),
    );
    byId("pick-part").replaceChildren(
      option("", "all questions"),
      ...Object.entries(tags).map(([tag, { values }]) => {
        const group = make("optgroup");
        group.label = tag;
        group.append(...values.map((value, place) => option(JSON.stringify([tag, place]), value || "(none)")));
        return group;
      }),
    );
    byId("part-label").hidden = !Object.keys(tags).length;
    byId("picture-note").textContent = pictures?.note ?? "";
    byId("picture-note").hidden = !pictures?.note;
    byId("bar-note").hidden = !answers.some((columns) => columns.some(({ shares }) => shares));
    header();
    show();
  };

  const listen = (id, event, change) =>
    byId(id).addEventListener(event, ({ target }) => {
      change(target.value);
      view.page = 0;
      show();
    });
  listen("pick-template", "change", (value) => (view.template = Number(value)));
  listen("pick-marks", "change", (value) => (view.marks = value));
  listen("pick-part", "change", (value) => (view.part = value));
  listen("search", "input", (value) => (view.query = value.trim().toLowerCase()));
  byId("pick-task").addEventListener("change", ({ target }) => open(Number(target.value)));
  byId("controls").addEventListener("submit", (event) => event.preventDefault());

  table.tHead.addEventListener("click", ({ target }) => {
    const key = target.closest("button")?.dataset.key;
    if (!key) return;
    Object.assign(view, { down: view.sort === key && !view.down, sort: key, page: 0 });
    header();
    show();
    table.tHead.querySelector(`[data-key="${key}"]`).focus();
  });

  const turn = (step) => {
    view.page += step;
    show();
    table.scrollIntoView({ block: "start" });
  };
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  for (const link of document.querySelectorAll("a[data-task]")) {
    link.addEventListener("click", () => open(Number(link.dataset.task)));
  }

  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const part of folded) part.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
  });

  byId("controls").hidden = byId("pager").hidden = false;
  open(0);
})();
