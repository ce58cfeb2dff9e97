/** The cookies of the dashboard: their names and attributes, and whether the transport is safe enough for them. */
import type { H3Event } from 'h3'
import { header } from '../http/body/body.ts'
import { isLoopback } from '../http/hosts.ts'
import { addHeader } from '../http/response.ts'

/**
 * How the caller connects. `cookie` is the first part of the names of cookies on this transport. `isInsecureTransport`:
 * plain HTTP from another machine. `isAllowed`: the transport is secure, or the configuration permits an insecure one.
 */
type Transport = { cookie: string; isSecure: boolean; isInsecureTransport: boolean; isAllowed: boolean }

const SECURE_NAME = '__Host-windfall'
const PLAIN_NAME = 'windfall'

export type Cookies = ReturnType<typeof openCookies>

type Deps = { base_url: () => string | undefined; settings: { insecure_http: boolean } }

/** Opens the reader and writer of cookies. `suffix` is the rest of the name of a cookie, empty for the session. */
export function openCookies({ base_url, settings }: Deps) {
  function transportOf(event: H3Event): Transport {
    const baseUrl = new URL(base_url() ?? 'http://127.0.0.1')
    const isSecure = baseUrl.protocol === 'https:'
    const isInsecureTransport = !isSecure && !(isLoopback(baseUrl.host) && isLoopback(hostOf(event)))
    const isAllowed = !isInsecureTransport || settings.insecure_http
    return { cookie: isSecure ? SECURE_NAME : PLAIN_NAME, isSecure, isInsecureTransport, isAllowed }
  }

  /** The value of a cookie; null without one, or if the transport is not allowed. */
  function read(event: H3Event, suffix: string): string | null {
    const cookies = header(event, 'cookie')
    if (cookies === undefined) return null
    const { cookie, isAllowed } = transportOf(event)
    return isAllowed ? cookieNamed(cookies, `${cookie}${suffix}`) : null
  }

  /** Whether the request has a session cookie, valid or not. */
  const hasSession = (event: H3Event): boolean =>
    cookieNamed(header(event, 'cookie') ?? '', transportOf(event).cookie) !== null

  /** Sets a cookie for `seconds`; deletes it if `value` is null. */
  function set(
    event: H3Event,
    { suffix, value, seconds }: { suffix: string; value: string | null; seconds: number },
  ): void {
    const { cookie, isSecure } = transportOf(event)
    const secure = isSecure ? ' Secure;' : ''
    const maxAge = value === null ? 0 : Math.max(0, Math.floor(seconds))
    const named = `${cookie}${suffix}=${value ?? ''}`
    addHeader(event, 'set-cookie', `${named}; Path=/; Max-Age=${maxAge};${secure} HttpOnly; SameSite=Lax`)
  }

  return { transportOf, read, hasSession, set }
}

/** The host of a request, from its header. */
export const hostOf = (event: H3Event): string => header(event, 'host') ?? event.url.host

function cookieNamed(cookies: string, name: string): string | null {
  for (const pair of cookies.split(';')) {
    const separator = pair.indexOf('=')
    if (pair.slice(0, separator).trim() === name) return pair.slice(separator + 1).trim()
  }
  return null
}
