/** Compares a new configuration with the running one: what a reload applies and what needs a restart. */
import { isDeepStrictEqual } from 'node:util'
import { listenUrl } from './base_url.ts'
import { apple, limits, log, metrics, server, store } from './server.ts'
import { isTable, type Setting } from './setting.ts'
import type { Config } from './settings.ts'

/** Paths of settings that differ (organizations and apps as a whole), by whether a reload applies them. */
type ConfigDiff = Readonly<{ reloadable: string[]; restart: string[] }>

export function diffConfig(before: Config, after: Config): ConfigDiff {
  const running = reloadedConfig(before, after)
  // `base_url` differs only where it is derived from the listen address, which is in the list already.
  const restart = changedPaths(running, after).filter((path) => path !== 'base_url')
  return { reloadable: changedPaths(before, running), restart }
}

/** The configuration after a reload: `after`, except for settings that need a restart, which keep their old values. */
export function reloadedConfig(before: Config, after: Config): Config {
  const running = {
    ...after,
    server: keepRestartSettings(server, before.server, after.server),
    store: keepRestartSettings(store, before.store, after.store),
    log: keepRestartSettings(log, before.log, after.log),
    limits: keepRestartSettings(limits, before.limits, after.limits),
    apple: keepRestartSettings(apple, before.apple, after.apple),
    metrics: keepRestartSettings(metrics, before.metrics, after.metrics),
  }
  const isDefaultUrl = after.base_url === listenUrl(after.server)
  return Object.freeze({ ...running, base_url: isDefaultUrl ? listenUrl(running.server) : after.base_url })
}

function keepRestartSettings<Values extends object>(
  settings: Readonly<Record<string, Setting>>,
  before: Values,
  after: Values,
): Values {
  const kept = Object.entries(before).filter(([key]) => settings[key]?.restart)
  return Object.freeze({ ...after, ...Object.fromEntries(kept) })
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
