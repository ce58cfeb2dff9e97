/** What we remember: which user a purchase belongs to, who moved it, when and on what evidence. */
import type { App } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'
import type { Credential } from './callers.ts'
import { isSameLink, type LinkFacts, labelOf, linkAfter, type Proof, type Verification } from './link.ts'

/** Whose transaction id it is: Apple's original transaction id, or a Play purchase token. */
type StoreName = 'apple' | 'google'

export type Link = LinkFacts & {
  verification: Verification
  product_id: string | null
  unattested: string | null
}

/** One attribute call, its proofs checked. */
type Claimed = {
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
  id: number
  app_id: string
  store: StoreName
  transaction_id: string
  app_user_id: string
  proved_app_user_id: string | null
  proofs: string
  credential: Credential
  product_id: string | null
  unattested: string | null
  created_at: number
  updated_at: number
}

export function openLinks(store: Store, clock: Clock) {
  const find = store.prepare<[string, StoreName, string], Row>(
    'select * from links where app_id = ? and store = ? and transaction_id = ?',
  )
  const insert = store.prepare<Omit<Row, 'id'>>(`
    insert into links ( app_id,  store,  transaction_id,  app_user_id,  proved_app_user_id,  proofs,  credential,  product_id,  unattested,  created_at,  updated_at)
    values            (:app_id, :store, :transaction_id, :app_user_id, :proved_app_user_id, :proofs, :credential, :product_id, :unattested, :created_at, :updated_at)`)
  const update = store.prepare<Row>(`
    update links set app_user_id = :app_user_id, proved_app_user_id = :proved_app_user_id, proofs = :proofs,
      credential = :credential, product_id = :product_id, unattested = :unattested, updated_at = :updated_at
    where id = :id`)
  const record = store.prepare<object>(`
    insert into link_history ( link_id,  from_app_user_id,  to_app_user_id,  from_proved_app_user_id,  to_proved_app_user_id,  from_proofs,  to_proofs,  from_credential,  to_credential,  moved_at)
    values                   (:link_id, :from_app_user_id, :to_app_user_id, :from_proved_app_user_id, :to_proved_app_user_id, :from_proofs, :to_proofs, :from_credential, :to_credential, :moved_at)`)

  /** Obeys one call, and returns the link as it is now, what it was, and what names the change, if any. */
  function claim(claimed: Claimed): { now: Link; before: Link | null; change: string | null } {
    const row = find.get(claimed.app.id, claimed.store, claimed.transaction_id)
    return row ? claimAgain(row, claimed) : claimFirst(claimed)
  }

  function claimFirst(claimed: Claimed) {
    const facts = linkAfter(null, claimed.app_user_id, claimed.proofs)
    const { app, store: storeName, transaction_id, credential, product_id, unattested } = claimed
    const { lastInsertRowid } = insert.run({
      ...{ app_id: app.id, store: storeName, transaction_id, credential, product_id, unattested },
      ...{ ...facts, proofs: JSON.stringify(facts.proofs) },
      ...{ created_at: clock(), updated_at: clock() },
    })
    const now = { ...facts, verification: labelOf(facts), product_id, unattested }
    return { now, before: null, change: `link/${lastInsertRowid}` }
  }

  function claimAgain(row: Row, claimed: Claimed) {
    const before = linkOf(row)
    const facts = linkAfter(before, claimed.app_user_id, claimed.proofs)
    const isSame = isSameLink(before, facts)
    const after: Row = {
      ...{ ...row, ...facts, proofs: JSON.stringify(facts.proofs) },
      credential: isSame ? row.credential : claimed.credential,
      product_id: claimed.product_id ?? row.product_id,
      unattested: claimed.unattested,
      updated_at: clock(),
    }
    if (!isSame || after.product_id !== row.product_id || after.unattested !== row.unattested)
      update.run(after)
    return { now: linkOf(after), before, change: isSame ? null : `link/${row.id}/${remember(row, after)}` }
  }

  function remember(from: Row, to: Row): number {
    const { lastInsertRowid } = record.run({
      link_id: to.id,
      from_app_user_id: from.app_user_id,
      to_app_user_id: to.app_user_id,
      from_proved_app_user_id: from.proved_app_user_id,
      to_proved_app_user_id: to.proved_app_user_id,
      from_proofs: from.proofs,
      to_proofs: to.proofs,
      from_credential: from.credential,
      to_credential: to.credential,
      moved_at: to.updated_at,
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
