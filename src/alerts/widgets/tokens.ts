/** Tokens of widgets and badges: each reads a few figures and nothing else. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { newId, sha256Of } from '../../ids.ts'
import type { Store } from '../../store/store.ts'
import type { WidgetMetricName } from './figures.ts'

export const WIDGET_KINDS = ['widget', 'badge'] as const
export type WidgetKind = (typeof WIDGET_KINDS)[number]

/** `apps`: ids, null for all of the organization. A badge has one metric. */
export type WidgetToken = {
  id: string
  organization_id: string
  kind: WidgetKind
  label: string
  /** The text of a badge’s token, which is meant to be public; null for a widget. */
  token: string | null
  metrics: readonly WidgetMetricName[]
  apps: readonly string[] | null
  created_at: number
  used_at: number | null
}
type Row = Omit<WidgetToken, 'metrics' | 'apps'> & { metrics: string; apps: string | null }
type NewWidget = Pick<WidgetToken, 'organization_id' | 'kind' | 'label' | 'metrics' | 'apps'>

/** The least time between two writes of `used_at`. */
const USED_AT_INTERVAL_MS = 5 * 60_000
const MAX_TOKENS = 100

type WidgetStore = Pick<Store, 'prepare' | 'commit'>
const COLUMNS = 'id, organization_id, kind, label, token, metrics, apps, created_at, used_at'

/** Opens the tokens. */
export function openWidgetTokens(store: WidgetStore, clock: Clock) {
  const all = store.prepare<[], Row>(
    `select ${COLUMNS} from widget_tokens where revoked_at is null order by created_at, id`,
  )

  const list = (): WidgetToken[] => all.all().map(tokenOf)

  /** The token with this id. @throws Refusal 404 `unknown_widget` */
  function require(id: string): WidgetToken {
    const found = list().find((one) => one.id === id)
    if (found) return found
    throw new Refusal(404, 'unknown_widget', `there is no widget ${id.slice(0, 40)}`)
  }

  return { list, require, ...openWriting(store, clock, { list, require }) }
}

type Reading = { list: () => WidgetToken[]; require: (id: string) => WidgetToken }

/** Opens the making, the use and the removal of tokens. */
function openWriting(store: WidgetStore, clock: Clock, { list, require }: Reading) {
  const insert = store.prepare<Row & { hash: Buffer }>(`
    insert into widget_tokens ( id,  organization_id,  kind,  label,  hash,  token,  metrics,  apps,  created_at,  used_at)
    values                    (:id, :organization_id, :kind, :label, :hash, :token, :metrics, :apps, :created_at, :used_at)`)
  const byHash = store.prepare<[Buffer], Row>(
    `select ${COLUMNS} from widget_tokens where hash = ? and revoked_at is null`,
  )
  const updateUsedAt = store.prepare<[number, string]>('update widget_tokens set used_at = ? where id = ?')
  const updateRevokedAt = store.prepare<[number, string]>(
    'update widget_tokens set revoked_at = ? where id = ? and revoked_at is null',
  )

  /** Makes a token and returns its text, which for a widget is not stored. Inside a unit of work. @throws Refusal 409 */
  function create(widget: NewWidget): { widget: WidgetToken; text: string } {
    if (list().length >= MAX_TOKENS)
      throw new Refusal(409, 'too_many_widgets', `there are at most ${MAX_TOKENS} widgets; remove one first`)
    const text = `wd_${randomBytes(24).toString('hex')}`
    const made = {
      ...widget,
      id: newId('wdg'),
      token: widget.kind === 'badge' ? text : null,
      created_at: clock(),
      used_at: null,
    }
    const { metrics, apps } = made
    insert.run({
      ...made,
      hash: sha256Of(text),
      metrics: JSON.stringify(metrics),
      apps: apps && JSON.stringify(apps),
    })
    return { widget: made, text }
  }

  /** The widget of a token; null if the token is unknown or revoked. */
  function find(text: string): WidgetToken | null {
    const row = byHash.get(sha256Of(text))
    if (row === undefined) return null
    const now = clock()
    // This write may fail: a full disk must not prevent reads.
    if (row.used_at === null || now - row.used_at > USED_AT_INTERVAL_MS)
      store.commit(() => updateUsedAt.run(now, row.id)).catch(() => {})
    return tokenOf(row)
  }

  /** Revokes a token immediately. Inside a unit of work. @throws Refusal 404 `unknown_widget` */
  function revoke(id: string): WidgetToken {
    const widget = require(id)
    updateRevokedAt.run(clock(), id)
    return widget
  }

  return { create, find, revoke }
}

const tokenOf = ({ metrics, apps, ...row }: Row): WidgetToken => ({
  ...row,
  metrics: JSON.parse(metrics),
  apps: apps === null ? null : JSON.parse(apps),
})
