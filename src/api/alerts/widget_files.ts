/**
 * `/widget/v1.json`, `.txt`, `.svg` and `.js`, and `/badge/v1/{token}.svg`: what widgets read. A token is in a header, or in
 * the path for programs that cannot send one. Logs never contain it.
 */
import { createHash } from 'node:crypto'
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Alerts } from '../../alerts/alerts.ts'
import { scriptableScript } from '../../alerts/widgets/scriptable.ts'
import { badgeSvg, widgetSvg } from '../../alerts/widgets/svg.ts'
import { widgetJson, widgetText } from '../../alerts/widgets/texts.ts'
import type { WidgetKind, WidgetToken } from '../../alerts/widgets/tokens.ts'
import { openWindow } from '../../attribution/window.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { clientOf } from '../../http/clients/client.ts'
import { defineRoute, PUBLIC, type Route } from '../../http/route.ts'

/** The requests with an unknown token that one address may send in a minute. */
const UNKNOWN_PER_MINUTE = 30
/** How long a figure may be shown, in seconds. */
const MAX_AGE_S = 60

const list = (description: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.maxLength(500),
      v.transform((text) => text.split(',').filter((one) => one !== '')),
      v.minLength(1, 'must name at least one'),
      v.description(`${description}, separated by commas; narrows what the token may read`),
    ),
  )
const WidgetQuery = v.object({ metrics: list('Figures'), apps: list('Bundle ids or app ids') })
type WidgetQuery = v.InferOutput<typeof WidgetQuery>

const FORMATS = ['json', 'txt', 'svg', 'js'] as const
type Format = (typeof FORMATS)[number]
const TYPES: Record<Format, string> = {
  json: 'application/json',
  txt: 'text/plain; charset=utf-8',
  svg: 'image/svg+xml',
  // A browser shows the script, so that it can be copied.
  js: 'text/plain; charset=utf-8',
}
const ABOUT: Record<Format, string> = {
  json: 'Flat JSON, with a text for each figure',
  txt: 'One line for each figure, or the text of a single one',
  svg: 'A picture in the theme of the viewer',
  js: 'The script for the app Scriptable, with the token in it',
}

type Deps = { alerts: Pick<Alerts, 'widgets'>; monotonic: Clock }

/** The routes of widgets and badges. */
export function widgetFileRoutes(deps: Deps): Route[] {
  const find = openTokens(deps)
  return [
    ...FORMATS.map((format) => headerRoute(deps, find, format)),
    pathRoute(deps, find),
    badgeRoute(deps, find),
  ]
}

type Find = (event: H3Event, kind: WidgetKind, text: string | null) => { widget: WidgetToken; text: string }

/** Returns the function that finds a token. @throws Refusal 404 `unknown_widget`, 429 `rate_limited` */
function openTokens({ alerts: { widgets }, monotonic }: Deps): Find {
  const window = openWindow('address', () => UNKNOWN_PER_MINUTE, monotonic)
  return (event, kind, text) => {
    const widget = text === null ? null : widgets.tokens.find(text)
    if (widget !== null && text !== null && widget.kind === kind) return { widget, text }
    window.admit(clientOf(event).address)
    throw new Refusal(
      404,
      'unknown_widget',
      'the token is unknown or was removed; make a widget in Settings, Widgets',
    )
  }
}

const bearerOf = (event: H3Event): string | null =>
  /^bearer +(wd_\S+)$/i.exec(event.req.headers.get('authorization') ?? '')?.[1] ?? null

const UNCHANGED = { description: 'The same as that of `if-none-match`' }
const REFUSALS = { 404: 'unknown_widget, unknown_app, unknown_metric', 429: 'rate_limited' } as const

function headerRoute(deps: Deps, find: Find, format: Format): Route {
  return defineRoute({
    method: 'GET',
    tag: 'Widgets',
    path: `/widget/v1.${format}`,
    summary: ABOUT[format],
    description: 'Send `Authorization: Bearer wd_…`.',
    access: PUBLIC,
    query: WidgetQuery,
    answers: { 200: { description: 'The widget', content_type: TYPES[format] }, 304: UNCHANGED },
    refusals: REFUSALS,
    handler: ({ event, query }) =>
      respond(deps, find(event, 'widget', bearerOf(event)), { event, format, query }),
  })
}

function pathRoute(deps: Deps, find: Find): Route {
  return defineRoute({
    method: 'GET',
    tag: 'Widgets',
    path: '/widget/v1/:file',
    summary: 'The same with the token in the path: `{token}.json`, `.txt`, `.svg` or `.js`',
    access: PUBLIC,
    query: WidgetQuery,
    private_path: true,
    answers: { 200: { description: 'The widget', content_type: 'application/json' }, 304: UNCHANGED },
    refusals: REFUSALS,
    handler({ event, params: { file }, query }) {
      const [, text = null, ending] = /^(wd_[0-9a-f]+)\.([a-z]+)$/.exec(file) ?? []
      const format = FORMATS.find((one) => one === ending)
      const found = find(event, 'widget', format === undefined ? null : text)
      return respond(deps, found, { event, format: format ?? 'json', query })
    },
  })
}

function badgeRoute({ alerts: { widgets } }: Deps, find: Find): Route {
  return defineRoute({
    method: 'GET',
    tag: 'Widgets',
    path: '/badge/v1/:file',
    summary: 'A badge for README files, `{token}.svg`',
    access: PUBLIC,
    private_path: true,
    cors: true,
    answers: { 200: { description: 'The badge', content_type: TYPES.svg }, 304: UNCHANGED },
    refusals: { 404: 'unknown_widget', 429: 'rate_limited' },
    async handler({ event, params: { file } }) {
      const [, text = null] = /^(wd_[0-9a-f]+)\.svg$/.exec(file) ?? []
      const { widget } = find(event, 'badge', text)
      const { figures, currency } = await widgets.read(widget)
      const [figure] = figures
      if (figure === undefined) throw new Refusal(404, 'unknown_widget', 'the badge has no figure')
      const headers = {
        ...headersOf('svg'),
        'cache-control': `public, max-age=${MAX_AGE_S}`,
        // Also without an Origin in the request: a cache hands one answer to all pages.
        'access-control-allow-origin': '*',
      }
      return fileOf(event, badgeSvg(figure, currency), headers)
    },
  })
}

type Wanted = { event: H3Event; format: Format; query: WidgetQuery }

async function respond(
  { alerts: { widgets } }: Deps,
  { widget, text }: { widget: WidgetToken; text: string },
  { event, format, query }: Wanted,
): Promise<Response> {
  const headers = headersOf(format)
  if (format === 'js')
    return fileOf(event, scriptableScript(`${widgets.url()}/widget/v1.json`, text), headers)
  const shown = await widgets.read(widget, { metrics: query.metrics ?? null, apps: query.apps ?? null })
  // It has the time at which it was read, so no other answer is the same.
  if (format === 'json') return new Response(JSON.stringify(widgetJson(shown, widgets.url())), { headers })
  return fileOf(event, format === 'txt' ? widgetText(shown) : widgetSvg(shown), headers)
}

const headersOf = (format: Format): Record<string, string> => ({
  'content-type': TYPES[format],
  'cache-control': `private, max-age=${MAX_AGE_S}`,
  // The same path has other figures for another token.
  vary: 'authorization',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
  // Other sites may show pictures: the address contains the token.
  ...(format === 'svg' && { 'cross-origin-resource-policy': 'cross-origin' }),
})

/** A file with its tag; 304 without it if the client has it already. */
function fileOf({ req }: H3Event, body: string, headers: Record<string, string>): Response {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const known = req.headers.get('if-none-match')?.split(',') ?? []
  const isKnown = known.some((one) => one.trim().replace(/^W\//, '') === etag)
  return new Response(isKnown ? null : body, { status: isKnown ? 304 : 200, headers: { ...headers, etag } })
}
