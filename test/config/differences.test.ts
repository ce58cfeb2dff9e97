import { expect, test } from 'vitest'
import { withPort } from '../../src/config/base_url.ts'
import { diffConfig, reloadedConfig } from '../../src/config/differences.ts'
import { SECTIONS } from '../../src/config/settings.ts'
import { configured } from './folder.ts'

const config = (toml: string) =>
  configured(`${toml}\n[store]\npath = "/w.db"\n[backup]\nfolder = "/backups"`).config

test('reports no difference between equal configurations', () => {
  const toml = 'base_url = "https://a.b"\n[[apps]]\nbundle_id = "com.a"'
  expect(diffConfig(config(toml), config(toml))).toEqual({ reloadable: [], restart: [] })
})

test.each([
  ['base_url = "https://a.b"', 'base_url'],
  ['[log]\nlevel = "debug"', 'log.level'],
  ['[limits]\nsdk_requests_per_minute = 1', 'limits.sdk_requests_per_minute'],
  ['[limits]\nanonymous_requests_per_minute = 1', 'limits.anonymous_requests_per_minute'],
  ['[limits]\nsdk_body_bytes = 2000', 'limits.sdk_body_bytes'],
  ['[limits]\napple_body_bytes = 70000', 'limits.apple_body_bytes'],
  ['[limits]\nattributes_per_user = 1', 'limits.attributes_per_user'],
  ['[users]\nprune_after_days = 90', 'users.prune_after_days'],
  ['[server]\ntrusted_proxies = []', 'server.trusted_proxies'],
  ['[server]\nhosts = ["a.b"]', 'server.hosts'],
  ['[rates]\nfetch = false', 'rates.fetch'],
  ['[jobs]\nimport = "off"', 'jobs.import'],
  ['[jobs]\nrates = "5 4 * * 1-5"', 'jobs.rates'],
  ['[jobs]\njitter_percent = 0', 'jobs.jitter_percent'],
  ['[[organizations]]\nslug = "a"', 'organizations'],
  ['[[accounts]]\nissuer_id = "69a6de70-03db-47e3-e053-5b8c7c11a4d1"', 'accounts'],
  ['[[apps]]\nbundle_id = "com.a"', 'apps'],
])('a reload takes over %j', (toml, path) => {
  const [before, after] = [config(''), config(toml)]
  expect(diffConfig(before, after)).toEqual({ reloadable: [path], restart: [] })
  expect(reloadedConfig(before, after)).toEqual(after)
})

test.each([
  ['[server]\nhost = "localhost"', 'server.host'],
  ['[server]\nport = 1', 'server.port'],
  ['[server]\nmax_connections = 1', 'server.max_connections'],
  ['[server]\nheaders_timeout_seconds = 1', 'server.headers_timeout_seconds'],
  ['[server]\nrequest_timeout_seconds = 11', 'server.request_timeout_seconds'],
  ['[server]\nkeep_alive_seconds = 1', 'server.keep_alive_seconds'],
  ['[server]\nshutdown_seconds = 1', 'server.shutdown_seconds'],
  ['[log]\nformat = "json"', 'log.format'],
  ['[metrics]\nfactors = "revenuecat"', 'metrics.factors'],
])('%j needs a restart, and until then nothing changes', (toml, path) => {
  const [before, after] = [config(''), config(toml)]
  expect(diffConfig(before, after)).toEqual({ reloadable: [], restart: [path] })
  expect(reloadedConfig(before, after)).toEqual(before)
})

test('only settings of plain sections need a restart', () => {
  const others = SECTIONS.filter(({ name, list }) => list || name === '')
  expect(others.flatMap(({ settings }) => Object.values(settings).filter(({ restart }) => restart))).toEqual(
    [],
  )
})

test('requires a restart for another database file', () => {
  const [before, after] = [
    config(''),
    configured('[store]\npath = "/x.db"\n[backup]\nfolder = "/backups"').config,
  ]
  expect(diffConfig(before, after)).toEqual({ reloadable: [], restart: ['store.path'] })
})

test('lists each of several changes', () => {
  const before = config('[server]\nport = 1\n[log]\nlevel = "info"')
  const after = config(
    'base_url = "https://a.b"\n[server]\nport = 2\n[log]\nlevel = "debug"\nformat = "json"',
  )
  expect(diffConfig(before, after)).toEqual({
    reloadable: ['base_url', 'log.level'],
    restart: ['server.port', 'log.format'],
  })
  expect(reloadedConfig(before, after)).toEqual({
    ...after,
    server: before.server,
    log: { level: 'debug', format: 'auto' },
  })
})

test('derives a removed base URL from the port that is still in use', () => {
  const before = config('base_url = "https://a.b"\n[server]\nport = 0')
  const after = config('[server]\nport = 2')
  expect(diffConfig(before, after)).toEqual({ reloadable: ['base_url'], restart: ['server.port'] })
  expect(withPort(reloadedConfig(before, after), 54_321).base_url).toBe('http://127.0.0.1:54321')
})
