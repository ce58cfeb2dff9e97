/** What may be asked: over which line: the session's cookie, where it may be sent, and from which pages it counts. */
import type { H3Event } from 'h3'
import { Refusal } from '../errors.ts'
import { header } from '../http/body/body.ts'
import { isLoopback } from '../http/hosts.ts'
import type { Access } from '../http/route.ts'

/**
 * How the caller reaches us. `cookie` is the session's name there; `is_insecure` is plain http other than on this
 * machine, which `is_open` only where the configuration lets it be.
 */
type Line = { cookie: string; is_secure: boolean; is_insecure: boolean; is_open: boolean }

const SECURE = '__Host-windfall'
const PLAIN = 'windfall'
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

export type Doorway = ReturnType<typeof openDoorway>

type Deps = { base_url: () => string | undefined; settings: { insecure_http: boolean } }

export function openDoorway({ base_url, settings }: Deps) {
  function lineOf(event: H3Event): Line {
    const ours = new URL(base_url() ?? 'http://127.0.0.1')
    const is_secure = ours.protocol === 'https:'
    const is_insecure = !is_secure && !(isLoopback(ours.host) && isLoopback(hostOf(event)))
    const is_open = !is_insecure || settings.insecure_http
    return { cookie: is_secure ? SECURE : PLAIN, is_secure, is_insecure, is_open }
  }

  /** The token in the session's cookie; null where there is none, or it came over a line that is not open. */
  function tokenOf(event: H3Event): string | null {
    const sent = header(event, 'cookie')
    if (sent === undefined) return null
    const { cookie, is_open } = lineOf(event)
    const value = is_open ? cookieNamed(sent, cookie) : null
    return value !== null && /^[\w-]{43}$/.test(value) ? value : null
  }

  /** Whether a session's cookie came along, of whatever worth. */
  const hasCookie = (event: H3Event): boolean =>
    cookieNamed(header(event, 'cookie') ?? '', lineOf(event).cookie) !== null

  /** Gives the session's token to the browser for so many seconds; null takes it away. */
  function give(event: H3Event, token: string | null, seconds: number): void {
    const { cookie, is_secure } = lineOf(event)
    const secure = is_secure ? ' Secure;' : ''
    const kept = token === null ? 0 : Math.max(0, Math.floor(seconds))
    const text = `${cookie}=${token ?? ''}; Path=/; Max-Age=${kept};${secure} HttpOnly; SameSite=Lax`
    event.res.headers.append('set-cookie', text)
  }

  /** @throws Refusal 403 `insecure_transport` where a password would be readable on the way. */
  function demandOpen(event: H3Event): void {
    if (lineOf(event).is_open) return
    throw new Refusal(
      403,
      'insecure_transport',
      'Over plain http everybody on the way could read the password. Put a proxy or a tunnel with https in front and ' +
        'set base_url to its address, or open Windfall on its own machine (ssh -L), or allow it with insecure_http = ' +
        'true in the [server] section of config.toml.',
    )
  }

  /**
   * Other sites can make a browser send our cookie, but not say that they are us (Fetch Metadata; else the Origin).
   *
   * @throws Refusal 403 `cross_site`.
   */
  function demandSameSite(event: H3Event): void {
    if (SAFE_METHODS.includes(event.req.method)) return
    const site = header(event, 'sec-fetch-site')
    const origin = header(event, 'origin')
    const is_ours =
      site === undefined
        ? origin === undefined
          ? !hasCookie(event)
          : isOwnOrigin(event, origin)
        : site === 'same-origin' || site === 'none'
    if (is_ours) return
    throw new Refusal(403, 'cross_site', 'another site may not do this in your name; do it on our own pages')
  }

  /** Anybody, on our own pages. */
  const ownPage: Access<null> = {
    security: ['none'],
    refusals: { 403: 'cross_site' },
    admit(event) {
      demandSameSite(event)
      return null
    },
  }

  /** Anybody, on our own pages, over a line that nobody else reads. */
  const visitor: Access<null> = {
    security: ['none'],
    refusals: { 403: 'insecure_transport, cross_site' },
    admit(event) {
      demandSameSite(event)
      demandOpen(event)
      return null
    },
  }

  /** The host is one that we answer for, or the request would not be here. */
  function isOwnOrigin(event: H3Event, origin: string): boolean {
    const ours = new URL(base_url() ?? 'http://127.0.0.1').origin
    return origin === ours || origin === `http://${hostOf(event)}` || origin === `https://${hostOf(event)}`
  }

  return {
    tokenOf,
    give,
    demandSameSite,
    ownPage,
    visitor,
    isInsecure: (event: H3Event): boolean => lineOf(event).is_insecure && settings.insecure_http,
  }
}

const hostOf = (event: H3Event): string => header(event, 'host') ?? event.url.host

function cookieNamed(cookies: string, name: string): string | null {
  for (const pair of cookies.split(';')) {
    const at = pair.indexOf('=')
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
  }
  return null
}
