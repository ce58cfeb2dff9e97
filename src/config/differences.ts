/** What we compute: what a new configuration changes for a process that runs with an old one. */
import { isDeepStrictEqual } from 'node:util'
import { ownAddress } from './base_url.ts'
import { apple, limits, log, metrics, server, store } from './server.ts'
import { isTable, type Setting } from './setting.ts'
import type { Config } from './settings.ts'

/** Paths of settings that differ (organizations and apps as a whole): what a reload takes over, what asks for a restart. */
type Differences = Readonly<{ reloadable: string[]; restart: string[] }>

export function differences(before: Config, after: Config): Differences {
  const running = takenOver(before, after)
  // A base URL that nobody wrote follows the port: it needs no line beside the port's own.
  const restart = changes(running, after).filter((path) => path !== 'base_url')
  return { reloadable: changes(before, running), restart }
}

/** What applies after a reload: `after`, but with what only a restart can change left as it was. */
export function takenOver(before: Config, after: Config): Config {
  const running = {
    ...after,
    server: keep(server, before.server, after.server),
    store: keep(store, before.store, after.store),
    log: keep(log, before.log, after.log),
    limits: keep(limits, before.limits, after.limits),
    apple: keep(apple, before.apple, after.apple),
    metrics: keep(metrics, before.metrics, after.metrics),
  }
  const is_own = after.base_url === ownAddress(after.server)
  return Object.freeze({ ...running, base_url: is_own ? ownAddress(running.server) : after.base_url })
}

function keep<Values extends object>(
  settings: Readonly<Record<string, Setting>>,
  before: Values,
  after: Values,
): Values {
  const kept = Object.entries(before).filter(([key]) => settings[key]?.restart)
  return Object.freeze({ ...after, ...Object.fromEntries(kept) })
}

function changes(before: Config, after: Config): string[] {
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
