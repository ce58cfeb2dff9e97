/**
 * Recognizes browsers in which the owner signed in before, by a cookie of their own. The cookie signs nobody in: it only
 * lets the attempts of such a browser go before those of strangers.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { H3Event } from 'h3'
import type { Clock } from '../../clock.ts'
import { openInstanceKey } from '../../store/instance_key.ts'
import type { Store } from '../../store/store.ts'
import type { Cookies } from '../cookies.ts'

const SUFFIX = '-browser'
/** How long a browser is known after its last sign-in. */
const KNOWN_MS = 400 * 86_400_000

type Deps = { store: Pick<Store, 'prepare'>; clock: Clock; cookies: Pick<Cookies, 'read' | 'set'> }

export type KnownBrowsers = ReturnType<typeof openKnownBrowsers>

/** Opens the known browsers. The database has the key that signs their cookies, and no list of them. */
export function openKnownBrowsers({ store, clock, cookies }: Deps) {
  const key = openInstanceKey(store, 'known_browser_key')

  /** The id of the browser that sent a request; null if nobody signed in with it, or long ago. */
  function find(event: H3Event): string | null {
    const [, signed = '', id = '', until = '', mac = ''] =
      /^((b_[\w-]{22})\.(\d{1,15}))\.([\w-]{43})$/.exec(cookies.read(event, SUFFIX) ?? '') ?? []
    const secret = key.get()
    if (secret === null || Number(until) <= clock() || !isEqual(mac, macOf(secret, signed))) return null
    return id
  }

  /** Makes the key. Inside the unit of work that begins a session; then `remember` the browser. */
  const prepare = (): void => void key.make()

  /** Remembers the browser of a request, which gets a cookie. */
  function remember(event: H3Event): void {
    const secret = key.get()
    if (secret === null) return
    const id = find(event) ?? `b_${randomBytes(16).toString('base64url')}`
    const signed = `${id}.${clock() + KNOWN_MS}`
    cookies.set(event, {
      suffix: SUFFIX,
      value: `${signed}.${macOf(secret, signed)}`,
      seconds: KNOWN_MS / 1000,
    })
  }

  return { find, prepare, remember, /** Inside a unit of work. */ forgetAll: key.remove }
}

const macOf = (secret: Buffer, text: string): string =>
  createHmac('sha256', secret).update(text).digest('base64url')

const isEqual = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
