/** Compares a new configuration with the running one: what a reload applies and what needs a restart. */
import { isDeepStrictEqual } from 'node:util'
import { listenUrl } from './base_url.ts'
import { isTable } from './setting.ts'
import { type Config, SECTIONS } from './settings.ts'

/** Paths of settings that differ (organizations and apps as a whole), by whether a reload applies them. */
type ConfigDiff = Readonly<{ reloadable: string[]; restart: string[] }>

/** Compares two configurations. `before` is the running one. */
export function diffConfig(before: Config, after: Config): ConfigDiff {
  const running = reloadedConfig(before, after)
  // A configured `base_url` is reloadable, so it is equal here. A derived one differs only together with the listen
  // address, which the list contains.
  const restart = changedPaths(running, after).filter((path) => path !== 'base_url')
  return { reloadable: changedPaths(before, running), restart }
}

/** The configuration after a reload: `after`, except for settings that need a restart, which keep their old values. */
export function reloadedConfig(before: Config, after: Config): Config {
  const tables = RESTART_SECTIONS.map(({ name, settings }) => {
    const kept = Object.entries(tableOf(before, name)).filter(([key]) => settings[key]?.restart)
    return [name, Object.freeze({ ...tableOf(after, name), ...Object.fromEntries(kept) })]
  })
  const running: Config = { ...after, ...Object.fromEntries(tables) }
  const isDefaultUrl = after.base_url === listenUrl(after.server)
  return Object.freeze({ ...running, base_url: isDefaultUrl ? listenUrl(running.server) : after.base_url })
}

/**
 * The sections with settings that need a restart. None is a list, because a reload can reorder the entries of a list.
 */
const RESTART_SECTIONS = SECTIONS.filter(({ settings }) =>
  Object.values(settings).some(({ restart }) => restart),
)

function tableOf(config: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> {
  const value = config[name]
  return isTable(value) ? value : {}
}

function changedPaths(before: Config, after: Config): string[] {
  const old = valuesOf(before)
  return [...valuesOf(after)].flatMap(([path, value]) =>
    isDeepStrictEqual(old.get(path), value) ? [] : path,
  )
}

function valuesOf(config: Config): ReadonlyMap<string, unknown> {
  const entries = Object.entries(config).flatMap(([name, value]): [string, unknown][] =>
    isTable(value) ? Object.entries(value).map(([key, inner]) => [`${name}.${key}`, inner]) : [[name, value]],
  )
  return new Map(entries)
}
