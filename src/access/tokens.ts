/** Read tokens: credentials for programs, which read and may write annotations. Only their hashes are stored. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { MAX_TIMESTAMP_MS } from '../days.ts'
import { Refusal } from '../errors.ts'
import { newId, sha256Of } from '../ids.ts'
import type { Store } from '../store/store.ts'
import type { Revocations } from './revocations.ts'

/** What a caller may read: one organization or all (null), some apps or all (null). */
export type AccessScope = { organization_id: string | null; apps: readonly string[] | null }
export type ApiToken = AccessScope & {
  id: string
  /** The token may also write annotations. */
  can_annotate: boolean
  label: string
  hint: string
  created_at: number
  expires_at: number | null
  used_at: number | null
  revoked_at: number | null
}

type Row = Omit<ApiToken, 'apps' | 'can_annotate'> & { apps: string | null; can_annotate: number }

/** The least time between two writes of a token's `used_at`: a write for each read would be too expensive. */
const USED_AT_INTERVAL_MS = 5 * 60_000

export type ApiTokens = ReturnType<typeof openApiTokens>

/** Opens the read tokens. */
export function openApiTokens(store: Store, clock: Clock, revocations: Revocations) {
  const columns = `
    id, organization_id, apps, label, hint, created_at, min(expires_at, ${MAX_TIMESTAMP_MS}) as expires_at, used_at,
    revoked_at, can_annotate`
  const insert = store.prepare<Row & { hash: Buffer }>(`
    insert into api_tokens ( id,  organization_id,  apps,  label,  hash,  hint,  created_at,  expires_at,  used_at,  revoked_at,  can_annotate)
    values                 (:id, :organization_id, :apps, :label, :hash, :hint, :created_at, :expires_at, :used_at, :revoked_at, :can_annotate)`)
  const byHash = store.prepare<[Buffer], Row>(`select ${columns} from api_tokens where hash = ?`)
  const byId = store.prepare<[string], Row>(`select ${columns} from api_tokens where id = ?`)
  const all = store.prepare<[], Row>(`select ${columns} from api_tokens order by created_at, id`)
  const updateUsedAt = store.prepare<[number, string]>('update api_tokens set used_at = ? where id = ?')
  const updateRevokedAt = store.prepare<[number, string]>('update api_tokens set revoked_at = ? where id = ?')

  /** Creates a token. Its text is returned only here. */
  function create(
    label: string,
    accessScope: AccessScope,
    { expires_at = null, can_annotate = false }: Partial<Pick<ApiToken, 'expires_at' | 'can_annotate'>> = {},
  ): ApiToken & { token: string } {
    const token = `wf_${randomBytes(24).toString('hex')}`
    const row: Row = {
      id: newId('tok'),
      organization_id: accessScope.organization_id,
      apps: accessScope.apps && JSON.stringify(accessScope.apps),
      label,
      hint: token.slice(-4),
      created_at: clock(),
      expires_at,
      used_at: null,
      revoked_at: null,
      can_annotate: Number(can_annotate),
    }
    insert.run({ ...row, hash: sha256Of(token) })
    return { ...tokenOf(row), token }
  }

  /**
   * The access scope of the token in an Authorization header, whether it may write annotations, and when it expires (null:
   * never).
   *
   * @throws Refusal 401 `token_required` or `invalid_token`.
   */
  function holderOf(
    authorization: string | null,
  ): AccessScope & Pick<ApiToken, 'id' | 'expires_at' | 'can_annotate'> {
    const [, token] = /^bearer +(\S+)$/i.exec(authorization ?? '') ?? []
    if (!token) throw tokenRequired()
    const row = byHash.get(sha256Of(token))
    const now = clock()
    if (!row || row.revoked_at !== null || (row.expires_at !== null && row.expires_at <= now)) {
      throw new Refusal(401, 'invalid_token', invalidTokenText(token))
    }
    if (row.used_at === null || now - row.used_at > USED_AT_INTERVAL_MS) noteUse(row.id, now)
    const { id, expires_at, can_annotate, organization_id, apps } = tokenOf(row)
    return { id, expires_at, can_annotate, organization_id, apps }
  }

  function noteUse(id: string, now: number): void {
    // This write may fail: a full disk must not prevent reads.
    store.commit(() => updateUsedAt.run(now, id)).catch(() => {})
  }

  /** All tokens, oldest first, including expired and revoked ones. */
  const list = (): ApiToken[] => all.all().map(tokenOf)

  /** Revokes a token immediately. Inside a unit of work. @throws Refusal 404 `unknown_token`. */
  function revoke(id: string): ApiToken {
    const row = byId.get(id)
    if (!row)
      throw new Refusal(404, 'unknown_token', `there is no token ${id}; windfall tokens list shows them`)
    updateRevokedAt.run(clock(), id)
    store.afterCommit(revocations.notify)
    return { ...tokenOf(row), revoked_at: clock() }
  }

  return { create, holderOf, list, revoke }
}

const tokenOf = (row: Row): ApiToken => ({
  ...row,
  apps: row.apps === null ? null : JSON.parse(row.apps),
  can_annotate: row.can_annotate === 1,
})

const tokenRequired = (): Refusal =>
  new Refusal(
    401,
    'token_required',
    'send Authorization: Bearer wf_…; `windfall tokens create` creates a token',
    { headers: { 'www-authenticate': 'Bearer' } },
  )

const invalidTokenText = (token: string): string =>
  /^[ps]k_live_/.test(token)
    ? 'this is an SDK key; send a read token (wf_…), which `windfall tokens create` creates'
    : 'the token is unknown, revoked or expired'
