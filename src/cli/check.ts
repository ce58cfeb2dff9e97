/** The command `windfall check`: whether the configuration can be used, and what it comes to. */
import { relative } from 'node:path'
import { defineCommand } from 'citty'
import { type Path, pathText } from '../config/complaints.ts'
import { leavesOf } from '../config/leaves.ts'
import { loadConfig, type Surroundings } from '../config/load.ts'
import { tomlText } from '../config/setting.ts'
import { settingAt } from '../config/settings.ts'
import { configArg } from './instance.ts'

/**
 * What a configuration that can be used comes to, a line each: what is not at its default, and from where. Secrets
 * are not shown.
 *
 * @throws ConfigError when it cannot be used
 */
export function check(surroundings: Surroundings): string[] {
  const { config, file, places } = loadConfig(surroundings)
  const written = leavesOf(config).flatMap(([path, value]) => {
    const place = places.get(pathText(path))
    return place === undefined ? [] : [[`${pathText(path)} = ${shown(path, value)}`, place] as const]
  })
  const width = Math.min(60, Math.max(0, ...written.map(([text]) => text.length)))
  return [
    file === null
      ? 'There is no config file, and none is needed.'
      : `${relative(surroundings.cwd, file)} can be used.`,
    ...written.map(([text, place]) => `  ${text.padEnd(width)}  ${place}`),
    written.length === 0 ? 'Everything is at its default.' : 'Everything else is at its default.',
    `Windfall is reached at ${config.base_url} and keeps everything in ${config.store.path}`,
  ]
}

const shown = (path: Path, value: unknown): string =>
  settingAt(path)?.secret ? '(not shown)' : tomlText(value)

export const checkCommand = defineCommand({
  meta: { name: 'check', description: 'Say whether the configuration can be used, without serving' },
  args: configArg,
  run({ args }) {
    const lines = check({ path: args.config, env: process.env, cwd: process.cwd() })
    process.stdout.write(`${lines.join('\n')}\n`)
  },
})
