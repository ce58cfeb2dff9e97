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

/** SHA-256. For keys and tokens a slow hash is not needed, because they are long and random. */
export function sha256Of(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer')
}
