/** The service worker: caches the files of one version for offline use, never data, and shows push messages. */
import { listenToPushes } from './push_messages.ts'

declare const SHELL: string[]
declare const VERSION: string
/** The service worker global scope, which the page's DOM types lack. */
type WorkerScope = {
  addEventListener(type: string, listener: (event: WorkerEvent) => void): void
  skipWaiting(): Promise<void>
  clients: { claim(): Promise<void> }
  location: Location
}
type WorkerEvent = Event & {
  request: Request
  waitUntil(work: Promise<unknown>): void
  respondWith(answer: Promise<Response>): void
  /** Chromium only. */
  addRoutes?: (routes: readonly object[]) => Promise<void>
}

const worker = self as unknown as WorkerScope
const CACHE_NAME = `windfall-${VERSION}`

/** What Chromium answers without starting the worker, or without waiting for it. Other browsers ask the worker. */
const ROUTES = [
  { condition: { urlPattern: { pathname: '/api/*' } }, source: 'network' },
  { condition: { urlPattern: { pathname: '/assets/*' } }, source: { cacheName: CACHE_NAME } },
  { condition: { requestMode: 'navigate' }, source: 'race-network-and-fetch-handler' },
]

async function install(): Promise<void> {
  const cache = await caches.open(CACHE_NAME)
  await cache.addAll(SHELL)
  await worker.skipWaiting()
}

async function activate(): Promise<void> {
  const names = await caches.keys()
  await Promise.all(names.filter((name) => name !== CACHE_NAME).map((name) => caches.delete(name)))
  await worker.clients.claim()
}

/** Assets are named after their content, so the cached file is always current. */
async function assetResponse(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE_NAME)
  const cached = await cache.match(request)
  if (cached) return cached
  const response = await fetch(request)
  if (response.ok) await cache.put(request, response.clone())
  return response
}

async function pageResponse(request: Request): Promise<Response> {
  try {
    return await fetch(request)
  } catch (error) {
    const cached = await caches.match('/')
    if (cached) return cached
    throw error
  }
}

worker.addEventListener('install', (event) => {
  event.waitUntil(install())
  // A browser that does not know a source asks the worker.
  void event.addRoutes?.(ROUTES).catch(() => undefined)
})
worker.addEventListener('activate', (event) => event.waitUntil(activate()))
worker.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname } = new URL(request.url)
  if (request.method !== 'GET' || origin !== worker.location.origin) return
  if (pathname.startsWith('/assets/')) event.respondWith(assetResponse(request))
  else if (request.mode === 'navigate') event.respondWith(pageResponse(request))
})
listenToPushes(self as never)
