/** Sends a request to the server's own base URL, as a client would, and reads the certificate of that address. */

import { randomBytes } from 'node:crypto'
import { connect, type PeerCertificate } from 'node:tls'
import { request } from 'undici'
import { preciseTime } from '../clock.ts'
import { PROBE_HEADER, type ProbeArrival, type SeenRequests } from '../http/admission/seen.ts'
import { errorText } from './apple/reach.ts'

const TIMEOUT_MS = 10_000

/** The result of the request: `arrival` is null if the answer came from another server. */
export type OwnAddress =
  | { problem: string }
  | { problem: null; status: number; location: string | null; ms: number; arrival: ProbeArrival | null }

/** Requests `/healthz` at `base_url`, without following redirects. */
export async function requestOwnAddress(base_url: string, seen: SeenRequests): Promise<OwnAddress> {
  const id = randomBytes(16).toString('hex')
  const arrived = seen.expectProbe(id)
  const began = preciseTime()
  try {
    const { statusCode, headers, body } = await request(`${base_url}/healthz`, {
      headers: { [PROBE_HEADER]: id },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await body.dump()
    const location = headers.location?.toString() ?? null
    return { problem: null, status: statusCode, location, ms: preciseTime() - began, arrival: arrived() }
  } catch (error) {
    return { problem: errorText(error) }
  } finally {
    arrived()
  }
}

/** The longest answer of `/readyz` that is read. */
const MAX_ANSWER_CHARACTERS = 10_000

/** What answers at an address: `problem` if nothing does. */
type Answering = { problem: string } | { problem: null; status: number; isWindfall: boolean }

/** Requests `/readyz` at `base_url`, where a server with another database may run. */
export async function whoAnswers(base_url: string): Promise<Answering> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const { statusCode: status, body } = await request(`${base_url}/readyz`, { signal })
    let text = ''
    for await (const chunk of body.setEncoding('utf8')) {
      text += chunk
      if (text.length > MAX_ANSWER_CHARACTERS) break
    }
    return { problem: null, status, isWindfall: /"database_writable"|"code":"starting"/.test(text) }
  } catch (error) {
    return { problem: errorText(error) }
  }
}

/** The certificate of a TLS server. `problem` is null if the system's roots and the host name accept it. */
type ServedCertificate = { expires_at: number; issuer: string; problem: string | null }

/** The certificate at the host and port of `base_url`. @throws Error if no TLS connection is made. */
export function certificateAt(base_url: string): Promise<ServedCertificate> {
  const { hostname, port } = new URL(base_url)
  const host = hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port || 443),
      rejectUnauthorized: false,
      ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
    })
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('no answer within 10 seconds')))
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerCertificate()
      const problem = socket.authorizationError
      socket.destroy()
      resolve({
        expires_at: Date.parse(certificate.valid_to),
        issuer: issuerOf(certificate),
        problem: problem == null ? null : errorText(problem),
      })
    })
  })
}

const issuerOf = ({ issuer }: PeerCertificate): string =>
  [issuer?.O ?? issuer?.CN ?? 'unknown'].flat().join(', ')
