/** What may be asked: over which line: the session's cookie, where it may be sent, and from which pages it counts. */
import type { H3Event } from 'h3'
import { Refusal } from '../errors.ts'
import { header } from '../http/body/body.ts'
import { isLoopback } from '../http/hosts.ts'
import { addHeader } from '../http/response.ts'
import type { Access } from '../http/route.ts'

/**
 * How the caller reaches us. `cookie` is the session's name there; `is_insecure` is plain http other than on this
 * machine, which `is_open` only where the configuration lets it be.
 */
type Transport = { cookie: string; isSecure: boolean; isInsecureTransport: boolean; isAllowed: boolean }

const SECURE_NAME = '__Host-windfall'
const PLAIN_NAME = 'windfall'
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

export type SessionCookie = ReturnType<typeof openSessionCookie>

type Deps = { base_url: () => string | undefined; settings: { insecure_http: boolean } }

export function openSessionCookie({ base_url, settings }: Deps) {
  function transportOf(event: H3Event): Transport {
    const ours = new URL(base_url() ?? 'http://127.0.0.1')
    const isSecure = ours.protocol === 'https:'
    const isInsecureTransport = !isSecure && !(isLoopback(ours.host) && isLoopback(hostOf(event)))
    const isAllowed = !isInsecureTransport || settings.insecure_http
    return { cookie: isSecure ? SECURE_NAME : PLAIN_NAME, isSecure, isInsecureTransport, isAllowed }
  }

  /** The token in the session's cookie; null where there is none, or it came over a line that is not open. */
  function tokenOf(event: H3Event): string | null {
    const sent = header(event, 'cookie')
    if (sent === undefined) return null
    const { cookie, isAllowed } = transportOf(event)
    const value = isAllowed ? cookieNamed(sent, cookie) : null
    return value !== null && /^[\w-]{43}$/.test(value) ? value : null
  }

  /** Whether a session's cookie came along, of whatever worth. */
  const hasCookie = (event: H3Event): boolean =>
    cookieNamed(header(event, 'cookie') ?? '', transportOf(event).cookie) !== null

  /** Gives the session's token to the browser for so many seconds; null takes it away. */
  function setToken(event: H3Event, token: string | null, seconds: number): void {
    const { cookie, isSecure } = transportOf(event)
    const secure = isSecure ? ' Secure;' : ''
    const maxAge = token === null ? 0 : Math.max(0, Math.floor(seconds))
    const text = `${cookie}=${token ?? ''}; Path=/; Max-Age=${maxAge};${secure} HttpOnly; SameSite=Lax`
    addHeader(event, 'set-cookie', text)
  }

  /** @throws Refusal 403 `insecure_transport` where a password would be readable on the way. */
  function requireAllowedTransport(event: H3Event): void {
    if (transportOf(event).isAllowed) return
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
  function requireSameSite(event: H3Event): void {
    if (SAFE_METHODS.includes(event.req.method)) return
    const site = header(event, 'sec-fetch-site')
    const origin = header(event, 'origin')
    const isOurs =
      site === undefined
        ? origin === undefined
          ? !hasCookie(event)
          : isOwnOrigin(event, origin)
        : site === 'same-origin' || site === 'none'
    if (isOurs) return
    throw new Refusal(403, 'cross_site', 'another site may not do this in your name; do it on our own pages')
  }

  /** Anybody, on our own pages. */
  const ownPage: Access<null> = {
    security: ['none'],
    refusals: { 403: 'cross_site' },
    admit(event) {
      requireSameSite(event)
      return null
    },
  }

  /** Anybody, on our own pages, over a line that nobody else reads. */
  const visitor: Access<null> = {
    security: ['none'],
    refusals: { 403: 'insecure_transport, cross_site' },
    admit(event) {
      requireSameSite(event)
      requireAllowedTransport(event)
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
    setToken,
    requireSameSite,
    ownPage,
    visitor,
    isInsecure: (event: H3Event): boolean => transportOf(event).isInsecureTransport && settings.insecure_http,
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
