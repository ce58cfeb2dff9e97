/** The signing secrets and headers of endpoints: sealed in the database, or in memory if config.toml declares them. */
import type { Clock } from '../../clock.ts'
import { newId } from '../../ids.ts'
import { SecretUnreadable } from '../../outgoing/sealing.ts'
import type { Secrets } from '../../outgoing/secrets.ts'
import type { Store } from '../../store/store.ts'
import { newSecret } from '../sending/signature.ts'
import type { Endpoint } from './endpoints.ts'

/** When a secret was created and until when it signs. Declared secrets have no dates. */
type SecretDates = { created_at: number | null; expires_at: number | null }
type Row = { id: string; sealed: string; created_at: number; expires_at: number | null }
/** What config.toml contains for an endpoint: its secrets, newest first, and its headers. */
export type DeclaredSecrets = { secrets: readonly string[]; headers: Readonly<Record<string, string>> }

export type EndpointSecrets = ReturnType<typeof openEndpointSecrets>

const secretLocation = (id: string) => ({ table: 'endpoint_secrets', row: id, column: 'sealed' })
const headerLocation = (id: string) => ({ table: 'endpoints', row: id, column: 'headers' })

type Deps = { store: Store; clock: Clock; secrets: Pick<Secrets, 'seal' | 'open'> }

/** Opens the secrets of endpoints. */
export function openEndpointSecrets(deps: Deps) {
  const { secrets } = deps
  const { rotate, forget, valid } = openStoredSecrets(deps)
  const declared = new Map<string, DeclaredSecrets>()

  /**
   * The secrets that sign now, newest first.
   *
   * @throws SecretUnreadable when the sealing key is missing or another one.
   */
  const signing = ({ id }: Endpoint): readonly string[] =>
    declared.get(id)?.secrets ?? valid(id).map((row) => secrets.open(row.sealed, secretLocation(row.id)))

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
    return valid(id).map(({ created_at, expires_at }) => ({ created_at, expires_at }))
  }

  /** Replaces the secrets and headers that config.toml declares, by the ids of their endpoints. */
  function declare(byId: ReadonlyMap<string, DeclaredSecrets>): void {
    declared.clear()
    for (const [id, values] of byId) declared.set(id, values)
  }

  return { rotate, forget, signing, headers, sealHeaders, dates, declare }
}

/** The secrets in the database. */
function openStoredSecrets({ store, clock, secrets }: Deps) {
  const insert = store.prepare<Row & { endpoint_id: string }>(`
    insert into endpoint_secrets (id, endpoint_id, sealed, created_at, expires_at)
    values (:id, :endpoint_id, :sealed, :created_at, :expires_at)`)
  const selectValid = store.prepare<[string, number], Row>(`
    select id, sealed, created_at, expires_at from endpoint_secrets
    where endpoint_id = ? and (expires_at is null or expires_at > ?) order by created_at desc, rowid desc`)
  const expire = store.prepare<{ endpoint_id: string; at: number }>(`
    update endpoint_secrets set expires_at = :at
    where endpoint_id = :endpoint_id and (expires_at is null or expires_at > :at)`)
  const removeExpired = store.prepare<[number]>('delete from endpoint_secrets where expires_at <= ?')
  const remove = store.prepare<[string]>('delete from endpoint_secrets where id = ?')
  const removeAll = store.prepare<[string]>('delete from endpoint_secrets where endpoint_id = ?')

  /** The rows of the secrets that sign now, newest first. */
  const valid = (endpoint_id: string): Row[] => selectValid.all(endpoint_id, clock())

  function isReadable({ id, sealed }: Row): boolean {
    try {
      return secrets.open(sealed, secretLocation(id)) !== ''
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
    for (const row of valid(endpoint_id)) if (!isReadable(row)) remove.run(row.id)
    expire.run({ endpoint_id, at: now + Math.round(overlap_ms) })
    const sealed = secrets.seal(secret, secretLocation(id))
    insert.run({ id, endpoint_id, sealed, created_at: now, expires_at: null })
    return secret
  }

  /** Deletes the secrets of an endpoint. Must run inside a unit of work. */
  const forget = (endpoint_id: string): void => void removeAll.run(endpoint_id)

  return { rotate, forget, valid }
}
