/** Unlinks an erased user's purchases. */
import type { Store } from '../../store/store.ts'

/** Links processed in one unit of work. */
const LINKS_PER_BATCH = 50

type Row = { id: number; app_user_id: string; proved_app_user_id: string | null }
type LinkQuery = { app_id: string; app_user_id: string; limit: number }

export function openLinkErasure(store: Pick<Store, 'prepare'>) {
  const columns = 'links.id, links.app_user_id, links.proved_app_user_id'
  const heldLinks = store.prepare<LinkQuery, Row>(
    `select ${columns} from links where app_id = :app_id and app_user_id = :app_user_id limit :limit`,
  )
  // A proved user without the link held it earlier, so its history names the user: the two queries find every link.
  const lostLinks = store.prepare<LinkQuery, Row>(`
    select distinct ${columns} from link_history join links on links.id = link_id
    where from_app_user_id = :app_user_id and app_id = :app_id limit :limit`)
  const dropHistory = store.prepare<[number]>('delete from link_history where link_id = ?')
  const drop = store.prepare<[number]>('delete from links where id = ?')
  const assignToProvedUser = store.prepare<[number]>(
    'update links set app_user_id = proved_app_user_id where id = ?',
  )
  const clearProof = store.prepare<[number]>(
    "update links set proved_app_user_id = null, proofs = '[]' where id = ?",
  )
  const scrubHistory = store.prepare<{ id: number; app_user_id: string }>(`
    update link_history set
      from_app_user_id = nullif(from_app_user_id, :app_user_id),
      to_app_user_id = nullif(to_app_user_id, :app_user_id),
      from_proofs = iif(from_proved_app_user_id is :app_user_id, '[]', from_proofs),
      to_proofs = iif(to_proved_app_user_id is :app_user_id, '[]', to_proofs),
      from_proved_app_user_id = nullif(from_proved_app_user_id, :app_user_id),
      to_proved_app_user_id = nullif(to_proved_app_user_id, :app_user_id)
    where link_id = :id and :app_user_id in
      (from_app_user_id, to_app_user_id, from_proved_app_user_id, to_proved_app_user_id)`)

  function findLinks(query: LinkQuery): Row[] {
    const links = heldLinks.all(query)
    return links.length > 0 ? links : lostLinks.all(query)
  }

  /** Whether any link of an app names a user now, or named them before it was moved. */
  const hasLinks = (app_id: string, app_user_id: string): boolean =>
    findLinks({ app_id, app_user_id, limit: 1 }).length > 0

  /**
   * Removes a user from some of the links that name them, inside a unit of work. Returns how many, 0 when done.
   * A link that the user holds is deleted with its history, or returns to another user who is proved to be the buyer.
   */
  function scrubSome(app_id: string, app_user_id: string): number {
    const links = findLinks({ app_id, app_user_id, limit: LINKS_PER_BATCH })
    for (const link of links) scrub(link, app_user_id)
    return links.length
  }

  function scrub({ id, ...link }: Row, app_user_id: string): void {
    const isHolder = link.app_user_id === app_user_id
    const isProved = link.proved_app_user_id === app_user_id
    if (isHolder && (isProved || link.proved_app_user_id === null)) {
      dropHistory.run(id)
      drop.run(id)
      return
    }
    if (isHolder) assignToProvedUser.run(id)
    if (isProved) clearProof.run(id)
    scrubHistory.run({ id, app_user_id })
  }

  return { hasLinks, scrubSome }
}
