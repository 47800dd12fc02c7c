"use strict";
// Saves each answer as it is given. Without this script the page still works: the form submits everything.
(() => {
  const form = document.getElementById("page");
  const token = location.pathname.split("/")[2];
  const page = Number(form.dataset.page);
  const messages = JSON.parse(form.dataset.messages);
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

  // The kinds of items: whether one is answered, what to listen to, and how a kept answer is shown again.
  const kinds = {
    rating: {
      answered: (item) => item.querySelector(".ok input").checked,
      listen(item) {
        const slider = item.querySelector('input[type="range"]');
        const box = item.querySelector(".ok input");
        const rate = (how) => { box.checked = true; box.value = how; save(item, { value: Number(slider.value), how }); };
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
      },
      show(item, answer) {
        item.querySelector('input[type="range"]').value = answer.value;
        item.querySelector(".ok input").checked = true;
        item.querySelector(".ok input").value = answer.how;
      },
    },
    choice: {
      answered: (item) => item.querySelector("input:checked") !== null,
      listen(item) {
        for (const option of item.querySelectorAll("input")) {
          option.addEventListener("change", () => save(item, { value: Number(option.value), how: "chosen" }));
        }
      },
      show(item, answer) {
        const option = item.querySelector(`input[value="${Number(answer.value)}"]`);
        if (option) option.checked = true;
      },
    },
    several: {
      answered: (item) => item.querySelector("input:checked") !== null,
      limit(item) {
        const most = Number(item.querySelector("fieldset").dataset.most);
        const full = most > 0 && item.querySelectorAll("input:checked").length >= most;
        for (const box of item.querySelectorAll("input")) box.disabled = full && !box.checked;
      },
      listen(item) {
        for (const box of item.querySelectorAll("input")) {
          box.addEventListener("change", () => {
            this.limit(item);
            const value = [...item.querySelectorAll("input:checked")].reduce((sum, ticked) => sum + 2 ** Number(ticked.value), 0);
            if (value) save(item, { value, how: "chosen" });
            else updateProgress(); // an answer names something: the last one stays until another is given
          });
        }
        this.limit(item);
      },
      show(item, answer) {
        for (const box of item.querySelectorAll("input")) {
          box.checked = Math.floor(answer.value / 2 ** Number(box.value)) % 2 === 1;
        }
        this.limit(item);
      },
    },
    typed: {
      answered: (item) => item.querySelector("input").value.trim() !== "" && !item.querySelector("input.refused"),
      listen(item) {
        const field = item.querySelector("input");
        field.addEventListener("input", () => { field.classList.remove("refused"); updateProgress(); });
        field.addEventListener("change", () => {
          const text = field.value.trim();
          if (text) save(item, { text, how: "typed" });
        });
        field.addEventListener("keydown", (event) => {
          if (event.key !== "Enter") return;
          event.preventDefault(); // not the whole form
          nextControl(item)?.focus();
        });
      },
      show(item, answer) { item.querySelector("input").value = answer.text; },
    },
  };
  const kindOf = (item) => kinds[item.dataset.kind] ?? kinds.typed;
  const answered = (item) => kindOf(item).answered(item);

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
  function fill(message, values) {
    return message.replace(/%\((\w+)\)s/g, (_, name) => String(values[name]));
  }
  function showStatus(text, bad = false) {
    status.textContent = text;
    status.classList.toggle("bad", bad);
  }
  function updateProgress() {
    const done = items.filter(answered).length;
    document.getElementById("progress").value = done;
    document.getElementById("count").textContent = fill(messages.count, { answered: done, of: items.length });
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
        showStatus(messages.offline, true);
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
        showStatus(`${message} ${messages.reload}`, true);
        if (closed) { pending.clear(); storePending(); }
      } else if (reply.status === 422 && answer.how === "typed") {
        const field = items.find((item) => item.dataset.place === name).querySelector("input");
        field.classList.add("refused");
        updateProgress();
        showStatus((await reply.json()).error, true);
      } else if (!reply.ok) {
        showStatus(messages.failed, true);
      } else if (!pending.size) {
        showStatus(messages.saved);
      }
    }
    sending = false;
  }
  function save(item, answer) {
    pending.delete(item.dataset.place);
    pending.set(item.dataset.place, { page, place: Number(item.dataset.place), ...answer, key: newKey() });
    storePending();
    updateProgress();
    sendPending();
  }
  function nextControl(item) {
    const following = items[items.indexOf(item) + 1];
    return following ? following.querySelector("input") : form.querySelector("button");
  }

  for (const item of items) kindOf(item).listen(item);
  for (const answer of pending.values()) {
    const item = items.find((element) => Number(element.dataset.place) === answer.place);
    if (item) kindOf(item).show(item, answer);
  }
  form.addEventListener("submit", (event) => {
    const unanswered = items.filter((item) => !answered(item));
    for (const item of items) item.classList.toggle("missing", unanswered.includes(item));
    if (!unanswered.length) { closed = true; return; }
    event.preventDefault();
    const message = unanswered.length === 1 ? messages.one_missing : fill(messages.missing, { count: unanswered.length });
    showStatus(message, true);
    unanswered[0].querySelector("input").focus();
  });
  addEventListener("online", sendPending);
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  updateProgress();
  sendPending();
  form.dataset.ready = "";
})();
