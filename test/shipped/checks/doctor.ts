/** Compares what `windfall doctor` says with the state of the world. */
import Database from 'better-sqlite3'

type Check = { id: string; title: string; status: string; detail: string }
/** What `windfall doctor --json` prints. */
export type DoctorAnswer = { checks: Check[] }

/** The states of endpoints that the doctor must name. */
const NAMED = ['failing', 'disabled']

type States = { endpoints: ReadonlyMap<string, string>; dead: readonly string[] }

function statesIn(database: string): States {
  const db = new Database(database, { readonly: true })
  try {
    const endpoints = db.prepare<[], [string, string]>('select name, state from endpoints').raw().all()
    const dead = db.prepare<[], string>("select name from alert_channels where state = 'dead'").pluck().all()
    return { endpoints: new Map(endpoints), dead }
  } finally {
    db.close()
  }
}

/**
 * Asks the doctor about a server that runs. Resolves with endpoints and channels that do not work and are not named, and
 * those that are named and work.
 */
export async function faultsOfDoctor(ask: () => Promise<DoctorAnswer>, database: string): Promise<string[]> {
  const before = statesIn(database)
  const { checks } = await ask()
  const { endpoints, dead } = statesIn(database)
  const named = checks
    .filter(({ status }) => status === 'warning' || status === 'error')
    .map(({ title, detail }) => `${title}: ${detail}`)
  return [
    ...[...endpoints].flatMap(([name, state]) => {
      // A state that changed meanwhile may be named or not.
      if (before.endpoints.get(name) !== state) return []
      const isNamed = named.some((text) => text.includes(`${name} is ${state}`))
      return NAMED.includes(state) === isNamed
        ? []
        : [`doctor ${isNamed ? 'names' : 'does not name'} ${name}, which is ${state}`]
    }),
    ...dead.map((name) => `the channel ${name} is dead`),
    ...checks.flatMap(({ status, title, detail }) =>
      status === 'error' && !/webhook/i.test(title) ? [`doctor: ${title}: ${detail}`] : [],
    ),
  ]
}
