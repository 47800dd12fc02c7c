"use strict";
// Saves each answer as it is given. Without this script the page still works: the form submits everything.
(() => {
  const form = document.getElementById("page");
  const token = location.pathname.split("/")[2];
  const page = Number(form.dataset.page);
  const storageKey = `seesay ${token} ${page}`;
  const status = document.getElementById("status");
  const items = [...form.querySelectorAll(".item")];
  // Answers that the server has not confirmed yet survive a reload in local storage.
  const pending = new Map(Object.entries(readPending()));
  try {
    for (const old of Object.keys(localStorage)) {
      if (old.startsWith(`seesay ${token} `) && old !== storageKey) localStorage.removeItem(old);
    }
  } catch { /* private windows may forbid it */ }
  let sending = false;
  let delay = 500;
  let closed = false;

  function readPending() {
    try { return JSON.parse(localStorage.getItem(storageKey)) || {}; } catch { return {}; }
  }
  function storePending() {
    try {
      if (pending.size) localStorage.setItem(storageKey, JSON.stringify(Object.fromEntries(pending)));
      else localStorage.removeItem(storageKey);
    } catch { /* private windows may forbid it; the form submits everything */ }
  }
  function newKey() {
    return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
  }
  function showStatus(text, bad = false) {
    status.textContent = text;
    status.classList.toggle("bad", bad);
  }
  function answered(item) {
    return item.querySelector('.ok input, input[type="radio"]:checked')?.checked ?? false;
  }
  function updateProgress() {
    const done = items.filter(answered).length;
    document.getElementById("progress").value = done;
    document.getElementById("count").textContent = `${done} of ${items.length}`;
    for (const item of items) {
      item.classList.toggle("open", !answered(item));
      if (answered(item)) item.classList.remove("missing");
    }
  }

  async function sendPending() {
    if (sending || closed) return;
    sending = true;
    while (pending.size) {
      const [name, answer] = pending.entries().next().value;
      let reply;
      try {
        reply = await fetch("/api/answers", {
          method: "POST",
          headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
          body: JSON.stringify(answer),
        });
      } catch { reply = null; }
      if (!reply || reply.status >= 500 || reply.status === 429) {
        showStatus("Not saved yet: no connection. Retrying automatically.", true);
        setTimeout(() => { sending = false; sendPending(); }, delay);
        delay = Math.min(delay * 2, 15000);
        return;
      }
      delay = 500;
      if (pending.get(name) === answer) pending.delete(name);
      storePending();
      if (reply.status === 409 || reply.status === 410) {
        closed = reply.status === 409;
        const message = (await reply.json()).error;
        showStatus(`${message} Reload the page to continue.`, true);
        if (closed) { pending.clear(); storePending(); }
      } else if (!reply.ok) {
        showStatus("This answer could not be saved. Reload the page and answer again.", true);
      } else if (!pending.size) {
        showStatus("Saved");
      }
    }
    sending = false;
  }
  function save(item, value, how) {
    const answer = { page, place: Number(item.dataset.place), value: Number(value), how, key: newKey() };
    pending.delete(item.dataset.place);
    pending.set(item.dataset.place, answer);
    storePending();
    updateProgress();
    sendPending();
  }

  for (const item of items) {
    const slider = item.querySelector('input[type="range"]');
    if (!slider) {
      for (const option of item.querySelectorAll('input[type="radio"]')) {
        option.addEventListener("change", () => save(item, option.value, "chosen"));
      }
      continue;
    }
    const box = item.querySelector(".ok input");
    const rate = (how) => { box.checked = true; box.value = how; save(item, slider.value, how); };
    slider.addEventListener("input", () => { box.checked = true; box.value = "moved"; updateProgress(); });
    slider.addEventListener("change", () => rate("moved"));
    slider.addEventListener("click", () => { if (!box.checked) rate("confirmed"); });
    slider.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      if (!box.checked) rate("confirmed");
      if (event.key === "Enter") nextControl(item)?.focus();
    });
    // An answer can be changed but not withdrawn: a ticked box stays ticked.
    if (!box.checked && slider.value !== item.dataset.start) rate("moved"); // moved before the script was loaded
    box.addEventListener("change", () => { if (box.checked) rate("confirmed"); else box.checked = true; });
  }
  function nextControl(item) {
    const following = items[items.indexOf(item) + 1];
    return following ? following.querySelector("input") : form.querySelector("button");
  }

  for (const answer of pending.values()) {
    const item = items.find((element) => Number(element.dataset.place) === answer.place);
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
    const unanswered = items.filter((item) => !answered(item));
    for (const item of items) item.classList.toggle("missing", unanswered.includes(item));
    if (!unanswered.length) { closed = true; return; }
    event.preventDefault();
    showStatus(unanswered.length === 1 ? "One answer is missing and marked below." : `${unanswered.length} answers are missing and marked below.`, true);
    unanswered[0].querySelector("input").focus();
  });
  addEventListener("online", sendPending);
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  updateProgress();
  sendPending();
  form.dataset.ready = "";
})();
