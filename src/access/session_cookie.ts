/** The session cookie, and the HTTPS and same-site checks. */
import type { H3Event } from 'h3'
import { Refusal } from '../errors.ts'
import { header } from '../http/body/body.ts'
import type { Access } from '../http/route.ts'
import { type Cookies, hostOf } from './cookies.ts'

const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

export type SessionCookie = ReturnType<typeof openSessionCookie>

type Deps = { base_url: () => string | undefined; settings: { insecure_http: boolean }; cookies: Cookies }

/** Opens the reader and writer of the session cookie. */
export function openSessionCookie({ base_url, settings, cookies }: Deps) {
  /** The token in the session cookie; null without one, or if the transport is not allowed. */
  function tokenOf(event: H3Event): string | null {
    const value = cookies.read(event, '')
    return value !== null && /^[\w-]{43}$/.test(value) ? value : null
  }

  /** Sets the session cookie for `seconds`; deletes it if `token` is null. */
  const setToken = (event: H3Event, token: string | null, seconds: number): void =>
    cookies.set(event, { suffix: '', value: token, seconds })

  /** @throws Refusal 403 `insecure_transport` if a password would cross the network unencrypted. */
  function requireAllowedTransport(event: H3Event): void {
    if (cookies.transportOf(event).isAllowed) return
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
          ? !cookies.hasSession(event)
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
    isInsecure: (event: H3Event): boolean =>
      cookies.transportOf(event).isInsecureTransport && settings.insecure_http,
  }
}
