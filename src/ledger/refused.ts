/** What we remember: the last hundred notifications that did not verify, since our clock or root may be at fault. */
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

const KEPT = 100
/** Apple's are under 20 KB; what is longer is not worth its room. */
const RAW_CHARACTERS = 65_536

export function openRefused(store: Store, clock: Clock) {
  const insert = store.prepare<[string, string, string, number]>(
    'insert into refused_notifications (reason, detail, raw, received_at) values (?, ?, ?, ?)',
  )
  const bound = store.prepare(`delete from refused_notifications
    where id <= (select max(id) from refused_notifications) - ${KEPT}`)
  const newest = store.prepare<[], { reason: string; detail: string; received_at: number }>(
    `select reason, detail, received_at from refused_notifications order by id desc limit ${KEPT}`,
  )
  let counted = 0

  /** Counts one and keeps it for diagnosis. */
  function keep(reason: string, detail: string, raw: string): void {
    insert.run(reason, detail, raw.slice(0, RAW_CHARACTERS), clock())
    bound.run()
    counted += 1
  }

  /** How many were refused since the start. */
  const count = (): number => counted

  /** The last hundred, newest first, without their raw text. */
  const list = () => newest.all()

  return { keep, count, list }
}
