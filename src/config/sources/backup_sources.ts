/** Lists what a backup must know: the database, the config file, the key files, and the environment variables. */
import { existsSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { keyFileOf } from '../key_path.ts'
import type { LoadedConfig } from '../load.ts'

export type BackupSources = {
  database: SourceFile
  config: SourceFile | null
  files: SourceFile[]
  /** Names of environment variables that set a value. The values may be secrets and are not copied. */
  variables: string[]
}
/**
 * `source` is the absolute path of a file. `path` is its path in the backup: relative to the config file's folder if
 * the file is inside that folder, otherwise absolute.
 */
export type SourceFile = { path: string; source: string }

/** The files and variables of a loaded configuration. */
export function backupSources({
  config,
  file,
  base,
  sourceKindByPath,
  locationByPath,
}: LoadedConfig): BackupSources {
  const { ca_file } = config.outbound
  const sourceFile = (source: string): SourceFile => ({ path: backupPathOf(base, source), source })
  const sourcesOfKind = (kind: string): string[] => [
    ...new Set(
      [...sourceKindByPath].flatMap(([path, sourceKind]) =>
        sourceKind === kind ? (locationByPath.get(path) ?? []) : [],
      ),
    ),
  ]
  return {
    database: sourceFile(config.store.path),
    config: file === null ? null : sourceFile(file),
    files: [
      ...sourcesOfKind('secret file'),
      ...(ca_file === null ? [] : [ca_file]),
      ...sealingKeyOf(config.store.path),
    ].map(sourceFile),
    variables: sourcesOfKind('environment'),
  }
}

/** The key file exists only after a secret was sealed. */
const sealingKeyOf = (database: string): string[] => [keyFileOf(database)].filter(existsSync)

function backupPathOf(base: string, file: string): string {
  const inside = relative(base, file)
  return inside.startsWith('..') || isAbsolute(inside) ? file : inside
}
