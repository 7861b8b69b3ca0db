// Copyright 2026 harness_ros contributors
// SPDX-License-Identifier: Apache-2.0

// What happens when the page is read.

startFilters();
startList();
startLightbox();
startTimeline();
readHash();
showState();
performance.mark("interactive");

addEventListener("hashchange", () => {
  // Links to places of the page, such as the one that skips to the runs, are no filters.
  if (location.hash && !location.hash.includes("=")) return;
  readHash();
  showState();
  if (!state.run) byId("runs").scrollIntoView();
});

// While the rest of the file is read, pictures of what is in sight come as they arrive.
const arriving = setInterval(fillWaiting, 250);
addEventListener("DOMContentLoaded", () => {
  clearInterval(arriving);
  fillWaiting();
});
