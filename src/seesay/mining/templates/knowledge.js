"use strict";
(() => {
  const MAX_ROWS = 100;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  const [table, status, search, kind, scene] = ["fact-table", "status", "search", "kind", "scene"].map(byId);

  /* Text only ever enters the page through textContent: names come from untrusted files. */
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
  const bar = (shares, paints, names) => {
    const total = shares.reduce((sum, share) => sum + share, 0) || 1;
    const label = shares.map((share, i) => (share ? `${names[i]} ${Math.round((100 * share) / total)} %` : "")).filter(Boolean);
    const svg = draw("svg", { class: "bar", role: "img", "aria-label": label.join(", ") });
    let start = 0;
    shares.forEach((share, i) => {
      const part = draw("rect", { class: paints[i], x: `${(100 * start) / total}%`, width: `${(100 * share) / total}%`, height: "100%" });
      const title = draw("title", {});
      title.textContent = label.join(", ");
      part.append(title);
      if (share) svg.append(part);
      start += share;
    });
    const box = make("div");
    const largest = shares.map((share, i) => [share, i]).filter(([share]) => share).sort((a, b) => b[0] - a[0]).slice(0, 3);
    box.append(svg, make("small", "share", largest.map(([share, i]) => `${names[i]} ${Math.round((100 * share) / total)} %`).join(", ")));
    return box;
  };
  const pictures = (places, objects) => {
    const box = make("span", "looks");
    for (const place of places) {
      const [name, source, regions] = data.pictures[place];
      const look = make("span", "look");
      const boxes = draw("svg", { viewBox: "0 0 1000 1000", preserveAspectRatio: "none", "aria-hidden": "true" });
      for (const [region, x, y, width, height] of regions) {
        const which = objects.findIndex((object) => region === object || region.endsWith(` ${object}`));
        if (which >= 0) boxes.append(draw("rect", { class: which ? "k2" : "k0", x, y, width, height }));
      }
      const picture = make("img");
      picture.src = source;
      picture.alt = picture.title = name;
      picture.loading = "lazy";
      look.append(picture, boxes);
      box.append(look);
    }
    return box;
  };

  const KINDS = {
    colors: {
      header: ["object", "colours", "answers", "pictures"],
      legend: () => data.names.map((name) => [name, `c-${name}`]),
      names: (row) => [row[1]],
      cells: ([shares, object, answers, examples]) => [make("bdi", "", object), bar(shares, data.names.map((name) => `c-${name}`), data.names), answers, pictures(examples, [object])],
    },
    sizes: {
      header: ["larger", "smaller", "how often", "pictures counted", "pictures"],
      legend: () => [["the first is larger", "k0"], ["the second is larger", "k2"]],
      names: (row) => [row[0], row[1]],
      cells: ([a, b, larger, smaller, examples]) => [make("bdi", "", a), make("bdi", "", b), bar([larger, smaller], ["k0", "k2"], [`${a} larger`, `${b} larger`]), larger + smaller, pictures(examples, [a, b])],
    },
    places: {
      header: ["scene", "object", "other object", "above, level, below", "pictures counted", "pictures"],
      legend: () => [["above", "k0"], ["level", "k2"], ["below", "k3"]],
      names: (row) => [row[1], row[2]],
      cells: ([room, a, b, above, level, below, examples]) => [room.replaceAll("_", " "), make("bdi", "", a), make("bdi", "", b), bar([above, level, below], ["k0", "k2", "k3"], ["above", "level", "below"]), above + level + below, pictures(examples, [a, b])],
    },
  };

  const show = () => {
    const chosen = KINDS[kind.value];
    byId("scene-label").hidden = kind.value !== "places";
    const words = search.value.toLowerCase().split(/[\s,]+/).filter(Boolean);
    const fits = (row) => {
      const text = chosen.names(row).join(" ").toLowerCase();
      return words.every((word) => text.includes(word)) && (kind.value !== "places" || !scene.value || row[0] === scene.value);
    };
    const rows = data[kind.value].filter(fits);
    const head = make("tr");
    for (const name of chosen.header) head.append(make("th", "", name));
    table.tHead.replaceChildren(head);
    byId("legend").replaceChildren(
      ...chosen.legend().map(([name, paint]) => {
        const entry = make("li", "chip");
        entry.append(make("span", `swatch ${paint}`), make("span", "", name));
        return entry;
      }),
    );
    table.tBodies[0].replaceChildren(
      ...rows.slice(0, MAX_ROWS).map((row) => {
        const line = make("tr");
        for (const cell of chosen.cells(row)) {
          const box = make("td", typeof cell === "number" ? "number" : "");
          box.append(typeof cell === "number" ? cell.toLocaleString() : cell);
          line.append(box);
        }
        return line;
      }),
    );
    status.textContent = rows.length > MAX_ROWS ? `${MAX_ROWS} of ${rows.length.toLocaleString()} facts: search for more.` : `${rows.length} facts.`;
  };

  for (const name of ["", ...new Set(data.places.map((row) => row[0]))].sort()) {
    const option = make("option", "", name ? name.replaceAll("_", " ") : "all");
    option.value = name;
    scene.append(option);
  }
  for (const option of kind.options) option.disabled = !data[option.value].length;
  kind.value = ["colors", "sizes", "places"].find((name) => data[name].length) || "colors";
  byId("controls").hidden = false;
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  for (const control of [search, kind, scene]) control.addEventListener("input", show);
  show();
})();
