// Copyright 2026 harness_ros contributors
// SPDX-License-Identifier: Apache-2.0

// The runs that match, a page at a time; the next page is made when its place comes near.

const PAGE = { cards: 30, table: 200 };
const MOST_PRINTED = 300;
const list = { found: [], shown: 0 };

const nearEnd = new IntersectionObserver((seen) => {
  if (seen.some((item) => item.isIntersecting)) showMore();
}, { rootMargin: "900px 0px" });

function showState() {
  list.found = matching();
  list.shown = 0;
  near.disconnect();
  byId("list").replaceChildren(...(state.view === "table" && list.found.length ? [grid()] : []));
  showFilters();
  showCount();
  showMore();
  markTimeline();
  if (state.run) showRun(state.run);
}

function showMore(upTo = list.shown + PAGE[state.view]) {
  const table = state.view === "table";
  const holder = table ? document.querySelector(".grid tbody") : byId("list");
  const added = list.found.slice(list.shown, upTo);
  if (holder) holder.append(...added.map((entry) => (table ? gridRow(entry) : card(entry))));
  list.shown += added.length;
  byId("more").hidden = list.shown >= list.found.length;
}

function showCount() {
  const all = plural(entries.length, "run", "runs");
  const some = list.found.length !== entries.length || Object.keys(tests()).length > 0;
  byId("count").replaceChildren(
    some ? `${grouped(list.found.length)} of ${all} ` : `${all} `,
    some ? element("button", { type: "button", class: "act", onclick: () => {
      change({ ...DEFAULTS, sort: state.sort, view: state.view });
      byId("q").focus();
    } }, "show all") : "");
}

// Opens a run; filters that hide it are taken away.
function showRun(run) {
  let at = list.found.findIndex((entry) => entry.run === run);
  if (at < 0) {
    if (!entries.some((entry) => entry.run === run)) return;
    change({ ...DEFAULTS, sort: state.sort, view: state.view, run });
    return;
  }
  if (at >= list.shown) showMore(at + PAGE[state.view]);
  const { index } = list.found[at];
  let shown = document.querySelector(`#list [data-index="${index}"]`);
  if (state.view === "table") {
    toggleRow(shown, true);
    shown = shown.nextElementSibling.querySelector(".card");
  }
  document.querySelector(".card.meant")?.classList.remove("meant");
  shown.classList.add("meant");
  shown.scrollIntoView({ block: "start" });
  shown.focus({ preventScroll: true });
}

function startList() {
  nearEnd.observe(byId("more"));
  byId("more").querySelector("button").addEventListener("click", () => {
    const first = list.shown;
    showMore();
    const { index } = list.found[first];
    const shown = document.querySelector(`#list [data-index="${index}"]`);
    (shown.querySelector(".opener") || shown).focus();
  });
  // Within the page a link to a run keeps the filters, and so does the address.
  byId("list").addEventListener("click", (event) => {
    const link = event.target.closest("a.id");
    if (!link) return;
    event.preventDefault();
    state.run = entries[Number(link.closest(".card").dataset.index)].run;
    writeHash();
    showRun(state.run);
  });
  addEventListener("beforeprint", () => {
    if (list.shown < Math.min(list.found.length, MOST_PRINTED)) showMore(MOST_PRINTED);
    if (list.shown <= MOST_PRINTED) fillWaiting(true);
  });
}
