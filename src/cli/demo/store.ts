/** Connects `windfall demo` to its simulated App Store, and imports reports from it in the background. */

import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Windfall } from '../../app.ts'
import { preciseTime } from '../../clock.ts'
import type { DemoReceiver } from '../../demo/receiver.ts'
import type { AppStore } from '../../demo/store/store.ts'
import { Refusal } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { progressText } from '../data/import.ts'
import { plural } from '../instance/instance.ts'
import { print } from '../instance/output.ts'

const REDRAW_MS = 250

/** Declares the simulated team's two keys in the folder's config.toml, as `windfall connect` would. */
export function declareAccount(folder: string, { connect_key, purchase_key, vendor_number }: AppStore): void {
  const lines = [
    '[[accounts]]',
    `issuer_id = "${connect_key.issuer_id}"`,
    `vendor_numbers = ["${vendor_number}"]`,
    `connect_key_id = "${connect_key.key_id}"`,
    `connect_key = """${connect_key.private_key}"""`,
    `purchase_key_id = "${purchase_key.key_id}"`,
    `purchase_key = """${purchase_key.private_key}"""`,
  ]
  writeFileSync(join(folder, 'config.toml'), `${lines.join('\n')}\n`, { mode: 0o600 })
}

/**
 * Permits requests to this machine: to the backend of the demo, and to receivers that a person tries it with. Names the
 * contact that push services ask for, so that alerts to the browser work.
 */
export function declareOutgoing(folder: string): void {
  const lines = [
    '',
    '[outbound]',
    'allow = ["127.0.0.1/32"]',
    '',
    '[alerts]',
    'contact = "owner@example.com"',
    '',
  ]
  appendFileSync(join(folder, 'config.toml'), lines.join('\n'))
}

/** Adds the backend of the demo as an endpoint, which gets events from now on. */
export async function addReceiver(
  { store, organizations, forwarding }: Windfall,
  receiver: DemoReceiver,
): Promise<void> {
  const { id: organization_id } = organizations.resolve(null)
  const all = {
    apps: null,
    environment: null,
    types: null,
    is_ordered: false,
    max_per_second: null,
    headers: {},
  }
  const named = { organization_id, name: 'demo-backend', kind: 'events', source: 'demo' } as const
  const { secret } = await store.commit(() =>
    forwarding.endpoints.create({ ...all, ...named, url: receiver.url }),
  )
  receiver.expect(secret)
}

/** Writes the server's address to the config file, so that commands with this config file find the server. */
export function declareAddress(folder: string, url: string): void {
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  appendFileSync(join(folder, 'config.toml'), `\n[server]\nhost = "${host}"\nport = ${port}\n`)
}

/** Fetches Apple's list of apps and a year of reports in the background, and shows the progress. */
export function importReports(windfall: Windfall, log: Log): void {
  const { catalogue, imports, jobs } = windfall
  const started_ms = preciseTime()
  const stopShowing = showProgress(windfall)

  async function fetchAll(): Promise<void> {
    await catalogue.refreshAll()
    const { read, empty, stopped } = await imports.run()
    // The clock may have begun it meanwhile, and a stop of the demo lets it begin no more.
    await jobs.runNow('annotations').catch(passIfRunning)
    stopShowing()
    if (stopped.length > 0) return
    const seconds = ((preciseTime() - started_ms) / 1000).toFixed(1)
    print(
      `Imported a year of Apple’s reports in ${seconds} s: ${plural(read, 'file')}, ${plural(empty, 'day')} without any.`,
    )
  }

  fetchAll()
    .catch((error) => log.error('the simulated year could not be imported', { error }))
    .finally(stopShowing)
}

/** @throws `error` unless it says that the job runs or that the jobs close */
function passIfRunning(error: unknown): void {
  if (!(error instanceof Refusal && error.code === 'job_running')) throw error
}

/** Shows a progress line that is redrawn on a terminal; otherwise one line at the start. Returns how to end it. */
function showProgress({ imports }: Windfall): () => void {
  if (!process.stdout.isTTY) {
    print('Importing a year of Apple’s daily reports in the background …')
    return () => {}
  }
  const timer = setInterval(() => {
    const progress = imports.progress()
    if (progress !== null) process.stdout.write(`\r\u001b[2K  importing: ${progressText(progress)}`)
  }, REDRAW_MS)
  let isShown = true
  return () => {
    clearInterval(timer)
    if (isShown) process.stdout.write('\r\u001b[2K')
    isShown = false
  }
}
