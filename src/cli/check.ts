/** The command `windfall check`: whether the configuration can be used, and what it comes to. */
import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { defineCommand } from 'citty'
import { dryRunDeclarations } from '../apps/declaration_check.ts'
import { systemClock } from '../clock.ts'
import { type Path, pathText } from '../config/checks/issues.ts'
import { flatten } from '../config/flatten.ts'
import { type LoadOptions, loadConfig } from '../config/load.ts'
import { tomlText } from '../config/setting.ts'
import { type Config, settingAt } from '../config/settings.ts'
import { openLog } from '../log.ts'
import { assertRecipients } from '../store/backup/archive/age.ts'
import { assertNotSwapping } from '../store/backup/swap.ts'
import { realPathOf } from '../store/disk/paths.ts'
import { openReader } from '../store/reader.ts'
import { assertOwnLog } from '../store/schema/header.ts'
import { identifyFile } from '../store/schema/identify.ts'
import { configArg } from './instance/instance.ts'
import { actAsOwnerOf } from './instance/privileges.ts'

/**
 * What a configuration that can be used comes to, a line each: what is not at its default, and from where. Secrets
 * are not shown.
 *
 * @throws ConfigError when it cannot be used; Refusal as `serve` would, when the database does not take it.
 */
export async function check(loadOptions: LoadOptions): Promise<string[]> {
  const { config, file, places } = loadConfig(loadOptions)
  await assertRecipients(config.backup.recipients)
  await checkOnDatabase(config)
  const written = flatten(config).flatMap(([path, value]) => {
    const place = places.get(pathText(path))
    return place === undefined ? [] : [[`${pathText(path)} = ${displayValue(path, value)}`, place] as const]
  })
  const width = Math.min(60, Math.max(0, ...written.map(([text]) => text.length)))
  return [
    file === null
      ? 'There is no config file, and none is needed.'
      : `${relative(loadOptions.cwd, file)} can be used.`,
    ...written.map(([text, place]) => `  ${text.padEnd(width)}  ${place}`),
    written.length === 0 ? 'Everything is at its default.' : 'Everything else is at its default.',
    `Windfall is reached at ${config.base_url} and keeps everything in ${config.store.path}`,
  ]
}

/** Where there is a database already, what it holds may contradict what is declared. */
async function checkOnDatabase(config: Config): Promise<void> {
  const { path } = config.store
  actAsOwnerOf(path)
  assertNotSwapping(realPathOf(path))
  assertOwnLog(realPathOf(path))
  // One of an older version is upgraded by `serve` before anything is declared in it.
  const reader = existsSync(path) && identifyFile(path)?.isPresent ? openReader(path) : null
  if (reader === null) return
  const log = openLog({ format: 'pretty', level: 'warn', write: (text) => process.stderr.write(text) })
  try {
    await dryRunDeclarations(config, { reader, clock: systemClock, log })
  } finally {
    reader.close()
  }
}

const displayValue = (path: Path, value: unknown): string =>
  settingAt(path)?.secret ? '(not shown)' : tomlText(value)

export const checkCommand = defineCommand({
  meta: { name: 'check', description: 'Say whether the configuration can be used, without serving' },
  args: configArg,
  async run({ args }) {
    const lines = await check({ path: args.config, env: process.env, cwd: process.cwd() })
    process.stdout.write(`${lines.join('\n')}\n`)
  },
})
