/** SDK keys, which identify the organization of calls from apps and backends. Secret keys are stored as hashes. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { newId, sha256Of } from '../ids.ts'
import type { Store } from '../store/store.ts'

/** publishable: ships in client apps and proves nothing. secret: for the owner's backend; its calls are proved. */
type KeyKind = 'publishable' | 'secret'

export type Key = {
  id: string
  organization_id: string
  kind: KeyKind
  /** The key itself if it is publishable; null for a secret key. */
  token: string | null
  hint: string
  label: string
  source: string
  created_at: number
  expires_at: number | null
  revoked_at: number | null
}

/** A key that config.toml declares. */
export type DeclaredKey = { kind: KeyKind; token: string }

const PREFIXES: Record<KeyKind, string> = { publishable: 'pk_live_', secret: 'sk_live_' }

export type Keys = ReturnType<typeof openKeys>

/** Opens the SDK keys. */
export function openKeys(store: Store, clock: Clock) {
  const columns = 'id, organization_id, kind, token, hint, label, source, created_at, expires_at, revoked_at'
  const insert = store.prepare<Key & { hash: Buffer }>(`
    insert into sdk_keys ( id,  organization_id,  kind,  hash,  token,  hint,  label,  source,  created_at,  expires_at,  revoked_at)
    values               (:id, :organization_id, :kind, :hash, :token, :hint, :label, :source, :created_at, :expires_at, :revoked_at)`)
  const byHash = store.prepare<[Buffer], Key>(`select ${columns} from sdk_keys where hash = ?`)
  const findCached = store.cached(['sdk_keys'], (token) => byHash.get(sha256Of(token)) ?? null)
  const byId = store.prepare<[string], Key>(`select ${columns} from sdk_keys where id = ?`)
  const all = store.prepare<[string | null, string | null], Key>(
    `select ${columns} from sdk_keys where (? is null or organization_id = ?) order by created_at, id`,
  )
  const slugOf = store.prepare<[string], { slug: string }>('select slug from organizations where id = ?')
  const expire = store.prepare<[number, string]>('update sdk_keys set expires_at = ? where id = ?')
  const endNow = store.prepare<[number, string]>('update sdk_keys set revoked_at = ? where id = ?')
  const reactivate = store.prepare<[string]>(
    'update sdk_keys set revoked_at = null, expires_at = null where id = ?',
  )

  /** Creates a key. A secret key is returned only here. */
  function create(
    organization_id: string,
    kind: KeyKind,
    label: string,
    options?: { token?: string; source: string },
  ) {
    const token = options?.token ?? PREFIXES[kind] + randomBytes(24).toString('hex')
    const key: Key = {
      id: newId('key'),
      organization_id,
      kind,
      token: kind === 'publishable' ? token : null,
      hint: token.slice(-4),
      label,
      source: options?.source ?? 'cli',
      created_at: clock(),
      expires_at: null,
      revoked_at: null,
    }
    insert.run({ ...key, hash: sha256Of(token) })
    return { ...key, token }
  }

  /** The key with this token; null if it is unknown, revoked or expired. */
  function findByToken(token: string): Key | null {
    const key = findCached(token)
    return key && isActive(key, clock()) ? key : null
  }

  /** The organization of the key with this token; null if the key is unknown, revoked or expired. */
  const holderOf = (token: string): string | null => {
    const key = byHash.get(sha256Of(token))
    return key && isActive(key, clock()) ? key.organization_id : null
  }

  /** The keys of an organization (null: of all), oldest first, including revoked and expired ones. */
  const list = (organization_id: string | null): Key[] => all.all(organization_id, organization_id)

  /** The valid keys of a kind, oldest first. */
  const activeKeys = (organization_id: string, kind: KeyKind): Key[] =>
    list(organization_id).filter((key) => key.kind === kind && isActive(key, clock()))

  /** The publishable key for a new app: the newest valid one, preferably without an expiry; null if there is none. */
  function publishable(organization_id: string): Key | null {
    const keys = activeKeys(organization_id, 'publishable')
    return keys.findLast((key) => key.expires_at === null) ?? keys.at(-1) ?? null
  }

  /**
   * Creates a successor. The old key stays valid for `overlap_ms`, the time to update deployments. `source` is `cli` or
   * `dashboard`. @throws Refusal as `revoke`.
   */
  function rotate(id: string, overlap_ms: number, source = 'cli') {
    const old = requireMutable(id)
    const successor = create(old.organization_id, old.kind, old.label, { source })
    expire.run(clock() + overlap_ms, id)
    return { ...successor, replaces: id, old_expires_at: clock() + overlap_ms }
  }

  /** Revokes a key immediately. @throws Refusal 404 `unknown_key`; 409 `declared_in_config` or `key_ended`. */
  function revoke(id: string): Key {
    const key = requireMutable(id)
    endNow.run(clock(), id)
    return { ...key, revoked_at: clock() }
  }

  function requireMutable(id: string): Key {
    const key = byId.get(id)
    if (!key) throw new Refusal(404, 'unknown_key', `there is no key ${id}; windfall keys list shows them`)
    if (key.source === 'config')
      throw new Refusal(409, 'declared_in_config', `${id} is declared in config.toml; change it there`)
    if (!isActive(key, clock())) throw new Refusal(409, 'key_ended', `${id} is already revoked or expired`)
    return key
  }

  /**
   * Stores `tokens` as the keys that config.toml declares for an organization, and revokes those it no longer declares.
   *
   * @throws Refusal 409 `key_in_use` if one of the keys belongs to another organization.
   */
  function declare(organization_id: string, tokens: readonly DeclaredKey[]): void {
    const declaredIds = new Set(tokens.map(({ kind, token }) => declareKey(organization_id, kind, token)))
    const dropped = list(organization_id).filter(
      (key) => key.source === 'config' && key.revoked_at === null && !declaredIds.has(key.id),
    )
    for (const key of dropped) endNow.run(clock(), key.id)
  }

  function declareKey(organization_id: string, kind: KeyKind, token: string): string {
    const holder = byHash.get(sha256Of(token))
    if (!holder) return create(organization_id, kind, 'from config.toml', { token, source: 'config' }).id
    if (holder.organization_id !== organization_id) {
      throw new Refusal(
        409,
        'key_in_use',
        `the ${holder.kind} key …${holder.hint} in config.toml belongs to the organization ${slugOf.get(holder.organization_id)?.slug}; declare it there, or use another key`,
      )
    }
    if (!isActive(holder, clock())) reactivate.run(holder.id)
    return holder.id
  }

  return { create, findByToken, holderOf, list, activeKeys, publishable, rotate, revoke, declare }
}

const isActive = (key: Key, now: number): boolean =>
  key.revoked_at === null && (key.expires_at === null || key.expires_at > now)
