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
export type SavedKey = { name: string; pem: string }

const FOLDER = 'keys'

/** The path of a stored key, as config.toml names it. */
export const keyPath = (name: string): string => `${FOLDER}/${name}`

/**
 * Writes the keys next to the config file (mode 0600, in a folder with mode 0700) and the account into it. Creates the
 * config file like `windfall init` if there is none. Validates the new config.toml before it replaces the old one.
 *
 * @param index which of the file's accounts to change; null adds one
 * @returns whether the config file changed
 * @throws Refusal 409 `not_editable` with the lines to write by hand, 400 `not_writable`; ConfigError
 */
export function saveAccount(
  file: string,
  { entry, keys, index }: { entry: AccountEntry; keys: readonly SavedKey[]; index: number | null },
  loadOptions: LoadOptions,
): boolean {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : null
  const after = withAccount(before ?? commentedConfig(), entry, index)
  if (after === null) throw notEditable(file, entry)
  try {
    const target = realPathOf(file)
    const reference = before === null ? null : statSync(target)
    saveKeys(join(dirname(file), FOLDER), keys, reference)
    check(file, after, loadOptions)
    replace(target, after, reference)
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

function saveKeys(folder: string, keys: readonly SavedKey[], reference: Stats | null): void {
  if (keys.length === 0) return
  if (!existsSync(folder)) {
    mkdirSync(folder, { mode: 0o700 })
    copyOwner(folder, reference)
  }
  for (const { name, pem } of keys)
    replace(join(folder, name), pem, reference && { ...reference, mode: 0o600 })
}

/** @throws ConfigError if `text` is not a valid config file. */
function check(file: string, text: string, loadOptions: LoadOptions): void {
  const trial = `${file}.partial`
  rmSync(trial, { force: true })
  try {
    writeDurably(trial, text, 0o600)
    loadConfig({ ...loadOptions, path: trial })
  } finally {
    rmSync(trial, { force: true })
  }
}

/** Writes a new file next to the old one and renames it over the old one. */
function replace(file: string, text: string, reference: Pick<Stats, 'mode' | 'uid' | 'gid'> | null): void {
  const partial = `${file}.partial`
  rmSync(partial, { force: true })
  try {
    writeDurably(partial, text, reference ? reference.mode & 0o777 : 0o600)
    copyOwner(partial, reference)
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

/** Files written by root get the owner of the config file: the server may run as that user. */
function copyOwner(path: string, reference: Pick<Stats, 'uid' | 'gid'> | null): void {
  if (reference === null || process.getuid?.() === reference.uid) return
  try {
    chownSync(path, reference.uid, reference.gid)
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error
  }
}
