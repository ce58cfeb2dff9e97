/** What we compute: secrets that stand in files of their own. */
import { dirname, resolve } from 'node:path'
import type { Path } from '../checks/issues.ts'
import type { RawConfig } from '../raw_config.ts'
import { isTable } from '../setting.ts'
import { SECTIONS, type Section } from '../settings.ts'
import { readFile } from './files.ts'

type Folders = Readonly<{
  /** Where relative paths begin. */
  base: string
  /** Where the service manager puts credentials ($CREDENTIALS_DIRECTORY, systemd.exec(5)), if it does. */
  credentials: string | undefined
}>

/** Reads every `*_file` that stands for a secret, and puts what it holds where the secret would stand. */
export function readSecrets(raw: RawConfig, folders: Folders): void {
  for (const section of SECTIONS) {
    const secrets = Object.keys(section.settings).filter((key) => section.settings[key]?.secret)
    for (const { path, table } of tablesOf(raw, section)) {
      for (const key of secrets) {
        const file = table[`${key}_file`]
        if (typeof file === 'string' && file !== '') readSecret(raw, path, key, file, folders)
      }
    }
  }
}

function tablesOf(raw: RawConfig, { name }: Section): { path: Path; table: Record<string, unknown> }[] {
  const value = raw.values[name]
  if (isTable(value)) return [{ path: [name], table: value }]
  if (!Array.isArray(value)) return []
  return value.flatMap((table: unknown, index) => (isTable(table) ? [{ path: [name, index], table }] : []))
}

function readSecret(raw: RawConfig, above: Path, key: string, file: string, folders: Folders): void {
  const path = [...above, `${key}_file`]
  if (raw.has([...above, key])) {
    raw.addIssue(
      path,
      `stands beside ${key}`,
      `Keep one of the two: ${key}_file keeps the secret out of sight.`,
    )
    return
  }
  if (/sk_live_|PRIVATE KEY/.test(file)) {
    raw.addIssue(
      path,
      'holds a key itself',
      `Write the key as ${key}, or put it into a file and its path here.`,
    )
    return
  }
  const full = resolve(folders.base, file)
  const read = readFile(full)
  if ('problem' in read) {
    raw.addIssue(
      path,
      `${full} ${read.problem}`,
      `Write the path of a file that holds the ${key} and nothing else.`,
    )
  } else if (isReadableByOthers(read.mode) && dirname(full) !== folders.credentials) {
    const problem = `${full} is open to others (mode ${read.mode.toString(8).padStart(4, '0')})`
    raw.addIssue(path, problem, `Run: chmod 600 ${full}`)
  } else if (read.text.trim() === '') {
    raw.addIssue(path, `${full} is empty`, `Put the ${key} into it, and nothing else.`)
  } else {
    raw.set([...above, key], read.text.trim(), { kind: 'secret file', source: full, line: null })
  }
}

/** Whether anybody but the file's owner may do anything with it. A service manager's folder is closed as a whole. */
const isReadableByOthers = (mode: number): boolean => (mode & 0o077) !== 0
