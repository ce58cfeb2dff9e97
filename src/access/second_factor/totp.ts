/** Time-based one-time passwords (RFC 6238): 6 digits, 30 seconds, SHA-1, as every authenticator app has them. */
import { Secret, TOTP } from 'otpauth'

const PERIOD_S = 30
const DIGITS = 6
/** 160 bits, as RFC 4226 recommends. */
const SECRET_BYTES = 20
/** Steps before and after the current one that are accepted, because clocks differ. */
const WINDOW = 1

const totpOf = (secret: string): TOTP =>
  new TOTP({ secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: DIGITS, period: PERIOD_S })

/** A new secret in base32. */
export const newSecret = (): string => new Secret({ size: SECRET_BYTES }).base32

/** The URI that an authenticator app reads from a QR code. `account` tells several servers apart. */
export const uriOf = (secret: string, account: string): string =>
  new TOTP({
    issuer: 'Windfall',
    label: account,
    secret: Secret.fromBase32(secret),
    algorithm: 'SHA1',
    digits: DIGITS,
    period: PERIOD_S,
  }).toString()

/** The time step of a code at `now`, in milliseconds since the epoch; null if the code is wrong. */
export function stepOf(secret: string, code: string, now: number): number | null {
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: WINDOW })
  return delta === null ? null : Math.floor(now / 1_000 / PERIOD_S) + delta
}
