"use strict";
(() => {
  const live = document.getElementById("live");
  async function look() {
    try {
      const reply = await fetch("/api/counts");
      if (reply.status === 401) { location.reload(); return; }
      const counts = await reply.json();
      for (const place of document.querySelectorAll("[data-count]")) {
        const value = counts[place.dataset.count];
        const shown = value === null ? "–" : place.dataset.count === "seconds" ? value.toFixed(1) : String(value);
        if (place.textContent !== shown) place.textContent = shown;
      }
      document.querySelector("[data-meter]").value = counts.judgements;
      live.textContent = "";
    } catch {
      live.textContent = "No connection: these counts may be old.";
    }
    setTimeout(look, document.hidden ? 15000 : 2000);
  }
  setTimeout(look, 2000);
})();
