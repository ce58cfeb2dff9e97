/** Checks of recurring work: jobs and exchange rates. */
import { examineJobs } from '../../health/job_findings.ts'
import { examineRates } from '../../health/rate_findings.ts'
import { startOfServer } from '../../systemd/starting.ts'
import { type DoctorContext, NO_DATABASE, NO_SERVER } from '../context.ts'
import { type Outcome, ok, outcomeOf, skipped } from '../result.ts'

/** Parts of the server that an error has stopped. */
export function checkStopped({ serving }: DoctorContext): Outcome[] {
  if (serving === null)
    return [skipped(`${NO_SERVER} Nothing is sent or counted.`, `Start it: \`${startOfServer()}\`.`)]
  const outcomes = serving.stopped().map((finding) => {
    const { id = '', title = finding.subject } = finding.details ?? {}
    const outcome = outcomeOf(finding, { subject: id.replace(/^stopped:/, '') })
    return { ...outcome, detail: `${title}: ${outcome.detail}` }
  })
  return outcomes.length > 0
    ? outcomes
    : [ok('None has stopped alerts, webhooks or the counting of figures.')]
}

/** The last run of each job. */
export function checkJobs({ reader, serving, clock }: DoctorContext): Outcome[] {
  if (reader === null) return [skipped(NO_DATABASE)]
  return [...examineJobs(reader, clock, { isServed: serving !== null, isEachWaiting: true })].map(
    (finding) => {
      if (finding.subject === 'jobs')
        return { ...outcomeOf(finding), remedy: serving === null ? START : WAIT }
      const title = finding.subject === 'reports' ? 'Reports' : `Job ${finding.subject}`
      const outcome = outcomeOf(finding, { subject: finding.subject, title })
      return finding.text.startsWith(WITHOUT_KEY) ? { ...outcome, status: 'skipped', remedy: null } : outcome
    },
  )
}

/** The outcome of a job that needs a key or an app. The checks of the keys and the apps say what to do. */
const WITHOUT_KEY = 'not asked'

const START = `Start Windfall: \`${startOfServer()}\`.`
const WAIT = 'Wait: the first jobs run within seconds of the start of the server.'

/** The age of the exchange rates. */
export const checkRates = ({ reader, clock, config }: DoctorContext): Outcome[] =>
  reader === null
    ? [skipped(NO_DATABASE)]
    : [...examineRates(reader, clock, { fetchesRates: config.rates.fetch })].map((finding) =>
        outcomeOf(finding),
      )
