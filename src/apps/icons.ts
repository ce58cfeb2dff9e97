/** The icons of apps in the App Store, in memory. They are decoration: while Apple cannot be reached, there are none. */
import { type HttpClient, openHttpClient } from '../apple/api/http_client.ts'
import type { Clock } from '../clock.ts'
import type { App } from './apps.ts'

const TIMEOUT_MS = 10_000
const MAX_LOOKUP_BYTES = 1_048_576
const MAX_ICON_BYTES = 65_536
/** How long an answer of Apple counts, and how long a failed attempt is not repeated. */
const REFRESH_MS = 86_400_000
const TYPES = ['image/jpeg', 'image/png', 'image/webp']
/** The hosts of Apple's pictures. */
const PICTURE_HOST = /(?:^|\.)mzstatic\.com$/

type AppIcon = { type: string; bytes: Buffer }
/** `tried_at`: when Apple was last asked. */
type Entry = { icon: AppIcon | null; tried_at: number }

async function get(client: HttpClient, url: URL, accept: string, maxBytes: number) {
  const response = await client.send({ method: 'GET', url, accept, maxBytes }, null)
  if (response.status !== 200) throw new Error(`${url.host} returned status ${response.status}`)
  return response
}

/** Whether a picture is at Apple, so that an answer cannot make Windfall request anything else. */
const isTrusted = ({ origin, protocol, hostname }: URL, host: string | undefined): boolean =>
  origin === host || (protocol === 'https:' && PICTURE_HOST.test(hostname))

/** `host`: the origin of Apple's lookup; without it, there are no icons. `isOn`: whether there are icons now. */
type Deps = { clock: Clock; host: string | undefined; isOn: () => boolean }

export function openIcons({ clock, host, isOn }: Deps) {
  const client = openHttpClient({ timeoutMs: TIMEOUT_MS })
  const entries = new Map<string, Entry>()
  // One at a time: Apple refuses many lookups at once.
  let last: Promise<void> = Promise.resolve()

  /** The address of the picture of an app; null if the App Store has no such app. */
  async function pictureOf({ bundle_id, apple_id }: App): Promise<URL | null> {
    const url = new URL('/lookup', host)
    if (apple_id === null) url.searchParams.set('bundleId', bundle_id)
    else url.searchParams.set('id', String(apple_id))
    const { body } = await get(client, url, 'application/json', MAX_LOOKUP_BYTES)
    const { results } = JSON.parse(body.toString()) as { results?: { artworkUrl100?: unknown }[] }
    const picture = results?.[0]?.artworkUrl100
    return typeof picture === 'string' ? new URL(picture) : null
  }

  async function lookUp(app: App): Promise<AppIcon | null> {
    const picture = await pictureOf(app)
    if (picture === null || !isTrusted(picture, host)) return null
    const { body, header } = await get(client, picture, TYPES.join(', '), MAX_ICON_BYTES)
    const type = header('content-type') ?? ''
    return TYPES.includes(type) ? { type, bytes: body } : null
  }

  /** Keeps the icon of before if Apple cannot be asked. */
  async function refresh(app: App, entry: Entry): Promise<void> {
    try {
      entry.icon = await lookUp(app)
    } catch {
      // The initial of the app is shown instead.
    }
  }

  /**
   * The icon, as far as it is known now; null without one, and while icons are turned off. Asks Apple in the background,
   * at most once a day.
   */
  function iconOf(app: App): AppIcon | null {
    if (!isOn()) return null
    const entry = entries.get(app.id)
    if (entry && clock() - entry.tried_at < REFRESH_MS) return entry.icon
    if (host === undefined) return null
    const next = { icon: entry?.icon ?? null, tried_at: clock() }
    entries.set(app.id, next)
    last = last.then(() => refresh(app, next))
    return next.icon
  }

  /** Aborts requests that are in progress. */
  async function close(): Promise<void> {
    await client.close()
    await last
  }

  return { iconOf, close }
}
