/** What we remember: the users behind purchases: who they are, on what evidence, and who moved what. */
import { labelOf, type Proof } from '../../attribution/link.ts'
import type { UserRow } from '../../attribution/users.ts'
import type { Store } from '../../store/store.ts'

type LinkRow = {
  id: number
  app_id: string
  store: string
  transaction_id: string
  app_user_id: string
  proved_app_user_id: string | null
  proofs: string
  product_id: string | null
  unattested: string | null
  created_at: number
  updated_at: number
}
type Moved = {
  transaction_id: string
  from_app_user_id: string
  to_app_user_id: string
  from_proved_app_user_id: string | null
  to_proved_app_user_id: string | null
  from_proofs: string
  to_proofs: string
  to_credential: string
  moved_at: number
}

/** More than a profile shows. */
const LINKS = 200

export function openPeople(store: Store) {
  const linkOf = store.prepare<[string, string], LinkRow>(
    `select * from links where app_id = ? and store = 'apple' and transaction_id = ?`,
  )
  const linksOf = store.prepare<[string, string, number], LinkRow>(
    'select * from links where app_id = ? and app_user_id = ? order by id limit ?',
  )
  const moves = store.prepare<[number, number], Omit<Moved, 'transaction_id'>>(`
    select from_app_user_id, to_app_user_id, from_proved_app_user_id, to_proved_app_user_id, from_proofs, to_proofs,
      to_credential, moved_at
    from link_history where link_id = ? order by id desc limit ?`)
  const userOf = store.prepare<[string, string], UserRow>(
    'select * from users where app_id = ? and app_user_id = ?',
  )

  /** The links of a customer's purchases. */
  const ofPurchases = (app_id: string, transaction_ids: readonly string[]) =>
    transaction_ids.flatMap((transaction_id) => linkOf.get(app_id, transaction_id) ?? [])

  /** The links that name a user now, of any store. */
  const ofUser = (app_id: string, app_user_id: string): LinkRow[] => linksOf.all(app_id, app_user_id, LINKS)

  /** Who moved these links, newest first. */
  const history = (links: readonly LinkRow[]) =>
    links
      .flatMap(({ id, transaction_id }) =>
        moves.all(id, LINKS).map((move) => ({
          transaction_id,
          ...move,
          from_proofs: proofsIn(move.from_proofs),
          to_proofs: proofsIn(move.to_proofs),
        })),
      )
      .sort((a, b) => b.moved_at - a.moved_at)
      .slice(0, LINKS)

  /** A user as it was identified; null for one that was only named by a purchase. */
  function user(app_id: string, app_user_id: string) {
    const row = userOf.get(app_id, app_user_id)
    if (!row) return null
    const attributes: Record<string, unknown> = JSON.parse(row.attributes)
    return { ...row, attributes }
  }

  return { ofPurchases, ofUser, history, user }
}

const proofsIn = (text: string): Proof[] => JSON.parse(text)

/** A link as it is told. */
export function linkPart(row: LinkRow) {
  const { app_user_id, proved_app_user_id, proofs: text, id: _, app_id: __, ...rest } = row
  const proofs = proofsIn(text)
  const verification = labelOf({ app_user_id, proved_app_user_id, proofs })
  return { ...rest, app_user_id, proved_app_user_id, verification, proofs }
}
