/** Lists what a backup must know: the database, the config file, the key files, and the environment variables. */
import { isAbsolute, relative } from 'node:path'
import type { LoadedConfig } from '../load.ts'

export type BackupSources = {
  /** Files with their place on disk and their path in the backup: relative to the config file's folder if inside it. */
  database: SourceFile
  config: SourceFile | null
  files: SourceFile[]
  /** Names of environment variables that set a value. The values may be secrets and are not copied. */
  variables: string[]
}
export type SourceFile = { path: string; source: string }

export function backupSources({ config, file, base, sources, places }: LoadedConfig): BackupSources {
  const sourceFile = (source: string): SourceFile => ({ path: placeIn(base, source), source })
  const sourcesOfKind = (kind: string): string[] => [
    ...new Set(
      [...sources].flatMap(([path, sourceKind]) => (sourceKind === kind ? (places.get(path) ?? []) : [])),
    ),
  ]
  return {
    database: sourceFile(config.store.path),
    config: file === null ? null : sourceFile(file),
    files: sourcesOfKind('secret file').map(sourceFile),
    variables: sourcesOfKind('environment'),
  }
}

function placeIn(base: string, file: string): string {
  const inside = relative(base, file)
  return inside.startsWith('..') || isAbsolute(inside) ? file : inside
}
