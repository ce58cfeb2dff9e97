/** The command `windfall doctor`: checks the installation and says how to fix what it finds. */
import { setTimeout } from 'node:timers/promises'
import { defineCommand } from 'citty'
import { APPLE_HOSTS, type AppleHosts } from '../../apple/api/hosts.ts'
import type { Environment } from '../../apple/payloads.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { ConfigError, issueLine } from '../../config/checks/issues.ts'
import type { LoadedConfig, LoadOptions } from '../../config/load.ts'
import type { Config } from '../../config/settings.ts'
import { backupFinding } from '../../health/backup_findings.ts'
import { damagedFinding, examineDisk } from '../../health/disk_findings.ts'
import { examineErasures } from '../../health/erasure_findings.ts'
import { examineBacklog } from '../../health/figures_backlog.ts'
import { type Finding, fault, ok } from '../../health/findings.ts'
import { examineJobs } from '../../health/job_findings.ts'
import { connectedApps, examineNotifications } from '../../health/notification_findings.ts'
import { examineRates } from '../../health/rate_findings.ts'
import { examineRefusedCalls } from '../../health/refused_calls.ts'
import { examineOutgoing } from '../../outgoing/outgoing_findings.ts'
import { damageIn } from '../../store/disk/disk_faults.ts'
import type { Reader } from '../../store/reader.ts'
import { examineService } from '../../systemd/findings.ts'
import type { AppleQueryOptions } from '../connect/checks.ts'
import { testNotification } from '../connect/test.ts'
import { configArg, plural } from '../instance/instance.ts'
import { loadWithTypes } from '../instance/load.ts'
import { print, setResult } from '../instance/output.ts'
import { examineAccounts, examineClock, originsOf } from './apple.ts'
import { examineAddress, examineDatabase, examineServer } from './database.ts'
import { findingLine } from './findings.ts'
import { examineWebhooks } from './webhooks.ts'

type DoctorOptions = {
  loadOptions: LoadOptions
  /** Whether to request a test notification for each app. */
  test: boolean
  /** Apple's hosts; the real ones by default. */
  hosts?: AppleHosts
  clock?: Clock
  wait?: (ms: number) => Promise<void>
}

/** Yields each finding as soon as it is known. Changes nothing. Needs no running server and does not block one. */
export async function* examine(options: DoctorOptions): AsyncGenerator<Finding> {
  const { hosts = APPLE_HOSTS, clock = systemClock, wait = (ms: number) => setTimeout(ms) } = options
  const loaded = yield* examineConfig(options.loadOptions)
  if (loaded === null) return
  const { config } = loaded
  yield* examineService(loaded)
  const serving = yield* examineServer(config)
  // Use the hosts that the serving process reports, because the demo serves with simulated hosts.
  const apple = { hosts: serving?.hosts ?? hosts, clock, wait }
  if (!isRealApple(apple.hosts)) yield ok('Apple', `is simulated at ${apple.hosts.connect} by the demo.`)
  yield* examineAddress(serving ?? config)
  const reader = yield* examineDatabase(config)
  try {
    const reachable = yield* examineClock(apple)
    yield* examineAccounts(config, { ...apple, reachable }, reader)
    if (reader === null) return
    yield* examineDisk(reader, clock)
    yield* examineErasures(reader, clock)
    yield* examineNotifications(reader, clock)
    yield* examineRefusedCalls(reader, clock)
    yield* examineBacklog(reader, clock)
    yield* examineOutgoing(reader)
    if (serving !== null) yield* examineWebhooks(config)
    if (reachable.server && options.test) yield* testEachApp(config, apple, reader)
    yield backupFinding(reader, clock, config.backup.schedule)
    yield* examineJobs(reader, clock, { isServed: serving !== null })
    yield* examineRates(reader, clock, { fetchesRates: config.rates.fetch })
  } catch (error) {
    const code = damageIn(error)
    if (code === null) throw error
    yield damagedFinding(code)
  } finally {
    reader?.close()
  }
}

const isRealApple = (hosts: AppleHosts): boolean => originsOf(hosts).join() === originsOf(APPLE_HOSTS).join()

function* examineConfig(loadOptions: LoadOptions): Generator<Finding, LoadedConfig | null> {
  try {
    const loaded = loadWithTypes(loadOptions)
    yield ok('configuration', loaded.file === null ? 'no config file.' : `${loaded.file} is valid.`)
    return loaded
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const issue of error.issues) yield fault('configuration', issueLine(issue))
    return null
  }
}

const ENVIRONMENTS: readonly Environment[] = ['production', 'sandbox']

async function* testEachApp(
  config: Config,
  apple: AppleQueryOptions,
  reader: Reader,
): AsyncGenerator<Finding> {
  for (const { bundle_id, slug } of connectedApps(reader)) {
    const account = config.accounts.find(({ organization }) => organization === slug)
    if (!account?.purchase_key_id || !account.purchase_key) continue
    const { purchase_key_id: key_id, purchase_key: private_key, purchase_issuer_id: issuer_id } = account
    const app = { bundle_id, key: { key_id, private_key, issuer_id } }
    for (const environment of ENVIRONMENTS) {
      const { state, words } = await testNotification(app, environment, apple, reader)
      yield { state, subject: 'test notification', text: `${bundle_id}, ${environment}: ${words}` }
    }
  }
}

export const doctorCommand = defineCommand({
  meta: { name: 'doctor', description: 'Check that everything works, and how to fix what does not' },
  args: {
    test: {
      type: 'boolean',
      default: false,
      description: 'Also request a test notification for each app and follow it',
    },
    ...configArg,
  },
  async run({ args }) {
    const loadOptions = { path: args.config, env: process.env, cwd: process.cwd() }
    const counts = { ok: 0, notice: 0, warning: 0, fault: 0 }
    const findings: Finding[] = []
    for await (const finding of examine({ loadOptions, test: args.test })) {
      findings.push(finding)
      print(findingLine(finding))
      counts[finding.state] += 1
    }
    setResult({ ...counts, findings })
    print(`\n${plural(counts.fault, 'fault')}, ${plural(counts.warning, 'warning')}.`)
    if (counts.fault > 0) process.exitCode = 1
  },
})
