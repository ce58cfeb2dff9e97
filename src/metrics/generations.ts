/** What we remember: which sums are shown, and the next ones while they are made anew beside them. */
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

/** `made_up_to`: null for the generation that is shown; else the last lineage that is in it. */
type Row = { generation: number; made_up_to: number | null }

/** How many sums are taken away at once. */
const SWEPT_AT_ONCE = 2_000
const SERIES_AT_ONCE = 200

export function openGenerations(store: Store, clock: Clock) {
  const all = store.prepare<[], Row>(
    'select generation, made_up_to from metric_generations order by generation',
  )
  // Numbers are never given again: what was summed under one may still be in somebody's mind.
  const insert = store.prepare<[number | null, number]>(
    'insert into metric_generations (made_up_to, started_at) values (?, ?)',
  )
  const advance = store.prepare<[number, number]>(
    'update metric_generations set made_up_to = ? where generation = ?',
  )
  const finish = store.prepare<[number]>(
    'update metric_generations set made_up_to = null where generation = ?',
  )
  const remove = store.prepare<[number]>('delete from metric_generations where generation = ?')
  const orphaned = store.prepare<[number], { id: number }>(`
    select id from metric_series where generation not in (select generation from metric_generations) limit ?`)
  const removeDays = store.prepare<{ id: number; most: number }>(`
    delete from metric_days where series_id = :id and day in
      (select day from metric_days where series_id = :id limit :most)`)
  const removeSeries = store.prepare<[number]>('delete from metric_series where id = ?')
  const now = store.remembering(['metric_generations'], () => all.all())

  /** The generation that is shown. The first call of a new database makes it, so call it within a unit of work. */
  function shown(): number {
    const current = now('').find(({ made_up_to }) => made_up_to === null)
    if (current) return current.generation
    return Number(insert.run(null, clock()).lastInsertRowid)
  }

  /** The generation being made, and the last lineage in it; null while none is. */
  function making(): { generation: number; made_up_to: number } | null {
    const next = now('').find(({ made_up_to }) => made_up_to !== null)
    return next ? { generation: next.generation, made_up_to: next.made_up_to ?? 0 } : null
  }

  /** Begins the next generation anew; what was made of one before is given up. */
  function begin(): void {
    giveUp()
    shown()
    insert.run(0, clock())
  }

  /** What the generation being made has now. */
  const reached = (lineage_id: number): void => {
    const next = making()
    if (next) advance.run(lineage_id, next.generation)
  }

  /** Shows the generation that was made, instead of the one before. */
  function change(): void {
    const next = making()
    if (!next) return
    remove.run(shown())
    finish.run(next.generation)
  }

  /** Gives the generation being made up. */
  function giveUp(): void {
    const next = making()
    if (next) remove.run(next.generation)
  }

  /** Takes sums away that nothing shows any more, a part of them; true while there are more. Inside a unit of work. */
  function sweep(): boolean {
    const series = orphaned.all(SERIES_AT_ONCE)
    let left = SWEPT_AT_ONCE
    for (const { id } of series) {
      left -= removeDays.run({ id, most: left }).changes
      if (left <= 0) break
      removeSeries.run(id)
    }
    return series.length > 0
  }

  return { shown, making, begin, reached, change, giveUp, sweep }
}
