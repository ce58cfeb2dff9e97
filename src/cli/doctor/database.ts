/** The checks of `windfall doctor` on the server and the database. */
import { existsSync } from 'node:fs'
import * as v from 'valibot'
import type { Config } from '../../config/settings.ts'
import { callControl } from '../../control/socket.ts'
import { conditionFinding } from '../../health/condition.ts'
import { damagedFinding, diskSpaceFinding } from '../../health/disk_findings.ts'
import { type Finding, fault, ok, warning } from '../../health/findings.ts'
import { assertNotRescued } from '../../store/backup/rescue.ts'
import { assertNotSwapping } from '../../store/backup/swap.ts'
import { damageIn } from '../../store/disk/disk_faults.ts'
import { realPathOf } from '../../store/disk/paths.ts'
import { openReader, type Reader } from '../../store/reader.ts'
import { assertOwnLog } from '../../store/schema/header.ts'
import { identifyFile } from '../../store/schema/identify.ts'
import { actAsOwnerOf } from '../instance/privileges.ts'

const Serving = v.object({
  address: v.string(),
  base_url: v.string(),
  database: v.picklist(['ok', 'full', 'failing', 'damaged', 'replaced']),
  hosts: v.object({ connect: v.string(), server: v.object({ production: v.string(), sandbox: v.string() }) }),
})
/** What the serving process reports about itself: its address, and Apple's hosts. */
type Serving = v.InferOutput<typeof Serving>

/** Checks whether a process serves the database, and returns what it reports; null if none answers. */
export async function* examineServer({ store, base_url }: Config): AsyncGenerator<Finding, Serving | null> {
  try {
    const response = await callControl(store.path, 'instance.status', {})
    if (response === null) {
      yield warning('server', 'Windfall is not running. Start it with: windfall serve')
      return null
    }
    const serving = v.parse(Serving, response.result)
    yield ok('server', `Windfall is running at ${serving.address}.`)
    const condition = conditionFinding(serving.database, store.path)
    if (condition !== null) yield condition
    if (serving.base_url !== base_url) {
      const text = `the running server uses ${serving.base_url}, this configuration ${base_url}; check whether it was started with other settings (WINDFALL_…).`
      yield warning('base_url', text)
    }
    return serving
  } catch (error) {
    yield fault('server', `the server does not answer: ${errorText(error)}`)
    return null
  }
}

const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Checks the URL that Apple sends notifications to. */
export function* examineAddress({ base_url }: Pick<Config, 'base_url'>): Generator<Finding> {
  const url = `${base_url}/apple/notifications`
  if (new URL(base_url).protocol === 'https:') yield ok('notification URL', url)
  else
    yield warning(
      'notification URL',
      `${url}: Apple requires HTTPS. Set base_url to the address of your proxy or tunnel.`,
    )
}

/** Checks the database and opens it for reading. Returns null if it is missing or cannot be used. */
export function* examineDatabase({ store }: Config): Generator<Finding, Reader | null> {
  try {
    actAsOwnerOf(store.path)
    const file = realPathOf(store.path)
    assertNotSwapping(file)
    assertNotRescued(file)
    assertOwnLog(file)
    if (!existsSync(store.path)) {
      yield warning('database', `${store.path} does not exist yet: Windfall creates it when it first starts.`)
      return null
    }
    const identity = identifyFile(store.path)
    if (identity === null) {
      yield warning('database', `${store.path} is empty: Windfall fills it when it first starts.`)
      return null
    }
    if (!identity.isCurrent) {
      const text = `${store.path} has database version ${identity.version}: Windfall backs it up and upgrades it at the next start.`
      yield warning('database', text)
      return null
    }
    yield diskSpaceFinding(store.path)
    return openReader(store.path)
  } catch (error) {
    const code = damageIn(error)
    yield code === null ? fault('database', errorText(error)) : damagedFinding(code)
    return null
  }
}
