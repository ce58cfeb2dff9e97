/** Ids that are a function of what they name, so that a repeated fact finds what it made before. */
import { createHash, randomBytes } from 'node:crypto'

/** `prefix` and 96 bits of SHA-256 over `parts`; the parts cannot run into one another. */
export function idOf(prefix: string, ...parts: string[]): string {
  return `${prefix}_${createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 24)}`
}

/** `prefix` and 64 random bits, for what nothing else names. */
export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(8).toString('hex')}`
}

/** SHA-256 of a secret: what we keep of keys and tokens, which are long and random and need no slower hash. */
export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
