/** Reads the users linked to purchases, the verification of links, and their history. */
import { type LinkFacts, labelOf, type Proof } from '../../attribution/link.ts'
import { explainLinkLabel, explainUserLabel, isClaimedFromInstall } from '../../attribution/link_reasons.ts'
import type { UserRow } from '../../attribution/users.ts'
import type { Store } from '../../store/store.ts'

type LinkRow = {
  id: number
  app_id: string
  store: string
  transaction_id: string
  platform: string | null
  app_user_id: string
  proved_app_user_id: string | null
  proofs: string
  credential: string
  product_id: string | null
  unattested: string | null
  created_at: number
  updated_at: number
}
/** One change of a link. A null user id belongs to an erased user. */
type MoveRow = {
  id: number
  from_app_user_id: string | null
  to_app_user_id: string | null
  from_proved_app_user_id: string | null
  to_proved_app_user_id: string | null
  from_proofs: string
  to_proofs: string
  from_credential: string
  to_credential: string
  moved_at: number
}

/** The limit of links read, above what a profile shows. */
const LINKS = 200

export function openLinkedUsers(store: Store) {
  const linkOf = store.prepare<[string, string], LinkRow>(
    `select * from links where app_id = ? and store = 'apple' and transaction_id = ?`,
  )
  const linksOf = store.prepare<[string, string, number], LinkRow>(
    'select * from links where app_id = ? and app_user_id = ? order by id limit ?',
  )
  const moves = store.prepare<[number, number], MoveRow>(`
    select id, from_app_user_id, to_app_user_id, from_proved_app_user_id, to_proved_app_user_id, from_proofs, to_proofs,
      from_credential, to_credential, moved_at
    from link_history where link_id = ? order by id desc limit ?`)
  const userOf = store.prepare<[string, string], UserRow>(
    'select * from users where app_id = ? and app_user_id = ?',
  )

  /** The links of a customer's purchases. */
  const ofPurchases = (app_id: string, transaction_ids: readonly string[]) =>
    transaction_ids.flatMap((transaction_id) => linkOf.get(app_id, transaction_id) ?? [])

  /** The current links of a user in any environment. */
  const ofUser = (app_id: string, app_user_id: string): LinkRow[] => linksOf.all(app_id, app_user_id, LINKS)

  /** The changes of these links, newest first. */
  const history = (links: readonly LinkRow[]) =>
    links
      .flatMap((link) => moves.all(link.id, LINKS).map((move, place) => movePart(link, move, place === 0)))
      .sort((a, b) => b.moved_at - a.moved_at)
      .slice(0, LINKS)

  /** An identified user; null for one that only purchases name. */
  function user(app_id: string, app_user_id: string) {
    const row = userOf.get(app_id, app_user_id)
    if (!row) return null
    const attributes: Record<string, unknown> = JSON.parse(row.attributes)
    const proved_attributes: Record<string, unknown> = JSON.parse(row.proved_attributes)
    return { ...row, attributes, proved_attributes, why: explainUserLabel(row) }
  }

  return { ofPurchases, ofUser, history, user }
}

const proofsIn = (text: string): Proof[] => JSON.parse(text)

/** A link as the API returns it. */
export function linkPart(row: LinkRow) {
  const { app_user_id, proved_app_user_id, proofs: text, app_id: _, ...rest } = row
  const facts: LinkFacts = { app_user_id, proved_app_user_id, proofs: proofsIn(text) }
  const link = { ...rest, ...facts }
  return {
    ...link,
    verification: labelOf(facts),
    handed_over: isClaimedFromInstall(link),
    why: explainLinkLabel(link),
  }
}

/** A change of a link as the API returns it: the users before and after with their labels, and the verification. */
function movePart(link: LinkRow, move: MoveRow, isNewest: boolean) {
  const { transaction_id } = link
  const [from, to] = [sideOf(move, 'from'), sideOf(move, 'to')]
  return {
    transaction_id,
    ...move,
    from_proofs: proofsIn(move.from_proofs),
    from_verification: from && labelOf(from),
    to_proofs: proofsIn(move.to_proofs),
    to_verification: to && labelOf(to),
    why: to && explainLinkLabel({ ...to, credential: move.to_credential, unattested: null }),
    can_undo: isNewest && from !== null && isMoved(move) && link.app_user_id === move.to_app_user_id,
  }
}

/** One side of a change; null where its user was erased. */
function sideOf(move: MoveRow, side: 'from' | 'to'): LinkFacts | null {
  const app_user_id = move[`${side}_app_user_id`]
  if (app_user_id === null) return null
  const proofs = proofsIn(move[`${side}_proofs`])
  return { app_user_id, proved_app_user_id: move[`${side}_proved_app_user_id`], proofs }
}

const isMoved = ({ from_app_user_id, to_app_user_id }: MoveRow): boolean =>
  from_app_user_id !== to_app_user_id
