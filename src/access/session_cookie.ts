/** The session cookie: its name and attributes, and the HTTPS and same-site checks. */
import type { H3Event } from 'h3'
import { Refusal } from '../errors.ts'
import { header } from '../http/body/body.ts'
import { isLoopback } from '../http/hosts.ts'
import { addHeader } from '../http/response.ts'
import type { Access } from '../http/route.ts'

/**
 * How the caller connects. `cookie` is the cookie's name on this transport. `isInsecureTransport`: plain HTTP from
 * another machine. `isAllowed`: the transport is secure, or the configuration permits an insecure one.
 */
type Transport = { cookie: string; isSecure: boolean; isInsecureTransport: boolean; isAllowed: boolean }

const SECURE_NAME = '__Host-windfall'
const PLAIN_NAME = 'windfall'
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

export type SessionCookie = ReturnType<typeof openSessionCookie>

type Deps = { base_url: () => string | undefined; settings: { insecure_http: boolean } }

/** Opens the reader and writer of the session cookie. */
export function openSessionCookie({ base_url, settings }: Deps) {
  function transportOf(event: H3Event): Transport {
    const baseUrl = new URL(base_url() ?? 'http://127.0.0.1')
    const isSecure = baseUrl.protocol === 'https:'
    const isInsecureTransport = !isSecure && !(isLoopback(baseUrl.host) && isLoopback(hostOf(event)))
    const isAllowed = !isInsecureTransport || settings.insecure_http
    return { cookie: isSecure ? SECURE_NAME : PLAIN_NAME, isSecure, isInsecureTransport, isAllowed }
  }

  /** The token in the session cookie; null without one, or if the transport is not allowed. */
  function tokenOf(event: H3Event): string | null {
    const cookies = header(event, 'cookie')
    if (cookies === undefined) return null
    const { cookie, isAllowed } = transportOf(event)
    const value = isAllowed ? cookieNamed(cookies, cookie) : null
    return value !== null && /^[\w-]{43}$/.test(value) ? value : null
  }

  /** Whether the request has a session cookie, valid or not. */
  const hasCookie = (event: H3Event): boolean =>
    cookieNamed(header(event, 'cookie') ?? '', transportOf(event).cookie) !== null

  /** Sets the session cookie for `seconds`; deletes it if `token` is null. */
  function setToken(event: H3Event, token: string | null, seconds: number): void {
    const { cookie, isSecure } = transportOf(event)
    const secure = isSecure ? ' Secure;' : ''
    const maxAge = token === null ? 0 : Math.max(0, Math.floor(seconds))
    const text = `${cookie}=${token ?? ''}; Path=/; Max-Age=${maxAge};${secure} HttpOnly; SameSite=Lax`
    addHeader(event, 'set-cookie', text)
  }

  /** @throws Refusal 403 `insecure_transport` if a password would cross the network unencrypted. */
  function requireAllowedTransport(event: H3Event): void {
    if (transportOf(event).isAllowed) return
    throw new Refusal(
      403,
      'insecure_transport',
      'Over plain HTTP, others on the network could read the password. Put an HTTPS proxy or tunnel in front of ' +
        'Windfall and set base_url to its address, open Windfall on its own machine (ssh -L), or set insecure_http = ' +
        'true in the [server] section of config.toml.',
    )
  }

  /**
   * Rejects writes from other sites, which can make a browser send the cookie but not forge Sec-Fetch-Site or Origin.
   *
   * @throws Refusal 403 `cross_site`.
   */
  function requireSameSite(event: H3Event): void {
    if (SAFE_METHODS.includes(event.req.method)) return
    const site = header(event, 'sec-fetch-site')
    const origin = header(event, 'origin')
    const isSameSite =
      site === undefined
        ? origin === undefined
          ? !hasCookie(event)
          : isOwnOrigin(event, origin)
        : site === 'same-origin' || site === 'none'
    if (isSameSite) return
    throw new Refusal(403, 'cross_site', 'this request comes from another site; use the dashboard itself')
  }

  /** Any caller, from the same site. */
  const ownPage: Access<null> = {
    security: ['none'],
    refusals: { 403: 'cross_site' },
    admit(event) {
      requireSameSite(event)
      return null
    },
  }

  /** Any caller, from the same site, over an allowed transport. */
  const visitor: Access<null> = {
    security: ['none'],
    refusals: { 403: 'insecure_transport, cross_site' },
    admit(event) {
      requireSameSite(event)
      requireAllowedTransport(event)
      return null
    },
  }

  /** Trusts the Host header: the server has already rejected hosts that are not its own. */
  function isOwnOrigin(event: H3Event, origin: string): boolean {
    const baseUrl = new URL(base_url() ?? 'http://127.0.0.1').origin
    return origin === baseUrl || origin === `http://${hostOf(event)}` || origin === `https://${hostOf(event)}`
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
    const separator = pair.indexOf('=')
    if (pair.slice(0, separator).trim() === name) return pair.slice(separator + 1).trim()
  }
  return null
}
