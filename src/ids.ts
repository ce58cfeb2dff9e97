/** Ids that are a function of what they name, so that a repeated fact finds what it made before. */
import { hash, randomBytes } from 'node:crypto'

/** `prefix` and 96 bits of SHA-256 over `parts`; the parts cannot run into one another. */
export function derivedId(prefix: string, ...parts: string[]): string {
  return `${prefix}_${hash('sha256', parts.join('\n'), 'hex').slice(0, 24)}`
}

/** `prefix` and 64 random bits, for what nothing else names. */
export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(8).toString('hex')}`
}

/** SHA-256 of a secret: what we keep of keys and tokens, which are long and random and need no slower hash. */
export function sha256Of(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
