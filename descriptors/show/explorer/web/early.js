// Before the first paint: a link to another state does not show the state stored in the page, only the requested keys.
if (location.hash.length > 1 && document.documentElement.dataset.engine !== "none") {
  const root = document.documentElement, asked = location.hash.slice(1).replace(/&/g, ", ").replace(/%[0-9a-f]{2}/gi, unescape).replace(/[^ -~]|["\\]/g, " ");
  root.dataset.pending = "";
  root.style.setProperty("--asked", `"${asked.slice(0, 200)}"`);
}
