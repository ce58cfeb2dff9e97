/** The signing secrets and headers of endpoints: sealed in the database, or in memory if config.toml declares them. */
import type { Clock } from '../../clock.ts'
import { newId } from '../../ids.ts'
import { SecretUnreadable } from '../../outgoing/sealing.ts'
import type { Secrets } from '../../outgoing/secrets.ts'
import type { Store } from '../../store/store.ts'
import { newSecret } from '../sending/signature.ts'
import type { Endpoint } from './endpoints.ts'

/** When a secret was created and until when it signs. Declared secrets have no dates. */
export type SecretDates = { created_at: number | null; expires_at: number | null }
type Row = { id: string; sealed: string; created_at: number; expires_at: number | null }
/** What config.toml contains for an endpoint: its secrets, newest first, and its headers. */
export type DeclaredSecrets = { secrets: readonly string[]; headers: Readonly<Record<string, string>> }

export type EndpointSecrets = ReturnType<typeof openEndpointSecrets>

const secretLocation = (id: string) => ({ table: 'endpoint_secrets', row: id, column: 'sealed' })
const headerLocation = (id: string) => ({ table: 'endpoints', row: id, column: 'headers' })

type Deps = { store: Store; clock: Clock; secrets: Pick<Secrets, 'seal' | 'open'> }

/** Opens the secrets of endpoints. */
export function openEndpointSecrets({ store, clock, secrets }: Deps) {
  const insert = store.prepare<Row & { endpoint_id: string }>(`
    insert into endpoint_secrets (id, endpoint_id, sealed, created_at, expires_at)
    values (:id, :endpoint_id, :sealed, :created_at, :expires_at)`)
  const selectValid = store.prepare<[string, number], Row>(`
    select id, sealed, created_at, expires_at from endpoint_secrets
    where endpoint_id = ? and (expires_at is null or expires_at > ?) order by created_at desc, rowid desc`)
  const expire = store.prepare<[number, string]>(
    'update endpoint_secrets set expires_at = min(ifnull(expires_at, 9e15), ?) where endpoint_id = ?',
  )
  const removeExpired = store.prepare<[number]>('delete from endpoint_secrets where expires_at <= ?')
  const remove = store.prepare<[string]>('delete from endpoint_secrets where id = ?')
  const declared = new Map<string, DeclaredSecrets>()

  const isReadable = (row: Row): boolean => {
    try {
      return secrets.open(row.sealed, secretLocation(row.id)) !== ''
    } catch (error) {
      if (error instanceof SecretUnreadable) return false
      throw error
    }
  }

  /**
   * Adds a new secret and returns it. The earlier ones sign for `overlap_ms` more, unless they cannot be read. Must run
   * inside a unit of work.
   *
   * @throws Refusal 409 `key_unreadable`.
   */
  function rotate(endpoint_id: string, overlap_ms: number): string {
    const now = clock()
    const [id, secret] = [newId('whs'), newSecret()]
    removeExpired.run(now)
    for (const row of selectValid.all(endpoint_id, now)) if (!isReadable(row)) remove.run(row.id)
    expire.run(now + overlap_ms, endpoint_id)
    const sealed = secrets.seal(secret, secretLocation(id))
    insert.run({ id, endpoint_id, sealed, created_at: now, expires_at: null })
    return secret
  }

  /**
   * The secrets that sign now, newest first.
   *
   * @throws SecretUnreadable when the sealing key is missing or another one.
   */
  function signing({ id }: Endpoint): readonly string[] {
    const fromConfig = declared.get(id)
    if (fromConfig) return fromConfig.secrets
    return selectValid.all(id, clock()).map((row) => secrets.open(row.sealed, secretLocation(row.id)))
  }

  /** The headers of the owner. @throws SecretUnreadable like `signing` */
  function headers({ id, headers: sealed }: Endpoint): Readonly<Record<string, string>> {
    const fromConfig = declared.get(id)
    if (fromConfig) return fromConfig.headers
    return sealed === null
      ? {}
      : (JSON.parse(secrets.open(sealed, headerLocation(id))) as Record<string, string>)
  }

  /** Seals headers for an endpoint; null if there are none. Must run inside a unit of work. */
  const sealHeaders = (id: string, values: Readonly<Record<string, string>>): string | null =>
    Object.keys(values).length === 0 ? null : secrets.seal(JSON.stringify(values), headerLocation(id))

  /** The dates of the secrets that sign now, newest first. */
  function dates({ id }: Endpoint): SecretDates[] {
    const fromConfig = declared.get(id)
    if (fromConfig) return fromConfig.secrets.map(() => ({ created_at: null, expires_at: null }))
    return selectValid.all(id, clock()).map(({ created_at, expires_at }) => ({ created_at, expires_at }))
  }

  /** Replaces the secrets and headers that config.toml declares, by the ids of their endpoints. */
  function declare(byId: ReadonlyMap<string, DeclaredSecrets>): void {
    declared.clear()
    for (const [id, values] of byId) declared.set(id, values)
  }

  return { rotate, signing, headers, sealHeaders, dates, declare }
}
