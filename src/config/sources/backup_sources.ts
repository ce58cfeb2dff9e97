/** What belongs to an instance besides its database: the config file, the files it names, and what only the environment says. */
import { isAbsolute, relative } from 'node:path'
import type { LoadedConfig } from '../load.ts'

export type BackupSources = {
  /** Each file's place on the disk, and what the backup calls it: relative to the config file's folder where it is inside. */
  database: SourceFile
  config: SourceFile | null
  files: SourceFile[]
  /** Variables that set something. Their values may be secrets of another system, and are not copied. */
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
