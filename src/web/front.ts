/** Routes of the dashboard's page and its assets. The page reads its data from /api/v1. */
import type { H3Event } from 'h3'
import { Refusal } from '../errors.ts'
import { header } from '../http/body/body.ts'
import { defineRoute, PUBLIC } from '../http/route.ts'
import { openFrontFiles } from './front_files.ts'
import { VIEWS } from './views.ts'

/** Files with fixed names, because browsers request them by name. */
const NAMED_FILES = [
  { path: '/service_worker.js', type: 'text/javascript' },
  { path: '/manifest.webmanifest', type: 'application/manifest+json' },
  { path: '/icon.svg', type: 'image/svg+xml' },
  ...[180, 192, 512].map((size) => ({ path: `/icon-${size}.png`, type: 'image/png' })),
]
/** The page of unknown paths, which loads no view at once. */
const OTHER_PAGE = '/page'

/** Assets are named after their content, so they never change. */
const IMMUTABLE = 'public, max-age=31536000, immutable'
/** Paths that only programs request. They never get the page, whatever their Accept header says. */
const API_PATHS = /^\/(?:api|apple|assets)(?:\/|$)/

/** The page that loads the code of a view at once, and that of the section if the path has one. */
function pageOf(files: ReturnType<typeof openFrontFiles>, view: string, pathname: string): string {
  if (view === 'today') return '/'
  const ofSection = `/page${pathname}`
  return view === 'settings' && files.has(ofSection) ? ofSection : `/page/${view}`
}

/** The answer to Prometheus, which requests `/metrics` by default: that path is a view of the dashboard. */
const metricsElsewhere = (): Response =>
  new Response('Metrics for Prometheus are at /internal/metrics.\n', {
    status: 404,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  })

/** Search engines read nothing here. Without this file, they would ask for pages to learn that. */
const ROBOTS = defineRoute({
  method: 'GET',
  path: '/robots.txt',
  summary: 'Tells search engines to read nothing',
  tag: 'Dashboard',
  access: PUBLIC,
  answers: { 200: { description: 'The rules', content_type: 'text/plain' } },
  refusals: {},
  handler: () =>
    new Response('User-agent: *\nDisallow: /\n', {
      headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, max-age=86400' },
    }),
})

/** Messages of 0.3.0 link to *Today* at this path. */
const FORMER_TODAY = defineRoute({
  method: 'GET',
  path: '/today',
  summary: 'The former path of the dashboard',
  tag: 'Dashboard',
  access: PUBLIC,
  answers: { 302: { description: 'The dashboard is at `/`', content_type: 'text/html' } },
  refusals: {},
  handler: ({ event }) => new Response(null, { status: 302, headers: { location: `/${event.url.search}` } }),
})

/**
 * Returns the page's routes and `notFound`. The routes need no sign-in, because the page contains no data. `notFound`
 * answers a browser at an unknown path with 404 and the page, and returns undefined for other clients.
 */
export function openFront() {
  const files = openFrontFiles()

  function fileResponse(event: H3Event, path: string, cacheControl: string, status = 200): Response {
    const file = files.find(path, header(event, 'accept-encoding') ?? '')
    if (!file) throw new Refusal(404, 'not_found', 'Page not found')
    const headers: Record<string, string> = {
      'content-type': file.type,
      'cache-control': cacheControl,
      vary: 'accept-encoding',
      'content-length': String(file.bytes.length),
    }
    if (file.encoding) headers['content-encoding'] = file.encoding
    // The buffer never changes, so a copy for each request is unnecessary.
    return new Response(
      new Uint8Array(file.bytes.buffer as ArrayBuffer, file.bytes.byteOffset, file.bytes.length),
      { status, headers },
    )
  }

  const route = (path: string, type: string, summary: string, respond: (event: H3Event) => Response) =>
    defineRoute({
      private_path: path.startsWith('/users/'),
      method: 'GET',
      path,
      summary,
      tag: 'Dashboard',
      access: PUBLIC,
      answers: { 200: { description: 'A file of the page', content_type: type } },
      refusals: { 404: 'not_found' },
      handler: ({ event }) => respond(event),
    })

  function notFound(event: H3Event): Response | undefined {
    const isBrowsing =
      ['GET', 'HEAD'].includes(event.req.method) &&
      (header(event, 'accept') ?? '').includes('text/html') &&
      !API_PATHS.test(event.url.pathname)
    return isBrowsing ? fileResponse(event, OTHER_PAGE, 'no-cache', 404) : undefined
  }

  const routes = [
    ...VIEWS.map(({ path, view }) =>
      route(path, 'text/html', 'The dashboard', (event) => {
        if (path === '/metrics' && !(header(event, 'accept') ?? '').includes('text/html'))
          return metricsElsewhere()
        return fileResponse(event, pageOf(files, view, event.url.pathname), 'no-cache')
      }),
    ),
    FORMER_TODAY,
    ROBOTS,
    ...NAMED_FILES.map(({ path, type }) =>
      route(path, type, 'A file of the dashboard', (event) => fileResponse(event, path, 'no-cache')),
    ),
    route('/assets/:name', '*/*', 'A file of the dashboard, named after its content', (event) =>
      fileResponse(event, event.url.pathname, IMMUTABLE),
    ),
  ]
  return { routes, notFound }
}
