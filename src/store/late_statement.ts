/** Prepares statements when they first run: a start needs a tenth of all statements, and each takes memory. */
import type { Database, Statement } from 'better-sqlite3'

/** A statement like those of better-sqlite3, with the methods that Windfall uses. */
type LateStatement<Bound extends unknown[], Row> = Pick<
  Statement<Bound, Row>,
  'run' | 'get' | 'all' | 'iterate'
> & {
  /** Returns the first column instead of rows. */
  pluck(): LateStatement<Bound, Row>
  /** Returns rows as arrays. */
  raw(): LateStatement<Bound, Row>
}

/** Returns a statement that is prepared once, when it first runs. An error in `sql` is thrown then. */
export function prepareLate<Bound extends unknown[], Row>(
  db: Database,
  sql: string,
): LateStatement<Bound, Row> {
  let prepared: Statement | null = null
  let mode: 'pluck' | 'raw' | null = null

  function statement(): Statement<Bound, Row> {
    if (prepared === null) {
      prepared = db.prepare(sql)
      if (mode !== null) prepared[mode]()
    }
    return prepared as Statement<Bound, Row>
  }

  function setMode(next: 'pluck' | 'raw'): LateStatement<Bound, Row> {
    mode = next
    prepared?.[next]()
    return late
  }

  const late: LateStatement<Bound, Row> = {
    run: (...parameters) => statement().run(...parameters),
    get: (...parameters) => statement().get(...parameters),
    all: (...parameters) => statement().all(...parameters),
    iterate: (...parameters) => statement().iterate(...parameters),
    pluck: () => setMode('pluck'),
    raw: () => setMode('raw'),
  }
  return late
}
