/** Lists the paths that the configuration names, and what Windfall does with each. */
import { dirname } from 'node:path'
import { pathText } from '../../config/checks/issues.ts'
import { flatten } from '../../config/flatten.ts'
import type { ConfigSources } from '../../config/load.ts'
import { type Config, settingAt } from '../../config/settings.ts'
import { backupSources } from '../../config/sources/backup_sources.ts'

/** `written`: Windfall creates and changes files there. `isSecret`: other users of the machine must not read it. */
export type ConfiguredPath = {
  path: string
  use: string
  kind: 'file' | 'folder'
  written: boolean
  isSecret: boolean
}

/** Every configured path. A path need not exist yet. */
export function configuredPaths(config: Config, sources: ConfigSources): ConfiguredPath[] {
  const { files } = backupSources({ config, ...sources })
  const { path } = config.store
  const read = { kind: 'file', written: false } as const
  return [
    {
      path: dirname(path),
      use: 'the folder of the database',
      kind: 'folder',
      written: true,
      isSecret: false,
    },
    ...['', '-wal', '-shm', '.ballast'].map((suffix) => ({
      path: `${path}${suffix}`,
      use: 'the database',
      ...({ kind: 'file', written: true, isSecret: true } as const),
    })),
    ...(sources.file === null
      ? []
      : [{ path: sources.file, use: 'the config file', ...read, isSecret: hasSecrets(config, sources) }]),
    ...files
      .filter(({ source }) => source !== config.outbound.ca_file)
      .map(({ source }) => ({ path: source, use: 'a key file', ...read, isSecret: true })),
    ...(config.backup.schedule === 'off'
      ? []
      : [
          {
            path: config.backup.folder,
            use: 'the folder of backups',
            ...({ kind: 'folder', written: true, isSecret: false } as const),
          },
        ]),
  ]
}

/** Whether a secret is written in the config file itself and not in a key file. */
const hasSecrets = (config: Config, { sourceKindByPath }: ConfigSources): boolean =>
  flatten(config).some(
    ([path]) => settingAt(path)?.secret === true && sourceKindByPath.get(pathText(path)) === 'file',
  )
