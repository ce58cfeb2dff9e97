/** The command `windfall verify`: compares the metrics of the instance or of a backup with the facts. */
import { existsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineCommand } from 'citty'
import { Refusal } from '../../errors.ts'
import { FORMULA } from '../../metrics/upkeep/generations.ts'
import { compareFile, type VerifyProgress, type VerifyResult } from '../../metrics/verification/comparison.ts'
import { commandName } from '../../program/form.ts'
import type { DecryptionKey } from '../../store/backup/archive/age.ts'
import { backupKindOf } from '../../store/backup/archive/unpack.ts'
import { assertFreeSpace } from '../../store/backup/backup.ts'
import { stage } from '../../store/backup/staged.ts'
import { damageIn } from '../../store/disk/disk_faults.ts'
import { lockForServing } from '../../store/disk/lock.ts'
import { realPathOf } from '../../store/disk/paths.ts'
import { readHeader } from '../../store/schema/header.ts'
import { identifyFile } from '../../store/schema/identify.ts'
import { reasonOf } from '../../store/warnings.ts'
import { configArg, plural, type SendVerb, withInstance } from '../instance/instance.ts'
import { decryptionKeyFor, existingBackup, identityArg } from '../instance/opening.ts'
import { print, printError, setResult } from '../instance/output.ts'
import { follow } from '../instance/progress.ts'
import { inTemporaryFolder } from '../instance/temporary_folder.ts'

export const verifyCommand = defineCommand({
  meta: { name: 'verify', description: 'Verify metrics against transactions' },
  args: {
    file: {
      type: 'positional',
      required: false,
      description: 'A backup or copy of the database to verify instead; it is not changed',
    },
    ...identityArg,
    ...configArg,
  },
  async run({ args }) {
    const { file } = args
    const { difference, ...found } =
      file === undefined
        ? await withInstance(args.config, verifyInstance)
        : await verifyBackup(existingBackup(file), args.identity)
    setResult({ difference, ...found })
    if (difference === null) return print(summaryLines(found, file !== undefined))
    print(`Difference found: ${difference}`)
    print(
      `Run ${commandName} rebuild metrics to recompute all metrics from the facts, and please report this difference.`,
    )
    process.exitCode = 1
  },
})

function summaryLines({ lineages, due }: Omit<VerifyResult, 'difference'>, isFile: boolean): string {
  const matchText = `The metrics match the facts of ${plural(lineages, 'purchase')}`
  if (due === 0) return `${matchText}.`
  const dueText = due.toLocaleString('en-US')
  if (isFile)
    return `${matchText}; ${dueText} ${due === 1 ? 'was' : 'were'} not up to date when the file was written.`
  return `${matchText}; ${dueText} ${due === 1 ? 'is' : 'are'} being brought up to date.`
}

const VERIFY = 'metrics.verify'
const STATUS = 'verification.status'

const verifyInstance = (send: SendVerb): Promise<VerifyResult> =>
  follow<VerifyResult, VerifyProgress>(send, { verb: VERIFY, args: {}, status: STATUS, progressText })

function progressText({ part, done, of }: VerifyProgress): string {
  if (part === 'facts') return `${done.toLocaleString('en-US')} of ${plural(of, 'purchase')}`
  const percentage = Math.floor((100 * done) / Math.max(1, of))
  return `${part === 'sums' ? 'sums by day' : 'sums of cohorts'}: ${percentage} %`
}

async function verifyBackup(backup: string, identity: string | undefined): Promise<VerifyResult> {
  const key = await decryptionKeyFor(backup, backupKindOf(backup), identity)
  if (isSingleFile(backup)) {
    const found = identifyFile(backup)
    if (found === null) throw new Refusal(400, 'not_a_backup', `${backup} is empty`)
    assertUsable(found.isCurrent, backup)
    return compareWithProgress(backup, null).catch((error: unknown) => {
      throw damageIn(error) === null ? error : damaged(backup, error)
    })
  }
  return inTemporaryFolder(tmpdir(), async (folder) => {
    const {
      file,
      identity: found,
      manifest,
    } = await withUnservedLock(backup, () => stageBackup(backup, key, folder))
    assertUsable(found.isCurrent, backup)
    return compareWithProgress(file, manifest?.created_at ?? null)
  })
}

const damaged = (backup: string, error: unknown): Refusal =>
  new Refusal(400, 'damaged_backup', `${backup} is damaged: ${reasonOf(error)}. Use another backup`)

/** Whether the backup is a database that SQLite opens without a write-ahead log or journal next to the file. */
const isSingleFile = (backup: string): boolean =>
  backupKindOf(backup) === 'database' &&
  readHeader(backup)?.isWal === false &&
  !existsSync(`${backup}-wal`) &&
  !existsSync(`${backup}-journal`)

/** @throws Refusal 400 `unusable_database` for a database of an earlier version. */
function assertUsable(isCurrent: boolean, backup: string): void {
  if (isCurrent) return
  const detail =
    `${backup} was written by an earlier version of Windfall and must be upgraded first. ` +
    'Restore it into an empty folder (windfall restore FILE --into DIR), run windfall serve there once, then run windfall verify'
  throw new Refusal(400, 'unusable_database', detail)
}

function stageBackup(backup: string, key: DecryptionKey | null, folder: string): ReturnType<typeof stage> {
  printError('Verifying the backup …')
  try {
    assertFreeSpace(join(folder, 'windfall.db'), statSync(backup).size)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Refusal(
      error.status,
      error.code,
      `${error.message}. Set TMPDIR to a folder with more free space`,
    )
  }
  return stage(backup, key, folder)
}

/** Runs `work` while no server has the database open. A server's writes would make the copied files inconsistent. */
async function withUnservedLock<Result>(backup: string, work: () => Promise<Result>): Promise<Result> {
  if (!existsSync(`${realPathOf(backup)}.lock`)) return work()
  const lock = lockUnserved(backup)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

function lockUnserved(backup: string): ReturnType<typeof lockForServing> {
  try {
    return lockForServing(backup)
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'already_serving') throw error
    throw new Refusal(
      error.status,
      error.code,
      `${error.message}. To verify it: windfall verify, without a file`,
    )
  }
}

/** Compares a file and shows the progress. */
function compareWithProgress(file: string, at: number | null): Promise<VerifyResult> {
  let progress: VerifyProgress | null = null
  const onProgress = (update: VerifyProgress): void => {
    progress = update
  }
  const { signal } = new AbortController()
  const compared = compareFile({ file, at, formula: FORMULA, signal, onProgress })
  return verifyInstance(
    async <Answer>(verb: string) => (verb === VERIFY ? await compared : { progress }) as Answer,
  )
}
