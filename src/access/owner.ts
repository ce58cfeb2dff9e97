/** The owner's password hash, and the one-time link that replaces the password. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { sha256Of } from '../ids.ts'
import type { Store } from '../store/store.ts'

/**
 * setup: the link sets a password. sign_in: the link signs in without a password; only the demo creates such a link.
 */
export type LinkKind = 'setup' | 'sign_in'

const LINK_VALID_MS = 30 * 60_000

export type Owner = ReturnType<typeof openOwner>

/**
 * Opens the owner's record.
 *
 * @param factors the other means of sign-in, which a reset removes
 */
export function openOwner(store: Store, clock: Clock, factors: readonly { removeAll: () => void }[]) {
  type Row = {
    password: string | null
    link_kind: LinkKind | null
    link_hash: Buffer | null
    link_expires_at: number | null
  }
  const find = store.prepare<[], Row>(
    'select password, link_kind, link_hash, link_expires_at from owner where id = 1',
  )
  const write = store.prepare<Row & { changed_at: number }>(`
    insert or replace into owner (id,  password,  link_kind,  link_hash,  link_expires_at,  changed_at)
    values                       (1,  :password, :link_kind, :link_hash, :link_expires_at, :changed_at)`)
  const NO_LINK = { link_kind: null, link_hash: null, link_expires_at: null }

  /** The PHC string of the password; null if none was chosen. */
  const password = (): string | null => find.get()?.password ?? null

  /** Sets the password, a PHC string, and invalidates the link. Inside a unit of work. */
  function setPassword(phc: string): void {
    write.run({ ...NO_LINK, password: phc, changed_at: clock() })
  }

  /** Creates the link's token; it replaces the previous one. Inside a unit of work. */
  function createLink(kind: LinkKind): { token: string; expires_at: number } {
    const token = randomBytes(32).toString('base64url')
    const expires_at = clock() + LINK_VALID_MS
    const link = { link_kind: kind, link_hash: sha256Of(token), link_expires_at: expires_at }
    write.run({ ...link, password: password(), changed_at: clock() })
    return { token, expires_at }
  }

  /** Whether the token belongs to the link and the link has not expired. Compares hashes: timing reveals no token. */
  function isValidLink(kind: LinkKind, token: string): boolean {
    const row = find.get()
    if (!row?.link_hash || row.link_kind !== kind || (row.link_expires_at ?? 0) <= clock()) return false
    return row.link_hash.equals(sha256Of(token))
  }

  /** Invalidates the link. Inside a unit of work. */
  function consumeLink(): void {
    write.run({ ...NO_LINK, password: password(), changed_at: clock() })
  }

  /** Removes the password and all other means of sign-in, and creates a setup link. Inside a unit of work. */
  function reset(): { token: string; expires_at: number } {
    for (const factor of factors) factor.removeAll()
    write.run({ ...NO_LINK, password: null, changed_at: clock() })
    return createLink('setup')
  }

  return { password, setPassword, createLink, isValidLink, consumeLink, reset }
}
