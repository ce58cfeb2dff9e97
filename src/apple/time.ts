/** Reads Apple's time from the Date header of a response. */

const TIMEOUT_MS = 10_000

/**
 * Apple's time in milliseconds since the epoch, to the second, from the Date header of a response (RFC 9110 §6.6.1);
 * null if the response has no such header.
 *
 * @throws Error when `origin` cannot be reached.
 */
export async function serverTime(origin: string): Promise<number | null> {
  const { request } = await import('undici')
  const { headers, body } = await request(origin, { method: 'HEAD', signal: AbortSignal.timeout(TIMEOUT_MS) })
  await body.dump()
  const date = Array.isArray(headers.date) ? headers.date[0] : headers.date
  const at = Date.parse(date ?? '')
  return Number.isNaN(at) ? null : at
}
