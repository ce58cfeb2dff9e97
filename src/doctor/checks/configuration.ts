/** Checks of the configuration: where its values come from, and who can read and write its files. */
import { accessSync, constants, statSync } from 'node:fs'
import { pathText } from '../../config/checks/issues.ts'
import { flatten } from '../../config/flatten.ts'
import { defaultFileIn } from '../../config/load.ts'
import { readFile } from '../../config/sources/files.ts'
import { readToml } from '../../config/sources/toml.ts'
import { accessProblems } from '../../systemd/access.ts'
import { reloadOfServer } from '../../systemd/starting.ts'
import { readUnit } from '../../systemd/unit.ts'
import { isRealApple } from '../apple/reach.ts'
import type { DoctorContext } from '../context.ts'
import { error, type Outcome, ok, skipped, warning } from '../result.ts'
import { type ConfiguredPath, configuredPaths } from './configured_paths.ts'

/** The sources of the settings, which variable overrides the file, and whether the file changed since it was loaded. */
export function checkConfiguration(context: DoctorContext): Outcome {
  const { serving, sources } = context
  const hasChanged = serving?.hasConfigChanged() === true
  const overridden = overriddenLines(context)
  const detail = [
    hasChanged && sources.file === null
      ? `The server started without a config file, and ${defaultFileIn(sources.base)} was written since.`
      : fileText(context),
    `${countsText(context)}.`,
    ...(overridden.length === 0 ? [] : [`Variables override the file: ${overridden.join(', ')}.`]),
  ].join(' ')
  if (!hasChanged) return ok(detail)
  const words = sources.file === null ? '' : ' The file changed after the server loaded it.'
  return warning(`${detail}${words}`, `Load it: \`${reloadOfServer()}\`. Some settings need a restart.`)
}

function fileText({ sources, hosts }: DoctorContext): string {
  if (sources.file !== null) return `The config file is ${sources.file}.`
  return isRealApple(hosts) ? 'There is no config file.' : 'The demo has settings of its own.'
}

function countsText({ config, sources }: DoctorContext): string {
  const kinds = flatten(config).map(([path]) => sources.sourceKindByPath.get(pathText(path)) ?? 'default')
  const count = (kind: string): number => kinds.filter((one) => one === kind).length
  const [inFile, defaults] = [count('file'), count('default')]
  return [
    `${inFile} ${inFile === 1 ? 'setting is' : 'settings are'} from the file`,
    `${count('environment')} from environment variables`,
    `${count('secret file')} from key files`,
    `${defaults} ${defaults === 1 ? 'has its default' : 'have their defaults'}`,
  ].join(', ')
}

/** The variables that replace a value of the config file, each with the line of that value. */
function overriddenLines({ sources: { file, sourceKindByPath, locationByPath } }: DoctorContext): string[] {
  const read = file === null ? null : readFile(file)
  const toml = read !== null && 'text' in read ? readToml(read.text) : null
  if (toml === null || !('lines' in toml)) return []
  return [...sourceKindByPath].flatMap(([path, kind]) => {
    const line = toml.lines.get(path)
    return kind === 'environment' && line !== undefined ? `${locationByPath.get(path)} (line ${line})` : []
  })
}

/** Permissions: who can read secrets, who can write, and whether Windfall itself can. */
export function checkFiles({ config, sources }: DoctorContext): Outcome[] {
  const paths = configuredPaths(config, sources)
  const problems = paths.flatMap(problemsOf)
  if (problems.length > 0) return problems
  const secretCount = paths.filter(({ path, isSecret }) => isSecret && modeOf(path) !== null).length
  return [ok(`Other users of this machine can read none of the ${secretCount} files with secrets or data.`)]
}

const READABLE_BY_OTHERS = 0o004
const WRITABLE_BY_OTHERS = 0o002

function modeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? null
}

function problemsOf({ path, use, kind, written, isSecret }: ConfiguredPath): Outcome[] {
  const mode = modeOf(path)
  if (mode === null) return []
  const subject = path
  const shown = `${path} (${use}, mode ${(mode & 0o777).toString(8).padStart(4, '0')})`
  const fix = kind === 'folder' ? `chmod o-w ${path}` : `chmod 600 ${path}`
  if ((mode & WRITABLE_BY_OTHERS) !== 0)
    return [error(`Every user of this machine can write to ${shown}.`, `Run \`${fix}\`.`, { subject })]
  if (isSecret && (mode & READABLE_BY_OTHERS) !== 0)
    return [error(`Every user of this machine can read ${shown}.`, `Run \`${fix}\`.`, { subject })]
  if (isAccessible(path, written ? constants.R_OK | constants.W_OK : constants.R_OK)) return []
  const verb = written ? 'write to' : 'read'
  const remedy = 'Make it belong to the user that runs Windfall, with `chown`.'
  return [error(`Windfall cannot ${verb} ${shown}.`, remedy, { subject })]
}

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

/** Whether the service that is installed below `root` is the one of this version and may use every configured path. */
export function checkService(
  { config, sources }: Pick<DoctorContext, 'config' | 'sources'>,
  root = '/',
): Outcome[] {
  const unit = readUnit(root)
  if (unit === null) return [skipped('No systemd service is installed: `windfall install` installs one.')]
  const problems = accessProblems({ config, ...sources }, root).map(({ setting, problem, advice }) =>
    error(`${setting}: ${problem}.`, advice, { subject: setting }),
  )
  const found = unit.isOwn ? problems : [otherUnit(unit.file), ...problems]
  return found.length > 0 ? found : [ok(`${unit.file} permits every path of the configuration.`)]
}

/** An upgrade replaces the executable and not the unit. */
const otherUnit = (file: string): Outcome =>
  warning(
    `${file} is not the unit of this version.`,
    'Run `windfall install` to replace it. Your own lines belong into a drop-in: `systemctl edit windfall`.',
    { subject: 'unit' },
  )
