/** What we remember: which user a purchase belongs to, who moved it, when and on what evidence. */
import type { App } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'
import type { Credential } from './callers.ts'
import { isSameLink, type LinkFacts, labelOf, linkAfter, type Proof, type Verification } from './link.ts'

/** Whose transaction id it is: Apple's original transaction id, or a Play purchase token. */
export type StoreName = 'apple' | 'google'

export type Link = LinkFacts & {
  verification: Verification
  product_id: string | null
  unattested: string | null
}

/** One attribute call, its proofs checked. */
export type Claimed = {
  app: App
  store: StoreName
  transaction_id: string
  app_user_id: string
  product_id: string | null
  proofs: readonly Proof[]
  credential: Credential
  unattested: string | null
}

type Row = {
  app_id: string
  store: StoreName
  transaction_id: string
  app_user_id: string
  proved_app_user_id: string | null
  proofs: string
  product_id: string | null
  unattested: string | null
  created_at: number
  updated_at: number
}

export type Links = ReturnType<typeof openLinks>

export function openLinks(store: Store, clock: Clock) {
  const find = store.prepare<[string, StoreName, string], Row>(
    'select * from links where app_id = ? and store = ? and transaction_id = ?',
  )
  const put = store.prepare<Row>(`
    insert into links ( app_id,  store,  transaction_id,  app_user_id,  proved_app_user_id,  proofs,  product_id,  unattested,  created_at,  updated_at)
    values            (:app_id, :store, :transaction_id, :app_user_id, :proved_app_user_id, :proofs, :product_id, :unattested, :created_at, :updated_at)
    on conflict (app_id, store, transaction_id) do update set
      app_user_id = excluded.app_user_id, proved_app_user_id = excluded.proved_app_user_id, proofs = excluded.proofs,
      product_id = excluded.product_id, unattested = excluded.unattested, updated_at = excluded.updated_at`)
  const record = store.prepare<object>(`
    insert into link_history ( app_id,  store,  transaction_id,  from_app_user_id,  to_app_user_id,  from_proved_app_user_id,  to_proved_app_user_id,  from_proofs,  to_proofs,  credential,  moved_at)
    values                   (:app_id, :store, :transaction_id, :from_app_user_id, :to_app_user_id, :from_proved_app_user_id, :to_proved_app_user_id, :from_proofs, :to_proofs, :credential, :moved_at)`)

  /** Obeys one call, and returns the link as it is now, what it was, and the number of the change, if any. */
  function claim(claimed: Claimed): { now: Link; before: Link | null; change: number | null } {
    const row = find.get(claimed.app.id, claimed.store, claimed.transaction_id)
    const before = row ? linkOf(row) : null
    const facts = linkAfter(before, claimed.app_user_id, claimed.proofs)
    const product_id = claimed.product_id ?? row?.product_id ?? null
    const now = { ...facts, verification: labelOf(facts), product_id, unattested: claimed.unattested }
    const isSame = before !== null && isSameLink(before, facts)
    if (!isSame || product_id !== row?.product_id || claimed.unattested !== row.unattested)
      write(claimed, now, row)
    return { now, before, change: isSame ? null : remember(claimed, facts, before) }
  }

  function write({ app, store, transaction_id }: Claimed, link: Link, row: Row | undefined): void {
    const { verification, proofs, ...facts } = link
    const at = clock()
    put.run({
      ...facts,
      ...{ app_id: app.id, store, transaction_id },
      proofs: JSON.stringify(proofs),
      created_at: row?.created_at ?? at,
      updated_at: at,
    })
  }

  function remember(claimed: Claimed, now: LinkFacts, before: LinkFacts | null): number {
    const { app, store, transaction_id, credential } = claimed
    const { lastInsertRowid } = record.run({
      ...{ app_id: app.id, store, transaction_id, credential, moved_at: clock() },
      from_app_user_id: before?.app_user_id ?? null,
      to_app_user_id: now.app_user_id,
      from_proved_app_user_id: before?.proved_app_user_id ?? null,
      to_proved_app_user_id: now.proved_app_user_id,
      from_proofs: before && JSON.stringify(before.proofs),
      to_proofs: JSON.stringify(now.proofs),
    })
    return Number(lastInsertRowid)
  }

  /** Who a purchase belongs to; null while nobody said. */
  function get(app_id: string, storeName: StoreName, transaction_id: string): Link | null {
    const row = find.get(app_id, storeName, transaction_id)
    return row ? linkOf(row) : null
  }

  return { claim, get }
}

function linkOf(row: Row): Link {
  const { app_user_id, proved_app_user_id, product_id, unattested } = row
  const facts: LinkFacts = { app_user_id, proved_app_user_id, proofs: JSON.parse(row.proofs) }
  return { ...facts, verification: labelOf(facts), product_id, unattested }
}
