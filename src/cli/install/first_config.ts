/** The config file that an installation begins with. */

import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { pathText } from '../../config/checks/issues.ts'
import { commentedConfig } from '../../config/documents.ts'
import { flatten } from '../../config/flatten.ts'
import { readFile } from '../../config/sources/files.ts'
import { readToml } from '../../config/sources/toml.ts'
import { DATA_FOLDER } from './layout.ts'

/** The first config file: the database below the folder `data`, and a backup each night. */
export const firstConfig = (data: string): string =>
  commentedConfig(undefined, {
    'store.path': join(data, 'windfall.db'),
    'backup.folder': join(data, 'backups'),
    'backup.schedule': '30 3 * * *',
  })

/** Whether a config file sets nothing but what `windfall init` or `windfall install` wrote into it. */
export function isFirstConfig(file: string): boolean {
  const read = readFile(file)
  const found = 'text' in read ? settingsIn(read.text) : null
  const first = settingsIn(firstConfig(DATA_FOLDER))
  return found !== null && [...found].every(([path, value]) => isDeepStrictEqual(value, first?.get(path)))
}

/** The settings in the text of a config file by their path; null if it is not TOML. */
function settingsIn(text: string): Map<string, unknown> | null {
  const toml = readToml(text)
  if ('fault' in toml) return null
  return new Map(flatten(toml.values).map(([path, value]) => [pathText(path), value]))
}
