/** Stores which user each purchase belongs to, and each move with its time and evidence. */
import type { App } from '../apps/apps.ts'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import type { Store } from '../store/store.ts'
import type { Credential } from './callers.ts'
import { isSameLink, type LinkFacts, labelOf, linkAfter, type Proof, type Verification } from './link.ts'
import type { CallCredential } from './link_reasons.ts'

/** The store that issued the transaction id: Apple's original transaction id, or a Play purchase token. */
export type StoreName = 'apple' | 'google'

export type Link = LinkFacts & {
  verification: Verification
  product_id: string | null
  unattested: string | null
}

/** One attribute call, with its proofs checked. */
type LinkClaim = {
  app: App
  store: StoreName
  transaction_id: string
  /** The platform that the call names. Null if it names none; `store` is then inferred from the transaction id. */
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

/** A stored change of a link. A user id is null if that user was erased since. */
type Move = {
  link_id: number
  from_app_user_id: string | null
  to_app_user_id: string | null
  from_proved_app_user_id: string | null
  from_proofs: string
  from_credential: Credential
}

/** Fields of a call that are stored with the link. A change of these fields alone is not a change of the link. */
const CALL_FIELDS = ['store', 'platform', 'product_id', 'unattested'] as const

type ClaimResult = { now: Link; before: Link | null; change_id: string | null; store: StoreName }

/** An undone move: the link’s row before, the link now and before, and the id of the change. */
type UndoResult = { row: Row; now: Link; before: Link; change_id: string }

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

  /** Applies one call. Returns the link now and before, its store, and the id of the change, if there is one. */
  function claim(call: LinkClaim) {
    const row = find.get(call.app.id, call.store, call.transaction_id) ?? findInOtherStore(call)
    return row ? updateLink(row, call) : insertLink(call)
  }

  /**
   * The link of the other store that the call concerns. A call without a platform concerns the existing link; a call
   * that names the App Store takes over a link whose store was only inferred.
   */
  function findInOtherStore({ app, store: storeName, transaction_id, platform }: LinkClaim): Row | undefined {
    const otherLink = find.get(app.id, storeName === 'apple' ? 'google' : 'apple', transaction_id)
    if (otherLink === undefined) return undefined
    const isInferred = storeName === 'apple' ? otherLink.platform === null : platform === null
    return isInferred ? otherLink : undefined
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
    return { now, before: null, change_id: `link/${lastInsertRowid}`, store: storeName }
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
    const change_id = isSame ? null : `link/${row.id}/${recordMove(row, after)}`
    return { now: linkOf(after), before, change_id, store: after.store }
  }

  /**
   * Moves a purchase back to its previous user, with the proofs it had then, inside the caller's unit of work. The
   * undo is itself a change.
   *
   * @throws Refusal 404 `unknown_move`; 409 `move_superseded` if it is not the link's last change, or if there is
   * no previous user to restore.
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
      // The history does not store why the earlier call was unattested.
      proofs: from_proofs,
      credential: from_credential,
      unattested: null,
      updated_at: clock(),
    }
    update.run(after)
    const change_id = `link/${row.id}/${recordMove(row, { ...after, credential: 'owner' })}`
    return { row, now: linkOf(after), before: linkOf(row), change_id }
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

  /** The link of a purchase; null if no call has named its user. */
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
  if (!isLatest) return 'the purchase has changed again since then; undo the last change'
  return from_app_user_id === null
    ? 'the previous user was erased'
    : 'the user did not change; there is nothing to undo'
}
