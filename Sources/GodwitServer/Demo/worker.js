// Keeps the files of the demo, so that the page is there without a network, too.

const files = ["/demo", "/demo/demo.css", "/demo/demo.js", "/demo/godwit.js"];
const cacheName = "godwit-demo-1";

addEventListener("install", (event) => {
  event.waitUntil(caches.open(cacheName).then((cache) => cache.addAll(files)));
  skipWaiting();
});

addEventListener("activate", (event) => event.waitUntil(clients.claim()));

// The server's files are newer, where it answers.
async function answer(request, path) {
  const cache = await caches.open(cacheName);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(path, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(path);
    if (kept) return kept;
    throw error;
  }
}

addEventListener("fetch", (event) => {
  const { pathname } = new URL(event.request.url);
  if (files.includes(pathname)) event.respondWith(answer(event.request, pathname));
});
