/** Runs the checks in the server, or in this process if no server runs. */

import { setTimeout } from 'node:timers/promises'
import * as v from 'valibot'
import { ConfigError, type ConfigIssue, issueLine } from '../../config/checks/issues.ts'
import type { LoadedConfig, LoadOptions } from '../../config/load.ts'
import { callControl } from '../../control/socket.ts'
import type { Examination, RunningExamination } from '../../doctor/doctor.ts'
import { type CheckResult, error, type Outcome, ok, resultOf, warning } from '../../doctor/result.ts'
import { startOfServer } from '../../systemd/starting.ts'
import { loadWithTypes } from '../instance/load.ts'
import { progressPrinter } from '../instance/progress.ts'
import { type OfflineOptions, offlineContext } from './offline.ts'

type DiagnoseOptions = OfflineOptions & { loadOptions: LoadOptions }

const Serving = v.object({ address: v.string(), base_url: v.string() })
const CONFIGURATION = { id: 'configuration', title: 'Configuration' }
const SERVER = { id: 'server', title: 'Server' }

/**
 * Yields each result: first whether a server runs, then those of all checks. With an invalid configuration, yields only
 * its issues.
 */
export async function* diagnose(options: DiagnoseOptions): AsyncGenerator<CheckResult> {
  const loaded = loadOrIssues(options.loadOptions)
  if ('issues' in loaded) return yield* loaded.issues
  const { outcomes, isServing } = await askServer(loaded.config)
  for (const outcome of outcomes) yield resultOf(SERVER, outcome)
  if (isServing) {
    try {
      return yield* await runInServer(loaded, options.isTestRequested)
    } catch (failure) {
      yield resultOf(SERVER, notAnswered(failure, 'checks'))
    }
  }
  yield* runHere(loaded, options)
}

type Loaded = LoadedConfig | { issues: CheckResult[] }

function loadOrIssues(loadOptions: LoadOptions): Loaded {
  try {
    return loadWithTypes(loadOptions)
  } catch (failure) {
    if (!(failure instanceof ConfigError)) throw failure
    const issues = failure.issues.map((issue, index) =>
      resultOf(CONFIGURATION, issueOutcome(issue, index + 1)),
    )
    return { issues }
  }
}

const issueOutcome = (issue: ConfigIssue, number: number): Outcome =>
  error(issueLine({ ...issue, advice: '' }).trimEnd(), issue.advice, { subject: String(number) })

/** Whether a server answers. A different base URL means that it was started with other settings. */
async function askServer({ store, base_url }: LoadedConfig['config']) {
  try {
    const answer = await callControl(store.path, 'instance.status', {})
    if (answer === null)
      return {
        outcomes: [warning(`No server runs with ${store.path}.`, `Start it: \`${startOfServer()}\`.`)],
        isServing: false,
      }
    const serving = v.parse(Serving, answer.result)
    const running = ok(`Windfall is running at ${serving.address}.`)
    return { outcomes: [running, ...settingsOutcomes(serving.base_url, base_url)], isServing: true }
  } catch (failure) {
    return { outcomes: [notAnswered(failure, 'answer')], isServing: false }
  }
}

function settingsOutcomes(used: string, configured: string): Outcome[] {
  if (used === configured) return []
  const detail = `The running server uses the base URL ${used}, this configuration ${configured}.`
  const remedy = 'Run this command with the same variables (`WINDFALL_…`) and config file as the server.'
  return [warning(detail, remedy, { subject: 'base_url' })]
}

function notAnswered(failure: unknown, subject: string): Outcome {
  const words = failure instanceof Error ? failure.message : String(failure)
  const remedy = 'See its log. Run this command as root or as the user that runs Windfall.'
  return error(`The server does not answer: ${words}.`, remedy, { subject })
}

const POLL_MS = 500

/** Runs the checks in the server, and shows their progress. */
async function runInServer({ config }: LoadedConfig, test: boolean): Promise<readonly CheckResult[]> {
  const { path } = config.store
  const printer = progressPrinter()
  const ended = new AbortController()
  const polling = (async () => {
    while (!ended.signal.aborted) {
      await setTimeout(POLL_MS, undefined, { signal: ended.signal }).catch(() => undefined)
      if (ended.signal.aborted) return
      const answer = await callControl(path, 'doctor.status', {}).catch(() => null)
      const { progress = null } = (answer?.result ?? {}) as { progress?: RunningExamination | null }
      if (progress && !ended.signal.aborted) printer.progress(progress, progress.title)
    }
  })()
  try {
    const answer = await callControl(path, 'doctor.run', { test })
    if (answer === null) throw new Error('it stopped')
    return (answer.result as Examination).results
  } finally {
    ended.abort()
    await polling
    printer.end()
  }
}

async function* runHere(loaded: LoadedConfig, options: OfflineOptions): AsyncGenerator<CheckResult> {
  const { examine } = await import('../../doctor/examine.ts')
  const context = offlineContext(loaded, options)
  try {
    yield* examine(context)
  } finally {
    context.reader?.close()
  }
}
