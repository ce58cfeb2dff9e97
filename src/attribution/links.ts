/** What we remember: which user a purchase belongs to, who moved it, when and on what evidence. */
import type { App } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import type { Store } from '../store/store.ts'
import type { Credential } from './callers.ts'
import { isSameLink, type LinkFacts, labelOf, linkAfter, type Proof, type Verification } from './link.ts'
import type { CallCredential } from './link_reasons.ts'

/** Whose transaction id it is: Apple's original transaction id, or a Play purchase token. */
export type StoreName = 'apple' | 'google'

export type Link = LinkFacts & {
  verification: Verification
  product_id: string | null
  unattested: string | null
}

/** One attribute call, its proofs checked. */
type LinkClaim = {
  app: App
  store: StoreName
  transaction_id: string
  /** What the call says of itself; null where it says nothing, and `store` is concluded from the id. */
  platform: string | null
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
  platform: string | null
  app_user_id: string
  proved_app_user_id: string | null
  proofs: string
  credential: Credential
  product_id: string | null
  unattested: string | null
  created_at: number
  updated_at: number
}

/** A change of a link as it is kept; a user id of null: somebody who was forgotten since. */
type Move = {
  link_id: number
  from_app_user_id: string | null
  to_app_user_id: string | null
  from_proved_app_user_id: string | null
  from_proofs: string
  from_credential: Credential
}

/** What a call says that makes no change of its own. */
const CALL_FIELDS = ['store', 'platform', 'product_id', 'unattested'] as const

type ClaimResult = { now: Link; before: Link | null; change: string | null; store: StoreName }

/** A move that was undone: the link as it was kept, as it is and was, and what names the change. */
type UndoResult = { row: Row; now: Link; before: Link; change: string }

export function openLinks(store: Store, clock: Clock) {
  const find = store.prepare<[string, StoreName, string], Row>(
    'select * from links where app_id = ? and store = ? and transaction_id = ?',
  )
  const insert = store.prepare<Omit<Row, 'id'>>(`
    insert into links ( app_id,  store,  transaction_id,  platform,  app_user_id,  proved_app_user_id,  proofs,  credential,  product_id,  unattested,  created_at,  updated_at)
    values            (:app_id, :store, :transaction_id, :platform, :app_user_id, :proved_app_user_id, :proofs, :credential, :product_id, :unattested, :created_at, :updated_at)`)
  const update = store.prepare<Row>(`
    update links set store = :store, platform = :platform, app_user_id = :app_user_id, proved_app_user_id = :proved_app_user_id, proofs = :proofs,
      credential = :credential, product_id = :product_id, unattested = :unattested, updated_at = :updated_at
    where id = :id`)
  const byId = store.prepare<[number], Row>('select * from links where id = ?')
  const moveOf = store.prepare<[number], Move>('select * from link_history where id = ?')
  const newestMoveOf = store.prepare<[number], { id: number }>(
    'select max(id) as id from link_history where link_id = ?',
  )
  const insertMove = store.prepare<object>(`
    insert into link_history ( link_id,  from_app_user_id,  to_app_user_id,  from_proved_app_user_id,  to_proved_app_user_id,  from_proofs,  to_proofs,  from_credential,  to_credential,  moved_at)
    values                   (:link_id, :from_app_user_id, :to_app_user_id, :from_proved_app_user_id, :to_proved_app_user_id, :from_proofs, :to_proofs, :from_credential, :to_credential, :moved_at)`)

  /** Applies one call, and returns the link as it is now, what it was, its store, and what names the change, if any. */
  function claim(call: LinkClaim) {
    const row = find.get(call.app.id, call.store, call.transaction_id) ?? findInOtherStore(call)
    return row ? updateLink(row, call) : insertLink(call)
  }

  /**
   * The link of the other store that the call is about. A call without a platform is about the link that there is; one
   * that names the App Store takes a link over whose store was only concluded.
   */
  function findInOtherStore({ app, store: storeName, transaction_id, platform }: LinkClaim): Row | undefined {
    const other = find.get(app.id, storeName === 'apple' ? 'google' : 'apple', transaction_id)
    if (other === undefined) return undefined
    const isInferred = storeName === 'apple' ? other.platform === null : platform === null
    return isInferred ? other : undefined
  }

  function insertLink(call: LinkClaim): ClaimResult {
    const facts = linkAfter(null, call.app_user_id, call.proofs)
    const { app, store: storeName, transaction_id, platform, credential, product_id, unattested } = call
    const { lastInsertRowid } = insert.run({
      app_id: app.id,
      store: storeName,
      transaction_id,
      platform,
      credential,
      product_id,
      unattested,
      ...facts,
      proofs: JSON.stringify(facts.proofs),
      created_at: clock(),
      updated_at: clock(),
    })
    const now = { ...facts, verification: labelOf(facts), product_id, unattested }
    return { now, before: null, change: `link/${lastInsertRowid}`, store: storeName }
  }

  function updateLink(row: Row, call: LinkClaim): ClaimResult {
    const before = linkOf(row)
    const facts = linkAfter(before, call.app_user_id, call.proofs)
    const isSame = isSameLink(before, facts)
    const after: Row = {
      ...row,
      ...facts,
      proofs: JSON.stringify(facts.proofs),
      store: call.platform === null ? row.store : call.store,
      platform: call.platform ?? row.platform,
      credential: isSame ? row.credential : call.credential,
      product_id: call.product_id ?? row.product_id,
      unattested: call.unattested,
      updated_at: clock(),
    }
    if (!isSame || CALL_FIELDS.some((field) => after[field] !== row[field])) update.run(after)
    const change = isSame ? null : `link/${row.id}/${recordMove(row, after)}`
    return { now: linkOf(after), before, change, store: after.store }
  }

  /**
   * Gives a purchase back to whom it was moved from, with the proofs it had then, inside the caller's unit of work; that
   * is a change of its own.
   *
   * @throws Refusal 404 `unknown_move`, 409 `move_superseded` where it is not the link's last change, or moved nothing
   * that can be given back.
   */
  function undo(move_id: number): UndoResult {
    const move = moveOf.get(move_id)
    const row = move && byId.get(move.link_id)
    if (!move || !row) throw new Refusal(404, 'unknown_move', `no purchase was moved by ${move_id}`)
    const { from_app_user_id, from_proved_app_user_id, from_proofs, from_credential } = move
    const isLatest = newestMoveOf.get(row.id)?.id === move_id && row.app_user_id === move.to_app_user_id
    if (!isLatest || from_app_user_id === null || from_app_user_id === move.to_app_user_id)
      throw new Refusal(409, 'move_superseded', superseded(move, isLatest))
    const after: Row = {
      ...row,
      app_user_id: from_app_user_id,
      proved_app_user_id: from_proved_app_user_id,
      // Why the earlier call was unattested was not kept.
      proofs: from_proofs,
      credential: from_credential,
      unattested: null,
      updated_at: clock(),
    }
    update.run(after)
    const change = `link/${row.id}/${recordMove(row, { ...after, credential: 'owner' })}`
    return { row, now: linkOf(after), before: linkOf(row), change }
  }

  function recordMove(from: Row, to: Omit<Row, 'credential'> & { credential: CallCredential }): number {
    const { lastInsertRowid } = insertMove.run({
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

  return { claim, undo, get }
}

function linkOf(row: Row): Link {
  const { app_user_id, proved_app_user_id, product_id, unattested } = row
  const facts: LinkFacts = { app_user_id, proved_app_user_id, proofs: JSON.parse(row.proofs) }
  return { ...facts, verification: labelOf(facts), product_id, unattested }
}

function superseded({ from_app_user_id }: Move, isLatest: boolean): string {
  if (!isLatest) return 'the purchase was changed again since: undo the last change'
  return from_app_user_id === null
    ? 'who held it before was forgotten'
    : 'it stayed with the same user: there is nothing to undo'
}
