/* Shows an offline page when the house cannot be reached. It stores only that page and its
   files: no page of a player is stored, and nothing else is answered from here. */
"use strict";

const KEPT = {{ cached|safe }};
const SHELF = `sabot-offline-${KEPT.version}`;

const ours = (request) => request.method === "GET" && KEPT.files.includes(new URL(request.url).pathname);

/** Return the offline page in the language of the URL, or in the default language. */
const pageFor = (address) => KEPT.pages[new URL(address).pathname.split("/")[1]] ?? KEPT.pages[KEPT.otherwise];

async function keep() {
  const shelf = await caches.open(SHELF);
  const addresses = [...Object.values(KEPT.pages), ...KEPT.files];
  await shelf.addAll(addresses.map((each) => new Request(each, { cache: "no-cache", credentials: "omit" })));
}

async function forgetOthers() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name !== SHELF).map((name) => caches.delete(name)));
  await self.registration.navigationPreload?.enable();
  await self.clients.claim();
}

async function answer(event, kept) {
  try {
    return (await event.preloadResponse) ?? (await fetch(event.request));
  } catch (unreachable) {
    return (await caches.match(kept, { ignoreVary: true })) ?? Promise.reject(unreachable);
  }
}

self.addEventListener("install", (event) => event.waitUntil(keep().then(() => self.skipWaiting())));
self.addEventListener("activate", (event) => event.waitUntil(forgetOthers()));
self.addEventListener("fetch", (event) => {
  if (event.request.mode === "navigate") event.respondWith(answer(event, pageFor(event.request.url)));
  else if (ours(event.request)) event.respondWith(answer(event, event.request.url));
});
