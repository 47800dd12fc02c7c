"use strict";
(() => {
  const live = document.getElementById("live");
  async function poll() {
    try {
      const reply = await fetch("/api/counts");
      if (reply.status === 401) { location.reload(); return; }
      const counts = await reply.json();
      for (const element of document.querySelectorAll("[data-count]")) {
        const value = counts[element.dataset.count];
        const shown = value === null ? "–" : element.dataset.count === "seconds" ? value.toFixed(1) : String(value);
        if (element.textContent !== shown) element.textContent = shown;
      }
      document.querySelector("[data-meter]").value = counts.judgements;
      live.textContent = "";
    } catch {
      live.textContent = "No connection: these counts may be out of date.";
    }
    setTimeout(poll, document.hidden ? 15000 : 2000);
  }
  setTimeout(poll, 2000);
})();
