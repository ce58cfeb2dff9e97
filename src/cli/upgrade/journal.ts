/**
 * The journal of an upgrade that has begun to change the installation, beside the installed program. After a crash, the
 * next `windfall upgrade` goes on from it.
 */
import { readFileSync, rmSync } from 'node:fs'
import { Refusal } from '../../errors.ts'
import { writeFileDurably } from '../../store/disk/durable_files.ts'
import { textAt } from '../../store/disk/paths.ts'

export type Journal = {
  /** The process that runs the upgrade. */
  pid: number
  from: string
  to: string
  /** The SHA-256 of the new executable. */
  sha256: string
  config: string | null
  /** The version of the database before the upgrade; null if there was no database. */
  database_version: number | null
  /** The backup of step 2; null if there was no database. */
  backup: string | null
  /** How long the new version may take until it is ready. */
  wait_ms: number
  /** Why the upgrade is undone; null while it goes forward. */
  failure: string | null
  /** The copy from before the migration that is being restored; null before that. */
  copy: string | null
}

/** Opens the journal at `file`. */
export function openJournal(file: string) {
  /** The journal of an upgrade that did not end; null if there is none. @throws Refusal 409 `upgrade_running` */
  function read(): Journal | null {
    const text = textAt(file)
    if (text === null) return null
    const journal = JSON.parse(text) as Journal
    if (journal.pid === process.pid || !isUpgrading(journal.pid)) return journal
    throw new Refusal(409, 'upgrade_running', `process ${journal.pid} upgrades this installation already`)
  }

  const write = (journal: Journal): void =>
    writeFileDurably(file, `${JSON.stringify({ ...journal, pid: process.pid })}\n`, 0o600)
  const remove = (): void => rmSync(file, { force: true })

  return { read, write, remove }
}

/** Whether the process runs and is an upgrade: after a restart of the machine, another process can have its number. */
function isUpgrading(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('upgrade')
  } catch {
    return false
  }
}
