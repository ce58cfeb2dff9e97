/** Loads the configuration. Environment variables override the file, and the file overrides the defaults. */
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { listenUrl } from './base_url.ts'
import { checkCombinations, organizationOf } from './checks/combinations.ts'
import { ConfigError, type Path, pathText } from './checks/issues.ts'
import { parseConfig } from './checks/schema_issues.ts'
import { checkUnknownKeys } from './checks/unknown_keys.ts'
import { flatten } from './flatten.ts'
import { openRawConfig, type RawConfig, type ValueOrigin } from './raw_config.ts'
import { isTable } from './setting.ts'
import type { Config, ParsedConfig } from './settings.ts'
import { readCaFile } from './sources/ca_file.ts'
import { applyVariables, findVariables } from './sources/environment.ts'
import { readFile } from './sources/files.ts'
import { repetitionAt } from './sources/repeated.ts'
import { readSecrets } from './sources/secrets.ts'
import { readToml, type TomlFault } from './sources/toml.ts'

export type LoadedConfig = Readonly<{
  config: Config
  /** The config file that was read, absolute; null when there is none. */
  file: string | null
  /** The folder that relative paths are resolved against. */
  base: string
  /** The kind of source of each value, by its path, such as `server.port` or `apps[0].bundle_id`. */
  sourceKindByPath: ReadonlyMap<string, ValueOrigin['kind']>
  /** Where each value was written: `config.toml:12`, `WINDFALL_SERVER_PORT` or a key file. Defaults are absent. */
  locationByPath: ReadonlyMap<string, string>
}>

/** The file that was read, the folder that its paths are relative to, and where each value was written. */
export type ConfigSources = Omit<LoadedConfig, 'config'>

export type LoadOptions = Readonly<{
  /** The config file given with `--config`. By default WINDFALL_CONFIG, then ./config.toml if it exists. */
  path?: string | undefined
  /** The config file to read if nothing else names one and there is no ./config.toml. */
  fallback?: string | null
  env: NodeJS.ProcessEnv
  cwd: string
}>

/**
 * Reads and checks the configuration.
 *
 * @throws ConfigError with every issue. It quotes no secret.
 */
export function loadConfig({ path, fallback = null, env, cwd }: LoadOptions): LoadedConfig {
  const raw = openRawConfig()
  const requestedBy =
    path !== undefined ? '--config' : env.WINDFALL_CONFIG !== undefined ? 'WINDFALL_CONFIG' : null
  const file = configFileAt(path ?? env.WINDFALL_CONFIG, cwd) ?? fallback
  const isReadable = file === null || readConfigFile(raw, file, cwd, requestedBy)
  const variables = findVariables(raw, env)
  if (!isReadable) throw new ConfigError(raw.issues)
  applyVariables(raw, variables)

  const base = file === null ? cwd : dirname(file)
  readSecrets(raw, { base, credentials: env.CREDENTIALS_DIRECTORY })
  const ca = readCaFile(raw, base)
  checkUnknownKeys(raw)
  const { parsed, partial } = parseConfig(raw)
  checkCombinations(raw, partial)
  if (parsed === null || raw.issues.length > 0) throw new ConfigError(sortIssues(raw))

  const config = deepFreeze(resolveDefaults(parsed, base, ca))
  const origins = originsOf(raw, config)
  let locations: ReadonlyMap<string, string> | null = null
  return {
    config,
    file,
    base,
    sourceKindByPath: new Map(origins.map(([path, origin]) => [path, origin?.kind ?? 'default'])),
    get locationByPath() {
      locations ??= locationsOf(origins)
      return locations
    },
  }
}

/** The config file that is read if nothing names one. `folder` is the working directory. */
export const defaultFileIn = (folder: string): string => resolve(folder, 'config.toml')

function configFileAt(named: string | undefined, cwd: string): string | null {
  if (named !== undefined) return resolve(cwd, named)
  const defaultFile = defaultFileIn(cwd)
  return existsSync(defaultFile) ? defaultFile : null
}

/** Reads the file into `raw`. If that fails, returns false and adds an issue; `requestedBy` names the source. */
function readConfigFile(raw: RawConfig, file: string, cwd: string, requestedBy: string | null): boolean {
  const source = displayPath(file, cwd)
  const read = readFile(file)
  if ('problem' in read) {
    const advice = `To create one with every setting: windfall init --path ${source}`
    raw.addIssue([], `${file} ${read.problem}`, advice, {
      kind: 'file',
      source: requestedBy ?? source,
      line: null,
    })
    return false
  }
  const toml = readToml(read.text)
  if ('fault' in toml) {
    const [problem, advice] = tomlIssue(read.text, toml)
    raw.addIssue([], problem, advice, { kind: 'file', source, line: toml.line })
    return false
  }
  Object.assign(raw.values, toml.values)
  for (const path of pathsIn(toml.values, [])) {
    const text = pathText(path)
    const line = () => toml.lines.get(text) ?? null
    raw.origins.set(text, originInFile(source, line, (read.mode & 0o007) !== 0))
  }
  return true
}

/** What is wrong with a text that is no TOML, and what to do. */
function tomlIssue(text: string, found: TomlFault): [problem: string, advice: string] {
  const repeated = repetitionAt(text, found)
  if (repeated === null)
    return [
      `is not valid TOML at column ${found.column}: ${found.fault}`,
      'Each line is key = value, a [section] or a # comment. Put text in quotes.',
    ]
  const { what, isSection, first } = repeated
  return isSection
    ? [
        `${what} is already in line ${first}`,
        `Move the settings of this section below line ${first}, and remove this heading.`,
      ]
    : [`${what} is already set in line ${first}`, 'Remove one of the two lines.']
}

/** The path of every table, list item and value below `tree`. */
function pathsIn(tree: unknown, above: Path): Path[] {
  const keys = Array.isArray(tree) ? [...tree.keys()] : isTable(tree) ? Object.keys(tree) : []
  return keys.flatMap((key) => {
    const path = [...above, key]
    return [path, ...pathsIn(Reflect.get(Object(tree), key), path)]
  })
}

/** Lines are only found when they are shown: the config file is read twice for them. */
const originInFile = (source: string, line: () => number | null, isShared: boolean): ValueOrigin => ({
  kind: 'file',
  source,
  isShared,
  get line() {
    return line()
  },
})

/** The path of a file relative to the working directory, or absolute if it is outside, or if that is the root folder. */
export function displayPath(file: string, cwd: string): string {
  const relativePath = relative(cwd, file)
  const isOutside = relativePath.startsWith('..') || isAbsolute(relativePath)
  return isOutside || dirname(cwd) === cwd ? file : relativePath
}

/** Issues in the order of their lines, then those without a line. */
function sortIssues({ issues }: RawConfig) {
  return issues.toSorted((a, b) => (a.line ?? Number.MAX_SAFE_INTEGER) - (b.line ?? Number.MAX_SAFE_INTEGER))
}

/** Fills in defaults that depend on other settings, and makes paths absolute. */
function resolveDefaults(parsed: ParsedConfig, base: string, ca: string | null): Config {
  const { organizations, outbound } = parsed
  const ca_file = outbound.ca_file === null ? null : resolve(base, outbound.ca_file)
  return {
    ...parsed,
    base_url: parsed.base_url ?? listenUrl(parsed.server),
    store: {
      path: resolve(base, parsed.store.path),
      native_dir: parsed.store.native_dir === null ? null : resolve(base, parsed.store.native_dir),
    },
    backup: { ...parsed.backup, folder: resolve(base, parsed.backup.folder) },
    outbound: { ...outbound, ca_file, ca },
    organizations: organizations.map(({ secret_key_file: _, ...organization }) => ({
      ...organization,
      name: organization.name ?? organization.slug,
    })),
    accounts: parsed.accounts.map(({ connect_key_file: _, purchase_key_file: __, ...account }) => ({
      ...account,
      purchase_issuer_id: account.purchase_issuer_id ?? account.issuer_id,
      organization: organizationOf(account, organizations) ?? 'default',
    })),
    endpoints: parsed.endpoints.map(({ secret_file: _, ...endpoint }) => ({
      ...endpoint,
      headers: endpoint.headers ?? {},
      secrets: endpoint.secrets ?? [],
      organization: organizationOf(endpoint, organizations) ?? 'default',
    })),
    apps: parsed.apps.map((app) => ({
      ...app,
      organization: organizationOf(app, organizations) ?? 'default',
    })),
    alert_channels: parsed.alert_channels.map(({ secrets_file: _, ...channel }) => ({
      ...channel,
      settings: channel.settings ?? {},
      secrets: channel.secrets ?? {},
      organization: organizationOf(channel, organizations) ?? 'default',
    })),
    alert_rules: parsed.alert_rules.map((rule) => ({
      ...rule,
      settings: rule.settings ?? {},
      organization: organizationOf(rule, organizations) ?? 'default',
    })),
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}

/** Where each value of the configuration was written, by its path; null for a default. */
const originsOf = (raw: RawConfig, config: Config): [string, ValueOrigin | null][] =>
  flatten(config).map(([path]) => [pathText(path), raw.has(path) ? raw.originOf(path) : null])

const locationsOf = (origins: readonly [string, ValueOrigin | null][]): Map<string, string> =>
  new Map(origins.flatMap(([path, origin]) => (origin === null ? [] : [[path, originText(origin)]])))

const originText = ({ source, line }: ValueOrigin): string => (line === null ? source : `${source}:${line}`)
