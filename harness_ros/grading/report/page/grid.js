// Copyright 2026 harness_ros contributors
// SPDX-License-Identifier: Apache-2.0

// Runs as a table; a row opens to the card of its run.

const COLUMNS = [
  ["outcome", "Verdict"], ["tool", "Call"], [null, "Why"], ["differs", "Recorded"],
  ["time", "Began"], ["duration", "Took"],
];

function grid() {
  const heads = COLUMNS.map(([sort, title]) => {
    if (!sort) return element("th", { scope: "col" }, title);
    const at = state.sort.replace("-", "");
    const order = at !== sort ? null : state.sort.startsWith("-") ? "descending" : "ascending";
    const arrow = order === "descending" ? " ↓" : order ? " ↑" : "";
    return element("th", { scope: "col", "aria-sort": order },
      element("button", {
        type: "button", onclick: () => {
          change({ sort: order === "ascending" ? `-${sort}` : sort });
          document.querySelector(".grid th[aria-sort] button").focus();
        },
      }, title, element("span", { "aria-hidden": "true" }, arrow)));
  });
  return element("table", { class: "grid" },
    element("caption", { class: "unseen" }, "Runs; the button of a row opens it"),
    element("thead", {}, element("tr", {}, heads)), element("tbody"));
}

function gridRow(entry) {
  const why = entry.reason || entry.evidence[0] || "";
  const opener = element("button", { type: "button", class: "opener", "aria-expanded": "false" },
    mark(entry.outcome, entry.symbol, entry.outcome),
    element("span", { class: "unseen" }, ` ${entry.call}`));
  const row = element("tr", { "data-index": entry.index, class: entry.outcome },
    element("td", {}, opener,
      entry.kind ? element("span", { class: "kind" }, entry.kind.replaceAll("_", " ")) : null),
    element("th", { scope: "row" }, isolated(entry.call), " ",
      element("span", { class: "id faint" }, isolated(entry.short))),
    element("td", { class: "why" }, isolated(why)),
    element("td", {}, entry.recorded === null ? "–"
      : entry.agrees === false ? [flag("differs"),
        element("span", { class: "recorded" }, entry.recorded.said)] : "same",
    entry.mistaken ? [" ", flag(entry.mistaken)] : null),
    element("td", { class: "number" }, entry.began),
    element("td", { class: "number" }, entry.took ?? "–"));
  row.addEventListener("click", (event) => {
    const selecting = getSelection().toString() !== "";
    if (opener.contains(event.target) || !selecting) toggleRow(row);
  });
  return row;
}

function toggleRow(row, open = !isOpen(row)) {
  if (open === isOpen(row)) return;
  row.querySelector(".opener").setAttribute("aria-expanded", String(open));
  if (!open) return void row.nextElementSibling.remove();
  row.after(element("tr", { class: "opened" },
    element("td", { colspan: COLUMNS.length }, card(entries[Number(row.dataset.index)]))));
}

const isOpen = (row) => row.querySelector(".opener").getAttribute("aria-expanded") === "true";
