/** The command `windfall check`: validates the configuration and prints the settings in effect. */
import { existsSync } from 'node:fs'
import { defineCommand } from 'citty'
import { examinePasskeys } from '../access/passkeys/host_change.ts'
import { dryRunDeclarations } from '../apps/declaration_check.ts'
import { systemClock } from '../clock.ts'
import { ConfigError, type Path, pathText } from '../config/checks/issues.ts'
import { flatten } from '../config/flatten.ts'
import { displayPath, type LoadedConfig, type LoadOptions } from '../config/load.ts'
import { tomlText } from '../config/setting.ts'
import { type Config, settingAt } from '../config/settings.ts'
import { policyForecasts } from '../health/policy_forecasts.ts'
import { openLog } from '../log.ts'
import { assertRecipients } from '../store/backup/archive/age.ts'
import { assertNotSwapping } from '../store/backup/swap.ts'
import { realPathOf } from '../store/disk/paths.ts'
import { openReader } from '../store/reader.ts'
import { assertOwnLog } from '../store/schema/header.ts'
import { identifyFile } from '../store/schema/identify.ts'
import { accessProblems } from '../systemd/access.ts'
import { UNIT_NAME } from '../systemd/unit.ts'
import { configArg } from './instance/instance.ts'
import { loadWithTypes } from './instance/load.ts'
import { print, setResult } from './instance/output.ts'
import { actAsOwnerOf } from './instance/privileges.ts'

/**
 * Validates the configuration. Returns one line for each setting that is not at its default, with its source. Secrets
 * are not shown. `root` is the root folder of the system whose installed service would use the configuration.
 *
 * @throws ConfigError if the configuration is invalid, or if the installed service cannot use its paths; the Refusal
 * that `serve` would throw if the configuration conflicts with the database.
 */
export async function check(loadOptions: LoadOptions, root = '/'): Promise<string[]> {
  const loaded = loadWithTypes(loadOptions)
  const { config, file, locationByPath } = loaded
  assertAccess(loaded, root)
  await assertRecipients(config.backup.recipients)
  const warnings = await checkAgainstDatabase(config)
  const changedSettings = flatten(config).flatMap(([path, value]) => {
    const place = locationByPath.get(pathText(path))
    return place === undefined ? [] : [[`${pathText(path)} = ${displayValue(path, value)}`, place] as const]
  })
  const { base_url, store } = config
  setResult({ valid: true, config_file: file, base_url, database: store.path })
  const width = Math.min(60, Math.max(0, ...changedSettings.map(([text]) => text.length)))
  return [
    file === null
      ? 'No config file. Windfall does not need one.'
      : `${displayPath(file, loadOptions.cwd)} is valid.`,
    ...changedSettings.map(([text, place]) => `  ${text.padEnd(width)}  ${place}`),
    changedSettings.length === 0
      ? 'All settings have their defaults.'
      : 'All other settings have their defaults.',
    ...warnings,
    `Windfall serves at ${base_url} and stores its data in ${store.path}`,
  ]
}

/** @throws ConfigError if the systemd unit keeps the server from a path of its configuration. */
function assertAccess(loaded: LoadedConfig, root: string): void {
  const issues = accessProblems(loaded, root).map(({ setting, problem, advice }) => ({
    path: setting,
    line: null,
    source: loaded.locationByPath.get(setting) ?? UNIT_NAME,
    problem,
    advice,
  }))
  if (issues.length > 0) throw new ConfigError(issues)
}

/**
 * An existing database may contain apps or keys that conflict with the configuration. Returns what the policies for SDK
 * calls would have refused of the calls of the last week, and a warning about passkeys of another host.
 */
async function checkAgainstDatabase(config: Config): Promise<string[]> {
  const { path } = config.store
  actAsOwnerOf(path)
  assertNotSwapping(realPathOf(path))
  assertOwnLog(realPathOf(path))
  // `serve` upgrades an older database before it applies any declarations.
  const reader = existsSync(path) && identifyFile(path)?.isCurrent ? openReader(path) : null
  if (reader === null) return []
  const log = openLog({ format: 'pretty', level: 'warn', write: (text) => process.stderr.write(text) })
  try {
    await dryRunDeclarations(config, { reader, clock: systemClock, log })
    const { problem, remedy } = examinePasskeys(reader, config.base_url)
    const lost = problem === null ? [] : [`Warning: ${problem} ${remedy}`]
    return [...policyForecasts(config, reader, systemClock), ...lost]
  } finally {
    reader.close()
  }
}

const displayValue = (path: Path, value: unknown): string =>
  settingAt(path)?.secret ? '(not shown)' : tomlText(value)

export const checkCommand = defineCommand({
  meta: { name: 'check', description: 'Validate the configuration without serving' },
  args: configArg,
  async run({ args }) {
    const lines = await check({ path: args.config, env: process.env, cwd: process.cwd() })
    print(lines.join('\n'))
  },
})
