"use strict";
// Keeps each answer as it is given. Without this script the page still works: the form sends everything.
(() => {
  const form = document.getElementById("page");
  const token = location.pathname.split("/")[2];
  const page = Number(form.dataset.page);
  const place = `seesay ${token} ${page}`;
  const status = document.getElementById("status");
  const items = [...form.querySelectorAll(".item")];
  // Answers that the server has not confirmed survive a reload here.
  const waiting = new Map(Object.entries(read()));
  try {
    for (const old of Object.keys(localStorage)) {
      if (old.startsWith(`seesay ${token} `) && old !== place) localStorage.removeItem(old);
    }
  } catch { /* a private window may refuse */ }
  let sending = false;
  let delay = 500;
  let closed = false;

  function read() {
    try { return JSON.parse(localStorage.getItem(place)) || {}; } catch { return {}; }
  }
  function note() {
    try {
      if (waiting.size) localStorage.setItem(place, JSON.stringify(Object.fromEntries(waiting)));
      else localStorage.removeItem(place);
    } catch { /* a private window may refuse; the form sends everything */ }
  }
  function key() {
    return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
  }
  function say(text, bad = false) {
    status.textContent = text;
    status.classList.toggle("bad", bad);
  }
  function answered(item) {
    return item.querySelector('.ok input, input[type="radio"]:checked')?.checked ?? false;
  }
  function tally() {
    const done = items.filter(answered).length;
    document.getElementById("progress").value = done;
    document.getElementById("count").textContent = `${done} of ${items.length}`;
    for (const item of items) {
      item.classList.toggle("open", !answered(item));
      if (answered(item)) item.classList.remove("missing");
    }
  }

  async function send() {
    if (sending || closed) return;
    sending = true;
    while (waiting.size) {
      const [name, answer] = waiting.entries().next().value;
      let reply;
      try {
        reply = await fetch("/api/answers", {
          method: "POST",
          headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
          body: JSON.stringify(answer),
        });
      } catch { reply = null; }
      if (!reply || reply.status >= 500 || reply.status === 429) {
        say("Not saved yet: no connection. It is tried again by itself.", true);
        setTimeout(() => { sending = false; send(); }, delay);
        delay = Math.min(delay * 2, 15000);
        return;
      }
      delay = 500;
      if (waiting.get(name) === answer) waiting.delete(name);
      note();
      if (reply.status === 409 || reply.status === 410) {
        closed = reply.status === 409;
        const said = (await reply.json()).error;
        say(`${said} Reload the page to go on.`, true);
        if (closed) { waiting.clear(); note(); }
      } else if (!reply.ok) {
        say("This answer could not be kept. Reload the page and give it again.", true);
      } else if (!waiting.size) {
        say("Saved");
      }
    }
    sending = false;
  }
  function keep(item, value, how) {
    const answer = { page, place: Number(item.dataset.place), value: Number(value), how, key: key() };
    waiting.delete(item.dataset.place);
    waiting.set(item.dataset.place, answer);
    note();
    tally();
    send();
  }

  for (const item of items) {
    const slider = item.querySelector('input[type="range"]');
    if (!slider) {
      for (const option of item.querySelectorAll('input[type="radio"]')) {
        option.addEventListener("change", () => keep(item, option.value, "chosen"));
      }
      continue;
    }
    const box = item.querySelector(".ok input");
    const rate = (how) => { box.checked = true; box.value = how; keep(item, slider.value, how); };
    slider.addEventListener("input", () => { box.checked = true; box.value = "moved"; tally(); });
    slider.addEventListener("change", () => rate("moved"));
    slider.addEventListener("click", () => { if (!box.checked) rate("confirmed"); });
    slider.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      if (!box.checked) rate("confirmed");
      if (event.key === "Enter") next(item)?.focus();
    });
    // An answer can be changed but not taken back: a box that is ticked stays ticked.
    if (!box.checked && slider.value !== item.dataset.start) rate("moved"); // moved before the script was there
    box.addEventListener("change", () => { if (box.checked) rate("confirmed"); else box.checked = true; });
  }
  function next(item) {
    const following = items[items.indexOf(item) + 1];
    return following ? following.querySelector("input") : form.querySelector("button");
  }

  for (const answer of waiting.values()) {
    const item = items.find((one) => Number(one.dataset.place) === answer.place);
    const slider = item?.querySelector('input[type="range"]');
    if (slider) {
      slider.value = answer.value;
      item.querySelector(".ok input").checked = true;
      item.querySelector(".ok input").value = answer.how;
    } else {
      const option = item?.querySelector(`input[value="${Number(answer.value)}"]`);
      if (option) option.checked = true;
    }
  }
  form.addEventListener("submit", (event) => {
    const open = items.filter((item) => !answered(item));
    for (const item of items) item.classList.toggle("missing", open.includes(item));
    if (!open.length) { closed = true; return; }
    event.preventDefault();
    say(open.length === 1 ? "One answer is missing: it is marked." : `${open.length} answers are missing: they are marked.`, true);
    open[0].querySelector("input").focus();
  });
  addEventListener("online", send);
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  tally();
  send();
  form.dataset.ready = "";
})();
