/** What may be asked: the dashboard's page itself and the files it is made of. Data is asked of /api/v1 by the page. */
import type { H3Event } from 'h3'
import { Refusal } from '../errors.ts'
import { header } from '../http/body/body.ts'
import { defineRoute, PUBLIC } from '../http/route.ts'
import { openFrontFiles } from './front_files.ts'

/** Addresses of views: the page is the same, and shows the view that its address names. */
const VIEWS = [
  '/',
  '/revenue',
  '/subscriptions',
  '/retention',
  '/metrics',
  '/metrics/:name',
  '/customers',
  '/customers/:id',
  '/users/:id',
  '/events',
  '/events/:id',
  '/gaps',
  '/coverage',
  '/settings',
  '/settings/:section',
  '/login',
  '/setup',
  '/share',
]
/** Files that keep their names: browsers look for them there. */
const NAMED_FILES = [
  { path: '/service_worker.js', type: 'text/javascript' },
  { path: '/manifest.webmanifest', type: 'application/manifest+json' },
  { path: '/icon.svg', type: 'image/svg+xml' },
  ...[180, 192, 512].map((size) => ({ path: `/icon-${size}.png`, type: 'image/png' })),
]
/** What is named after its content never changes. */
const IMMUTABLE = 'public, max-age=31536000, immutable'
/** What is below these is asked for by programs, whatever they say that they take. */
const API_PATHS = /^\/(?:api|apple|assets)(?:\/|$)/

/**
 * `routes` are those of the page: nobody needs to be signed in to get it, and it holds nothing of anybody. `elsewhere`
 * answers a browser at an address that nothing is at: 404 with the same page, which says so; undefined for others.
 */
export function openFront() {
  const files = openFrontFiles()

  function answer(event: H3Event, path: string, caching: string, status = 200): Response {
    const file = files.find(path, header(event, 'accept-encoding') ?? '')
    if (!file) throw new Refusal(404, 'not_found', 'There is nothing at this address.')
    const headers: Record<string, string> = {
      'content-type': file.type,
      'cache-control': caching,
      vary: 'accept-encoding',
      'content-length': String(file.bytes.length),
    }
    if (file.encoding) headers['content-encoding'] = file.encoding
    // The buffer is this module's own for ever; a copy a request would be for nothing.
    return new Response(
      new Uint8Array(file.bytes.buffer as ArrayBuffer, file.bytes.byteOffset, file.bytes.length),
      { status, headers },
    )
  }

  const route = (path: string, type: string, summary: string, give: (event: H3Event) => Response) =>
    defineRoute({
      private_path: path.startsWith('/users/'),
      method: 'GET',
      path,
      summary,
      tag: 'Dashboard',
      access: PUBLIC,
      answers: { 200: { description: 'A file of the page', content_type: type } },
      refusals: { 404: 'not_found' },
      handler: ({ event }) => give(event),
    })

  function notFound(event: H3Event): Response | undefined {
    const isBrowsing =
      ['GET', 'HEAD'].includes(event.req.method) &&
      (header(event, 'accept') ?? '').includes('text/html') &&
      !API_PATHS.test(event.url.pathname)
    return isBrowsing ? answer(event, '/', 'no-cache', 404) : undefined
  }

  const routes = [
    ...VIEWS.map((path) =>
      route(path, 'text/html', 'The dashboard', (event) => answer(event, '/', 'no-cache')),
    ),
    ...NAMED_FILES.map(({ path, type }) =>
      route(path, type, 'A file of the dashboard', (event) => answer(event, path, 'no-cache')),
    ),
    route('/assets/:name', '*/*', 'A file of the dashboard, named after its content', (event) =>
      answer(event, event.url.pathname, IMMUTABLE),
    ),
  ]
  return { routes, notFound }
}
