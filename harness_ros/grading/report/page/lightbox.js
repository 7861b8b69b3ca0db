// Copyright 2026 harness_ros contributors
// SPDX-License-Identifier: Apache-2.0

// A picture, large. The dialog is modal: the browser keeps the focus in it and gives it back.

const lightbox = { index: 0, position: 0, zoom: 1, pictures: [], touch: null };
const LARGEST = 8;

function openLightbox(index, position) {
  show(index, position);
  byId("lightbox").showModal();
  stage().focus();
}

const stage = () => byId("lightbox").querySelector(".stage");

function show(index, position) {
  const entry = entries[index];
  lightbox.pictures = picturesOf(index) || [];
  const last = lightbox.pictures.length - 1;
  Object.assign(lightbox, { index, position: Math.min(Math.max(position, 0), last) });
  const picture = lightbox.pictures[lightbox.position];
  byId("lightbox-title").replaceChildren(
    mark(entry.outcome, entry.symbol, entry.outcome), " ", isolated(entry.call), " ",
    element("span", { class: "faint" },
      isolated(picture.name), ` ${lightbox.position + 1}/${last + 1}, run `, isolated(entry.short)));
  byId("lightbox").querySelector(".caption").replaceChildren(
    isolated(picture.caption || entry.reason || entry.postCondition));
  stage().replaceChildren(element("img", {
    alt: `${picture.name} after ${entry.call}`, width: picture.width, height: picture.height,
    draggable: "false", src: addressOf(picture),
  }));
  zoomTo(1);
}

// Past the last picture of a run comes the first of the next run that is listed.
function turn(step) {
  const position = lightbox.position + step;
  if (position >= 0 && position < lightbox.pictures.length) return show(lightbox.index, position);
  let at = list.found.findIndex((entry) => entry.index === lightbox.index);
  if (at < 0) return undefined;
  for (at += step; at >= 0 && at < list.found.length; at += step) {
    const pictures = picturesOf(list.found[at].index) || [];
    if (pictures.length) return show(list.found[at].index, step > 0 ? 0 : pictures.length - 1);
  }
  return undefined;
}

// 1 is the whole picture; more can be scrolled, with the middle kept in the middle.
function zoomTo(zoom) {
  const box = stage();
  const image = box.querySelector("img");
  const centre = [
    (box.scrollLeft + box.clientWidth / 2) / Math.max(box.scrollWidth, 1),
    (box.scrollTop + box.clientHeight / 2) / Math.max(box.scrollHeight, 1),
  ];
  lightbox.zoom = Math.min(Math.max(zoom, 1), LARGEST);
  box.classList.toggle("zoomed", lightbox.zoom > 1);
  if (lightbox.zoom === 1) {
    image.style.removeProperty("width");
    return;
  }
  const { width, height } = lightbox.pictures[lightbox.position];
  const whole = Math.min(box.clientWidth / width, box.clientHeight / height) * width;
  image.style.width = `${Math.round(whole * lightbox.zoom)}px`;
  box.scrollLeft = centre[0] * box.scrollWidth - box.clientWidth / 2;
  box.scrollTop = centre[1] * box.scrollHeight - box.clientHeight / 2;
}

const ACTS = {
  previous: () => turn(-1),
  next: () => turn(1),
  in: () => zoomTo(lightbox.zoom * 2),
  out: () => zoomTo(lightbox.zoom / 2),
  close: () => byId("lightbox").close(),
};

const KEYS = {
  "+": "in", "=": "in", "-": "out", ArrowLeft: "previous", ArrowRight: "next",
  PageUp: "previous", PageDown: "next",
};

function distance(touches) {
  return Math.hypot(
    touches[0].clientX - touches[1].clientX, touches[0].clientY - touches[1].clientY);
}

function startLightbox() {
  const dialog = byId("lightbox");
  const box = stage();
  dialog.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // Arrows move what is zoomed, as in any scrolled box.
    if (event.key.startsWith("Arrow") && lightbox.zoom > 1) return;
    const act = event.key === "0" ? () => zoomTo(1) : ACTS[KEYS[event.key]];
    if (!act) return;
    event.preventDefault();
    act();
  });
  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-act]");
    if (button) ACTS[button.dataset.act]();
    else if (event.target === box && lightbox.zoom === 1) dialog.close();
  });
  box.addEventListener("dblclick", (event) => {
    if (event.target !== box) zoomTo(lightbox.zoom > 1 ? 1 : 3);
  });
  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoomTo(lightbox.zoom * Math.exp(-event.deltaY / 150));
  }, { passive: false });
  startTouch(box);
}

// Two fingers zoom, one wipes to the next picture.
function startTouch(box) {
  box.addEventListener("touchstart", (event) => {
    const { touches } = event;
    if (touches.length === 2) lightbox.touch = { apart: distance(touches), zoom: lightbox.zoom };
    else lightbox.touch = { x: touches[0].clientX, y: touches[0].clientY };
  }, { passive: true });
  box.addEventListener("touchmove", (event) => {
    if (event.touches.length !== 2 || !lightbox.touch || !lightbox.touch.apart) return;
    event.preventDefault();
    zoomTo(lightbox.touch.zoom * distance(event.touches) / lightbox.touch.apart);
  }, { passive: false });
  box.addEventListener("touchend", (event) => {
    const begun = lightbox.touch;
    if (event.touches.length === 0) lightbox.touch = null;
    if (!begun || begun.apart || lightbox.zoom > 1 || event.touches.length) return;
    const across = event.changedTouches[0].clientX - begun.x;
    const down = event.changedTouches[0].clientY - begun.y;
    if (Math.abs(across) > 50 && Math.abs(across) > 2 * Math.abs(down)) turn(across < 0 ? 1 : -1);
  }, { passive: true });
}
