/** The App Store of `windfall demo` with both of Apple's APIs, and what is fetched from it in the background. */
import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Windfall } from '../../app.ts'
import type { AppStore } from '../../demo/store/store.ts'
import type { Log } from '../../log.ts'
import { progressText } from '../import.ts'
import { plural, print } from '../instance/instance.ts'

const LOOK_MS = 250

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

/** Writes down the server's address, which commands with this config file then find. */
export function declareAddress(folder: string, url: string): void {
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  appendFileSync(join(folder, 'config.toml'), `\n[server]\nhost = "${host}"\nport = ${port}\n`)
}

/** Fetches Apple's list of apps and a year of reports, and shows the progress, until done or stopped. */
export function importReports(windfall: Windfall, log: Log): void {
  const { catalogue, imports } = windfall
  const began = performance.now()
  const stopShowing = showProgress(windfall)

  async function fetchAll(): Promise<void> {
    await catalogue.refreshAll()
    const { read, empty, stopped } = await imports.run()
    stopShowing()
    if (stopped.length > 0) return
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    print(
      `Imported a year of Apple’s reports in ${seconds} s: ${plural(read, 'file')}, ${plural(empty, 'day')} without any.`,
    )
  }

  fetchAll()
    .catch((error) => log.error('the simulated year could not be imported', { error }))
    .finally(stopShowing)
}

/** A line that is redrawn at a terminal; otherwise one line at the start. */
function showProgress({ imports }: Windfall): () => void {
  if (!process.stdout.isTTY) {
    print('Importing a year of Apple’s daily reports in the background …')
    return () => {}
  }
  const timer = setInterval(() => {
    const progress = imports.progress()
    if (progress !== null) process.stdout.write(`\r\u001b[2K  importing: ${progressText(progress)}`)
  }, LOOK_MS)
  let shown = true
  return () => {
    clearInterval(timer)
    if (shown) process.stdout.write('\r\u001b[2K')
    shown = false
  }
}
