// Copyright 2026 harness_ros contributors
// SPDX-License-Identifier: Apache-2.0

// Bars over time: one of a bag is reached by tab, arrow keys go to the others.

function startTimeline() {
  for (const drawing of document.querySelectorAll("svg.timeline")) {
    const bars = [...drawing.querySelectorAll("a.bar")];
    drawing.addEventListener("click", (event) => {
      const bar = event.target.closest("a.bar");
      if (!bar) return;
      event.preventDefault();
      Object.assign(state, { run: entries[Number(bar.dataset.index)].run });
      writeHash();
      showRun(state.run);
    });
    drawing.addEventListener("keydown", (event) => {
      const at = bars.indexOf(event.target.closest("a.bar"));
      const to = {
        ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1,
        Home: 0, End: bars.length - 1,
      }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      const next = bars[Math.min(Math.max(to, 0), bars.length - 1)];
      bars[at].setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  }
}

// Bars of runs that the filters hide are pale.
function markTimeline() {
  const found = new Set(list.found.map((entry) => entry.index));
  for (const bar of document.querySelectorAll("svg.timeline a.bar")) {
    bar.classList.toggle("hidden", !found.has(Number(bar.dataset.index)));
  }
}
