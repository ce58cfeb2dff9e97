/** The command `windfall connect`: keys and settings put on disk, each file as a whole or not at all. */
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

/** A key to be kept: the name of its file in the folder `keys` beside the config file, and its text. */
export type SavedKey = { name: string; pem: string }

const FOLDER = 'keys'

/** Where a key will stand, as config.toml names it. */
export const keyPath = (name: string): string => `${FOLDER}/${name}`

/**
 * Puts the keys beside the config file (mode 0600, in a folder 0700) and the account into it. Without a config file
 * there is one afterwards, as `windfall init` writes it. What config.toml says afterwards was read and found good
 * before it took the place of what it said before.
 *
 * @param index which of the file's accounts is changed; null adds one
 * @returns whether the config file says something else than before
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
  const detail = `${file} writes its accounts in a form that is not changed here. Write instead:\n${lines.join('\n')}`
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

/** @throws ConfigError when `text` in the place of the config file could not be used. */
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

/** Writes a new file beside the old one and puts it in its place. */
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

/** What root writes belongs to whom the config file belongs: the server may be another user. */
function copyOwner(path: string, reference: Pick<Stats, 'uid' | 'gid'> | null): void {
  if (reference === null || process.getuid?.() === reference.uid) return
  try {
    chownSync(path, reference.uid, reference.gid)
  } catch (error) {
    if (codeOf(error) !== 'EPERM') throw error
  }
}
