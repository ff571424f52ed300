// Keeps the whole course in the browser, each file checked against its hash, so that it works without a network.
// Pages come from the network where there is one, so that they are never old; pinned files, whose names hold their
// hash, come from what is kept.
const NAME = "layoutalg-course-{{version}}";
const FILES = {{files}};
const home = self.registration.scope;
const PATIENCE = 4000;

self.addEventListener("install", (event) => event.waitUntil((async () => {
  const cache = await caches.open(NAME);
  await Promise.all(Object.entries(FILES).map(async ([name, integrity]) => {
    const address = new URL(name, home).href;
    const known = name.includes("/") && await caches.match(address);
    const found = known || await fetch(address, { integrity, cache: "no-cache" });
    if (!found.ok) throw new Error(`${name}: ${found.status}`);
    await cache.put(address, found);
  }));
})()));

self.addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name.startsWith("layoutalg-course-") && name !== NAME) await caches.delete(name);
})()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && request.url.startsWith(home)) event.respondWith(answer(request));
});

async function answer(request) {
  const address = new URL(request.url);
  address.search = address.hash = "";
  if (address.href === home) address.pathname += "index.html";
  const kept = await (await caches.open(NAME)).match(address.href);
  if (!kept) return fetch(request);
  // A new response: it has the address that was asked for, with what stands behind the question mark.
  const copy = new Response(kept.body, { status: kept.status, headers: kept.headers });
  if (address.pathname.slice(new URL(home).pathname.length).includes("/")) return copy;
  const late = new Promise((done) => setTimeout(done, PATIENCE, copy));
  return Promise.race([fetch(request).catch(() => copy), late]);
}
