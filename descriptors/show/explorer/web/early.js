// Before the first paint: a link to another state than the frozen one shows no verdict of that one.
if (location.hash.length > 1 && document.documentElement.dataset.engine !== "none") document.documentElement.dataset.pending = "";
