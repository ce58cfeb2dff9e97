/** Why an outgoing request got no response. */

/**
 * - `address`: the URL or an address is not permitted.
 * - `dns`: the host cannot be resolved.
 * - `connect`: no connection was established.
 * - `tls`: the certificate or the encryption is invalid.
 * - `timeout`: there was no status line in time.
 * - `closed`: the connection was closed before the status line.
 * - `invalid_response`: the response is not HTTP.
 * - `invalid_request`: the request cannot be made, because of a header for example.
 */
type FailureKind =
  | 'address'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'closed'
  | 'invalid_response'
  | 'invalid_request'

/** A request without a response. `words` are whole sentences that say what happened and what to do. */
export type Failure = Readonly<{ kind: FailureKind; words: string }>

/** The error of a refused or failed connection. The message is the `words` of its failure. */
export class OutgoingError extends Error {
  override readonly name = 'OutgoingError'
  readonly kind: FailureKind

  constructor(kind: FailureKind, words: string) {
    super(words)
    this.kind = kind
  }
}

const CONNECT_TIMEOUT_CODES = /^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/
const TLS_CODES = /^(ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_)/
const CLOSED_CODES = /^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET)$/
const INVALID_CODES = /^(HPE_|UND_ERR_(HEADERS_OVERFLOW|RES_|RESPONSE))/

/** How to repair what a TLS error reports. The keys are codes of Node.js and OpenSSL. */
const TLS_ADVICE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'Its certificate has expired: renew it.',
  CERT_NOT_YET_VALID: 'Its certificate is not valid yet: check the clocks of both machines.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'Its certificate is for another host name: use a name in the certificate, or issue another certificate.',
}
const UNKNOWN_ISSUER =
  'Its certificate is not signed by a known authority: install the complete chain there, or name a private authority in [outbound] ca_file.'

function tlsAdvice(code: string): string {
  const isUnknownIssuer = /^(UNABLE_TO_(GET|VERIFY)|DEPTH_ZERO_|SELF_SIGNED_)/.test(code)
  return TLS_ADVICE[code] ?? (isUnknownIssuer ? UNKNOWN_ISSUER : `The TLS handshake failed (${code}).`)
}

/** The code of an error from the system, TLS or undici; an empty text if it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/**
 * The failure that an error of a request to `host` means.
 *
 * @throws `error` itself if the caller caused it, such as an invalid header
 */
export function failureOf(error: unknown, host: string): Failure {
  if (error instanceof OutgoingError) return { kind: error.kind, words: error.message }
  const code = codeOf(error)
  // Node.js gives this error the code of a reset connection.
  const isHandshake = error instanceof Error && error.message.includes('before secure TLS connection')
  if (isHandshake) return { kind: 'tls', words: `${host} closed the connection during the TLS handshake.` }
  if (TLS_CODES.test(code))
    return { kind: 'tls', words: `No secure connection to ${host}. ${tlsAdvice(code)}` }
  if (CONNECT_TIMEOUT_CODES.test(code))
    return {
      kind: 'connect',
      words: `${host} did not accept a connection in time. Check that it runs and that no firewall blocks it.`,
    }
  // undici refuses status 100 and 101, which were not requested, with the code of a closed connection.
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  if (name === 'SocketError' && /^bad (response|upgrade)$/.test(message))
    return {
      kind: 'invalid_response',
      words: `${host} sent status 100 or 101, which Windfall did not ask for. Answer with a final status only.`,
    }
  // undici asserts that a status has at least the value 100.
  if (INVALID_CODES.test(code) || name === 'HTTPParserError' || name === 'AssertionError')
    return { kind: 'invalid_response', words: `${host} did not send a valid HTTP response.` }
  if (CLOSED_CODES.test(code))
    return { kind: 'closed', words: `${host} closed the connection without a response.` }
  // The other codes of the system and of OpenSSL. The rest are errors of the caller.
  if (code === '' || /^(ERR_|UND_ERR_)/.test(code)) throw error
  return {
    kind: 'connect',
    words: `${host} could not be reached (${code}). Check that it runs and accepts connections.`,
  }
}
