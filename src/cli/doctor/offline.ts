/** Opens what the checks read when no server runs: the configuration and a read-only connection. */

import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { AppleHosts } from '../../apple/api/hosts.ts'
import { APPLE_ROOTS } from '../../apple/jws/roots.ts'
import type { Clock } from '../../clock.ts'
import type { LoadedConfig } from '../../config/load.ts'
import type { DoctorContext } from '../../doctor/context.ts'
import { error, type Outcome, outcomeOf, warning } from '../../doctor/result.ts'
import { damagedFinding } from '../../health/disk_findings.ts'
import { assertNotRescued } from '../../store/backup/rescue.ts'
import { assertNotSwapping } from '../../store/backup/swap.ts'
import { damageIn } from '../../store/disk/disk_faults.ts'
import { realPathOf } from '../../store/disk/paths.ts'
import { openReader, type Reader } from '../../store/reader.ts'
import { assertOwnLog } from '../../store/schema/header.ts'
import { identifyFile } from '../../store/schema/identify.ts'
import { startOfServer } from '../../systemd/starting.ts'
import { actAsOwnerOf } from '../instance/privileges.ts'

export type OfflineOptions = {
  hosts: AppleHosts
  clock: Clock
  wait: (ms: number) => Promise<void>
  isTestRequested: boolean
}

/** The context of the checks without a server. Close its `reader` afterwards. */
export function offlineContext(
  { config, ...sources }: LoadedConfig,
  options: OfflineOptions,
): Omit<DoctorContext, 'appleReach'> {
  const { reader, problem } = openDatabase(config.store.path)
  const expiries = APPLE_ROOTS.map((pem) => new X509Certificate(pem).validToDate.getTime())
  const root_expires_at = Math.min(...expiries)
  const database = { reader, databaseProblem: problem }
  return { ...options, ...database, config, sources, serving: null, root_expires_at, asksApple: true }
}

/** Opens the database for reading. `problem` says why it cannot be used; a missing one is only a warning. */
function openDatabase(path: string): { reader: Reader | null; problem: Outcome | null } {
  try {
    actAsOwnerOf(path)
    const file = realPathOf(path)
    assertNotSwapping(file)
    assertNotRescued(file)
    assertOwnLog(file)
    const problem = problemOf(path)
    return problem === null ? { reader: openReader(path), problem } : { reader: null, problem }
  } catch (failure) {
    const code = damageIn(failure)
    const words = failure instanceof Error ? failure.message : String(failure)
    return { reader: null, problem: code === null ? error(words, REPAIR) : outcomeOf(damagedFinding(code)) }
  }
}

const REPAIR = 'Correct `store.path`, or restore a backup: `windfall restore FILE`.'
const START = `Start Windfall: \`${startOfServer()}\`.`

function problemOf(path: string): Outcome | null {
  if (!existsSync(path))
    return warning(`${path} does not exist yet: Windfall creates it when it first starts.`, START)
  const identity = identifyFile(path)
  if (identity === null) return warning(`${path} is empty: Windfall fills it when it first starts.`, START)
  if (identity.isCurrent) return null
  const detail = `${path} has database version ${identity.version}: Windfall backs it up and upgrades it at the next start.`
  return warning(detail, START)
}
