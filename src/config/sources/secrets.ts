/** Reads secrets from the files that `*_file` settings name. */
import { dirname, resolve } from 'node:path'
import type { Path } from '../checks/issues.ts'
import type { RawConfig } from '../raw_config.ts'
import { fileSettingOf, isTable, type Setting, shapeOf } from '../setting.ts'
import { SECTIONS, type Section, settingAt } from '../settings.ts'
import { readFile } from './files.ts'
import { readToml } from './toml.ts'

type Folders = Readonly<{
  /** The folder that relative paths are resolved against. */
  base: string
  /** The service manager's folder of credentials ($CREDENTIALS_DIRECTORY, systemd.exec(5)), if there is one. */
  credentials: string | undefined
}>

/** Reads every `*_file` of a secret and sets the secret to its contents. */
export function readSecrets(raw: RawConfig, folders: Folders): void {
  for (const section of SECTIONS) {
    const secrets = Object.keys(section.settings).filter((key) => section.settings[key]?.secret)
    for (const { path, table } of tablesOf(raw, section)) {
      for (const key of secrets) {
        const file = table[fileSettingOf(key, section.settings[key])]
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
  const setting = settingAt([...above, key])
  const fileKey = fileSettingOf(key, setting ?? undefined)
  const path = [...above, fileKey]
  if (raw.has([...above, key])) {
    raw.addIssue(path, `is set together with ${key}`, `Keep one of the two, preferably ${fileKey}.`)
    return
  }
  if (/sk_live_|whsec_|PRIVATE KEY/.test(file)) {
    raw.addIssue(
      path,
      'is a key, not the path of a file',
      `Write the key as ${key}, or put it into a file and write the path here.`,
    )
    return
  }
  const full = resolve(folders.base, file)
  const read = readFile(full)
  if ('problem' in read) {
    raw.addIssue(path, `${full} ${read.problem}`, `Write the path of a file that contains only the ${key}.`)
  } else if (isReadableByOthers(read.mode) && dirname(full) !== folders.credentials) {
    const problem = `${full} is accessible to other users (mode ${read.mode.toString(8).padStart(4, '0')})`
    raw.addIssue(path, problem, `Run: chmod 600 ${full}`)
  } else if (read.text.trim() === '') {
    raw.addIssue(path, `${full} is empty`, `Write the ${key} into it.`)
  } else {
    const value = contentOf(read.text, setting)
    const origin = { kind: 'secret file', source: full, line: null } as const
    if (value === null)
      raw.addIssue(path, `${full} is not valid TOML`, `Write ${key} such as token = "…" into it.`)
    else raw.set([...above, key], value, origin)
  }
}

/** The value of a setting in its file: a text, one item on each line, or a table as TOML. Null if it is not valid TOML. */
function contentOf(text: string, setting: Setting | null): unknown {
  const shape = setting === null ? 'plain' : shapeOf(setting)
  if (shape === 'plain') return text.trim()
  if (shape === 'list') return linesOf(text)
  const toml = readToml(text)
  return 'values' in toml ? toml.values : null
}

const linesOf = (text: string): string[] => text.split('\n').flatMap((line) => line.trim() || [])

/** Whether a user other than the file's owner has access. A service manager protects its folder as a whole. */
const isReadableByOthers = (mode: number): boolean => (mode & 0o077) !== 0
