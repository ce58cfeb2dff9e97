/** Writes the keys and settings of `windfall connect` to disk, each file atomically. */
import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { commentedConfig } from '../../config/documents.ts'
import { type AccountEntry, accountLines, withAccount } from '../../config/edit.ts'
import { type LoadOptions, loadConfig } from '../../config/load.ts'
import { codeOf, reasonOf } from '../../config/sources/files.ts'
import { Refusal } from '../../errors.ts'
import { realPathOf } from '../../store/disk/paths.ts'

/** A key to store: its file name in the folder `keys` next to the config file, and its text. */
export type KeyFileToWrite = { name: string; pem: string }

const FOLDER = 'keys'

/** The path of a stored key, as config.toml names it. */
export const keyPath = (name: string): string => `${FOLDER}/${name}`

/**
 * Writes the account into the config file, and the keys (mode 0600) into a folder next to the config file (mode 0700).
 * Creates the config file like `windfall init` if there is none. Validates the new config.toml before it replaces the
 * old one.
 *
 * @param index the index of the account to change among the accounts of the file; null adds an account
 * @returns whether the config file changed
 * @throws Refusal 409 `not_editable` with the lines to write by hand, 400 `not_writable`; ConfigError
 */
export function saveAccount(
  file: string,
  { entry, keys, index }: { entry: AccountEntry; keys: readonly KeyFileToWrite[]; index: number | null },
  loadOptions: LoadOptions,
): boolean {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : null
  const after = withAccount(before ?? commentedConfig(), entry, index)
  if (after === null) throw notEditable(file, entry)
  try {
    const target = realPathOf(file)
    const permissions = before === null ? null : statSync(target)
    saveKeys(join(dirname(file), FOLDER), keys, permissions)
    assertValid(file, after, loadOptions)
    replaceFile(target, after, permissions)
    return after !== before
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new Refusal(400, 'not_writable', `${file} or ${FOLDER} beside it ${reasonOf(error)}`)
  }
}

function notEditable(file: string, entry: AccountEntry): Refusal {
  const lines = accountLines(entry).map((line) => `  ${line}`)
  const detail = `${file} declares its accounts in a form that this command cannot edit. Add these lines by hand:\n${lines.join('\n')}`
  return new Refusal(409, 'not_editable', detail)
}

function saveKeys(folder: string, keys: readonly KeyFileToWrite[], permissions: Stats | null): void {
  if (keys.length === 0) return
  if (!existsSync(folder)) {
    mkdirSync(folder, { mode: 0o700 })
    copyOwner(folder, permissions)
  }
  for (const { name, pem } of keys)
    replaceFile(join(folder, name), pem, permissions && { ...permissions, mode: 0o600 })
}

/** @throws ConfigError if `text` is not a valid config file. */
function assertValid(file: string, text: string, loadOptions: LoadOptions): void {
  const trialFile = `${file}.partial`
  rmSync(trialFile, { force: true })
  try {
    writeDurably(trialFile, text, 0o600)
    loadConfig({ ...loadOptions, path: trialFile })
  } finally {
    rmSync(trialFile, { force: true })
  }
}

/** Writes a new file next to the old one and renames it over the old one. */
function replaceFile(
  file: string,
  text: string,
  permissions: Pick<Stats, 'mode' | 'uid' | 'gid'> | null,
): void {
  const partial = `${file}.partial`
  rmSync(partial, { force: true })
  try {
    writeDurably(partial, text, permissions ? permissions.mode & 0o777 : 0o600)
    copyOwner(partial, permissions)
    renameSync(partial, file)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

function writeDurably(file: string, text: string, mode: number): void {
  const descriptor = openSync(file, 'wx', mode)
  try {
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Gives files that root wrote to the owner of the config file, because the server may run as that user. */
function copyOwner(path: string, permissions: Pick<Stats, 'uid' | 'gid'> | null): void {
  if (permissions === null || process.getuid?.() === permissions.uid) return
  try {
    chownSync(path, permissions.uid, permissions.gid)
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error
  }
}
