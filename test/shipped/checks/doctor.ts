/** Compares what `windfall doctor` says with the state of the world. */
import Database from 'better-sqlite3'

type Check = { id: string; title: string; status: string; detail: string }
/** What `windfall doctor --json` prints. */
export type DoctorAnswer = { checks: Check[] }

/** The states of endpoints that the doctor must name. */
const NAMED = ['failing', 'disabled']

/** Endpoints and channels that do not work and are not named, and those that are named and work. */
export function faultsOfDoctor({ checks }: DoctorAnswer, database: string): string[] {
  const db = new Database(database, { readonly: true })
  const endpoints = db.prepare<[], { name: string; state: string }>('select name, state from endpoints').all()
  const dead = db.prepare<[], string>("select name from alert_channels where state = 'dead'").pluck().all()
  db.close()
  const named = checks
    .filter(({ status }) => status === 'warning' || status === 'error')
    .map(({ title, detail }) => `${title}: ${detail}`)
  return [
    ...endpoints.flatMap(({ name, state }) => {
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
