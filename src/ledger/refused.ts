/** What we remember: the last hundred notifications that did not verify, since our clock or root may be at fault. */
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

const KEPT = 100
/** More than that in a second is a flood: each costs a write, and they would push out those before it. */
const KEPT_A_SECOND = 10
/** Apple's are under 20 KB; what is longer is not worth its room. */
const RAW_CHARACTERS = 65_536

export type Refused = { id: number; reason: string; detail: string; received_at: number }

export function openRefused(store: Store, clock: Clock) {
  const insert = store.prepare<[string, string, string, number]>(
    'insert into refused_notifications (reason, detail, raw, received_at) values (?, ?, ?, ?)',
  )
  const bound = store.prepare(`delete from refused_notifications
    where id <= (select max(id) from refused_notifications) - ${KEPT}`)
  const newest = store.prepare<[], Refused>(
    `select id, reason, detail, received_at from refused_notifications order by id desc limit ${KEPT}`,
  )
  const rawOf = store.prepare<[number], { raw: string }>('select raw from refused_notifications where id = ?')
  let counted = 0
  let second = 0
  let inSecond = 0

  /** Counts one and keeps it for diagnosis: the first ten of a second. Resolves once it is on disk. */
  async function keep(reason: string, detail: string, raw: string): Promise<void> {
    counted += 1
    const now = Math.floor(clock() / 1000)
    inSecond = now === second ? inSecond + 1 : 1
    second = now
    if (inSecond > KEPT_A_SECOND) return
    await store.commit(() => {
      insert.run(reason, detail, raw.slice(0, RAW_CHARACTERS), clock())
      bound.run()
    })
  }

  /** How many were refused since the start. */
  const count = (): number => counted

  /** The last hundred that were kept, newest first, without their raw text. */
  const list = (): Refused[] => newest.all()

  /** The text of one as it came, its first 65,536 characters; null when it is not kept. */
  const raw = (id: number): string | null => rawOf.get(id)?.raw ?? null

  return { keep, count, list, raw }
}
