/** What we compute: the configuration that applies: what the environment says, else the file, else the defaults. */
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { ownAddress } from './base_url.ts'
import { findCombinations, ownerOf } from './checks/combinations.ts'
import { ConfigError, pathText } from './checks/issues.ts'
import { findFaults } from './checks/schema_issues.ts'
import { findUnknown } from './checks/unknown_keys.ts'
import { leavesOf } from './flatten.ts'
import { type Draft, type Origin, openDraft } from './raw_config.ts'
import type { Config, Written } from './settings.ts'
import { findVariables, takeVariables } from './sources/environment.ts'
import { readFile } from './sources/files.ts'
import { readSecrets } from './sources/secrets.ts'
import { readToml } from './sources/toml.ts'

export type Loaded = Readonly<{
  config: Config
  /** The config file that was read, absolute; null when there is none. */
  file: string | null
  /** The folder in which relative paths begin. */
  base: string
  /** What said each value, by its path as in `server.port` or `apps[0].bundle_id`. */
  sources: ReadonlyMap<string, Origin['kind']>
  /** The same for people: `config.toml:12`, `WINDFALL_SERVER_PORT` or a key file. Defaults have none. */
  places: ReadonlyMap<string, string>
}>

/** Which file was read, where its paths begin, and who said each value. */
export type Whereabouts = Omit<Loaded, 'config'>

export type Surroundings = Readonly<{
  /** The config file that was asked for by name (`--config`). Without it: WINDFALL_CONFIG, then ./config.toml if it is there. */
  path?: string | undefined
  env: NodeJS.ProcessEnv
  cwd: string
}>

/**
 * Reads the configuration.
 *
 * @throws ConfigError with everything that is wrong with it. No secret is quoted.
 */
export function loadConfig({ path, env, cwd }: Surroundings): Loaded {
  const draft = openDraft()
  const asked = path !== undefined ? '--config' : env.WINDFALL_CONFIG !== undefined ? 'WINDFALL_CONFIG' : null
  const file = fileToRead(path ?? env.WINDFALL_CONFIG, cwd)
  const is_legible = file === null || readConfigFile(draft, file, cwd, asked)
  const variables = findVariables(draft, env)
  if (!is_legible) throw new ConfigError(draft.complaints)
  takeVariables(draft, variables)

  const base = file === null ? cwd : dirname(file)
  readSecrets(draft, { base, credentials: env.CREDENTIALS_DIRECTORY })
  findUnknown(draft)
  const { written, partial } = findFaults(draft)
  findCombinations(draft, partial)
  if (written === null || draft.complaints.length > 0) throw new ConfigError(inOrder(draft))

  const config = frozen(fill(written, base))
  return { config, file, base, ...whereabouts(draft, config) }
}

function fileToRead(named: string | undefined, cwd: string): string | null {
  if (named !== undefined) return resolve(cwd, named)
  const usual = resolve(cwd, 'config.toml')
  return existsSync(usual) ? usual : null
}

/** Puts the file into the draft; false when it cannot be read, of which is complained to who `asked` for it. */
function readConfigFile(draft: Draft, file: string, cwd: string, asked: string | null): boolean {
  const source = shown(file, cwd)
  const read = readFile(file)
  if ('problem' in read) {
    const advice = `To have one with every setting in it: windfall init --path ${source}`
    draft.complain([], `${file} ${read.problem}`, advice, {
      kind: 'file',
      source: asked ?? source,
      line: null,
    })
    return false
  }
  const toml = readToml(read.text)
  if ('fault' in toml) {
    const advice = 'Each line is key = value, a [section] or a # comment; text stands in quotes.'
    const origin = { kind: 'file', source, line: toml.line } as const
    draft.complain([], `cannot be read as TOML at column ${toml.column}: ${toml.fault}`, advice, origin)
    return false
  }
  Object.assign(draft.values, toml.values)
  for (const [text, line] of toml.lines) draft.origins.set(text, { kind: 'file', source, line })
  return true
}

/** A file as one would type it here. */
function shown(file: string, cwd: string): string {
  const near = relative(cwd, file)
  return near.startsWith('..') || isAbsolute(near) ? file : near
}

/** The file from top to bottom, then what has no line. */
function inOrder({ complaints }: Draft) {
  return complaints.toSorted(
    (a, b) => (a.line ?? Number.MAX_SAFE_INTEGER) - (b.line ?? Number.MAX_SAFE_INTEGER),
  )
}

/** What follows from other settings, and whole paths. */
function fill(written: Written, base: string): Config {
  const { organizations } = written
  return {
    ...written,
    base_url: written.base_url ?? ownAddress(written.server),
    store: { ...written.store, path: resolve(base, written.store.path) },
    backup: { ...written.backup, folder: resolve(base, written.backup.folder) },
    organizations: organizations.map(({ secret_key_file: _, ...organization }) => ({
      ...organization,
      name: organization.name ?? organization.slug,
    })),
    accounts: written.accounts.map(({ connect_key_file: _, purchase_key_file: __, ...account }) => ({
      ...account,
      purchase_issuer_id: account.purchase_issuer_id ?? account.issuer_id,
      organization: ownerOf(account, organizations) ?? 'default',
    })),
    apps: written.apps.map((app) => ({ ...app, organization: ownerOf(app, organizations) ?? 'default' })),
  }
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(frozen)
  return Object.freeze(value)
}

/** Who said each value of the configuration. */
function whereabouts(draft: Draft, config: Config): Pick<Loaded, 'sources' | 'places'> {
  const sources = new Map<string, Origin['kind']>()
  const places = new Map<string, string>()
  for (const [path] of leavesOf(config)) {
    const origin = draft.has(path) ? draft.originOf(path) : null
    sources.set(pathText(path), origin?.kind ?? 'default')
    if (origin !== null) places.set(pathText(path), placeText(origin))
  }
  return { sources, places }
}

const placeText = ({ source, line }: Origin): string => (line === null ? source : `${source}:${line}`)
