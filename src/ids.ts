/** Ids and hashes. A derived id depends only on its fields, so a fact that is received twice gets the same id. */
import { hash, randomBytes } from 'node:crypto'

/** `prefix` and 96 bits of SHA-256 over `fields`, which are joined with line breaks. */
export function derivedId(prefix: string, ...fields: string[]): string {
  return `${prefix}_${hash('sha256', fields.join('\n'), 'hex').slice(0, 24)}`
}

/** `prefix` and 64 random bits. */
export function newId(prefix: string): string {
  return `${prefix}_${randomBytes(8).toString('hex')}`
}

/** SHA-256 of a key or token, for storage. They are long and random, so a slow hash is not needed. */
export function sha256Of(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
