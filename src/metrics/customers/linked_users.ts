/** Reads the users linked to purchases, the verification of the links, and the history of the links. */
import { type LinkFacts, labelOf, type Proof } from '../../attribution/link.ts'
import { linkIdOf, moveIdOf } from '../../attribution/link_ids.ts'
import { explainLinkLabel, explainUserLabel, isClaimedFromInstall } from '../../attribution/link_reasons.ts'
import { shownText } from '../../attribution/shown_text.ts'
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
/** A change of a link. A user id is null if the user was erased. */
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

/** A value that names a user. `is_proved`: it came with the secret key or from an attested device. */
export type ReportedName = { name: string; app_user_id: string; is_proved: boolean }

/** The maximum number of links read; more than a profile shows. */
const MAX_LINKS = 200

export function openLinkedUsers(store: Store) {
  const linkOf = store.prepare<[string, string], LinkRow>(
    `select * from links where app_id = ? and store = 'apple' and transaction_id = ?`,
  )
  const linksOf = store.prepare<[string, string, number], LinkRow>(
    'select * from links where app_id = ? and app_user_id = ? order by id limit ?',
  )
  const movesOf = store.prepare<[number, number], MoveRow>(`
    select id, from_app_user_id, to_app_user_id, from_proved_app_user_id, to_proved_app_user_id, from_proofs, to_proofs,
      from_credential, to_credential, moved_at
    from link_history where link_id = ? order by id desc limit ?`)
  const userOf = store.prepare<[string, string], UserRow & { id: number }>(
    'select * from users where app_id = ? and app_user_id = ?',
  )

  /** The links of a customer's purchases. */
  const ofPurchases = (app_id: string, transaction_ids: readonly string[]) =>
    transaction_ids.flatMap((transaction_id) => linkOf.get(app_id, transaction_id) ?? [])

  /** The current links of a user in any environment. */
  const ofUser = (app_id: string, app_user_id: string): LinkRow[] =>
    linksOf.all(app_id, app_user_id, MAX_LINKS)

  /** The changes of some links, the newest first. */
  const history = (links: readonly LinkRow[]) =>
    links
      .flatMap((link) =>
        movesOf.all(link.id, MAX_LINKS).map((move, index) => apiMove(link, move, index === 0)),
      )
      .sort((a, b) => b.moved_at - a.moved_at)
      .slice(0, MAX_LINKS)

  /** A user that was identified; null for a user id that only purchases contain. */
  function user(app_id: string, app_user_id: string) {
    const found = userOf.get(app_id, app_user_id)
    if (!found) return null
    const { id: _, server_attributes: __, ...row } = found
    const attributes: Record<string, unknown> = JSON.parse(row.attributes)
    const proved_attributes: Record<string, unknown> = JSON.parse(row.proved_attributes)
    return { ...row, attributes, proved_attributes, why: explainUserLabel(row) }
  }

  /**
   * The value of an attribute of the first of some users who has it, the proved value first, without hidden characters;
   * null if none has it.
   */
  function nameOf(app_id: string, app_user_ids: readonly string[], attribute: string): ReportedName | null {
    for (const app_user_id of app_user_ids) {
      const found = user(app_id, app_user_id)
      for (const values of [found?.proved_attributes, found?.attributes]) {
        const value = values?.[attribute]
        const name = typeof value === 'string' ? shownText(value) : ''
        if (name !== '') return { name, app_user_id, is_proved: values === found?.proved_attributes }
      }
    }
    return null
  }

  return { ofPurchases, ofUser, history, user, nameOf }
}

const proofsIn = (text: string): Proof[] => JSON.parse(text)

/** Formats a link for the API. */
export function apiLink(row: LinkRow) {
  const { app_user_id, proved_app_user_id, proofs: text, app_id: _, ...rest } = row
  const facts: LinkFacts = { app_user_id, proved_app_user_id, proofs: proofsIn(text) }
  const link = { ...rest, ...facts }
  return {
    ...link,
    id: linkIdOf(row.id),
    verification: labelOf(facts),
    handed_over: isClaimedFromInstall(link),
    why: explainLinkLabel(link),
  }
}

/** Formats a change of a link for the API, with the verification before and after the change. */
function apiMove(link: LinkRow, move: MoveRow, isNewest: boolean) {
  const { transaction_id } = link
  const [from, to] = [linkFactsOf(move, 'from'), linkFactsOf(move, 'to')]
  return {
    transaction_id,
    ...move,
    id: moveIdOf(move.id),
    from_proofs: proofsIn(move.from_proofs),
    from_verification: from && labelOf(from),
    to_proofs: proofsIn(move.to_proofs),
    to_verification: to && labelOf(to),
    why: to && explainLinkLabel({ ...to, credential: move.to_credential, unattested: null }),
    can_undo: isNewest && from !== null && isMoved(move) && link.app_user_id === move.to_app_user_id,
  }
}

/** The link before (`from`) or after (`to`) a change; null if its user was erased. */
function linkFactsOf(move: MoveRow, side: 'from' | 'to'): LinkFacts | null {
  const app_user_id = move[`${side}_app_user_id`]
  if (app_user_id === null) return null
  const proofs = proofsIn(move[`${side}_proofs`])
  return { app_user_id, proved_app_user_id: move[`${side}_proved_app_user_id`], proofs }
}

const isMoved = ({ from_app_user_id, to_app_user_id }: MoveRow): boolean =>
  from_app_user_id !== to_app_user_id
