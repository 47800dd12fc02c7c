"use strict";
(() => {
  const COLLATE = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" }).compare;

  /* A value that is missing stays at the end, whichever way a column is sorted. */
  const sort = (table, place, down, text) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [row, row.cells[place].dataset.value]);
    const way = down ? -1 : 1;
    rows.sort(([, a], [, b]) => {
      if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
      return way * (text ? COLLATE(a, b) : Number(a) - Number(b));
    });
    body.append(...rows.map(([row]) => row));
  };

  for (const table of document.querySelectorAll("[data-sortable]")) {
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, place) => {
      const button = document.createElement("button");
      const label = heading.querySelector("span");
      button.type = "button";
      button.className = "sort";
      button.textContent = label ? label.textContent : heading.textContent;
      if (label) label.replaceWith(button);
      else heading.replaceChildren(button);
      heading.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const text = heading.dataset.type === "text";
        const before = heading.getAttribute("aria-sort");
        const first = text || heading.dataset.rising !== undefined ? "ascending" : "descending";
        const other = first === "ascending" ? "descending" : "ascending";
        const now = before === first ? other : first;
        for (const each of headings) each.setAttribute("aria-sort", each === heading ? now : "none");
        sort(table, place, now === "descending", text);
      });
    });
  }

  const controls = document.querySelector("[data-controls]");
  if (!controls) return;
  const filters = Object.fromEntries([...controls.querySelectorAll("[data-filter]")].map((field) => [field.dataset.filter, field]));
  const rows = [...document.querySelectorAll("[data-kind]")];
  const cells = [...document.querySelectorAll("table [data-category]")];
  const apply = () => {
    const [query, kind, category] = [filters.search.value.trim().toLowerCase(), filters.kind.value, filters.category.value];
    for (const cell of cells) cell.hidden = category !== "" && cell.dataset.category !== category;
    for (const row of rows) {
      const empty = ![...row.cells].some((cell) => cell.dataset.category && !cell.hidden && cell.dataset.value);
      row.hidden = !row.dataset.name.includes(query) || (kind !== "" && row.dataset.kind !== kind) || empty;
    }
    const shown = rows.filter((row) => !row.hidden).length;
    document.querySelector("[data-status]").textContent = shown === rows.length ? "" : `${shown} of ${rows.length} rows`;
  };
  controls.addEventListener("input", apply);
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.hidden = false;
})();
