/** Signs requests as Standard Webhooks describes: HMAC-SHA256 over id, timestamp and body. */
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A new signing secret: `whsec_` and 256 random bits in base64. */
export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/** The signatures of a request, one for each secret, separated by spaces. `timestamp`: seconds since the epoch. */
export function signaturesOf(
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: Buffer },
): string {
  const sign = (secret: string): string => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
  }
  return secrets.map(sign).join(' ')
}
