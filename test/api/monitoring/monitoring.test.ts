/** Metrics for Prometheus: who may read them, what they say, and the rules and the board that use them. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { openMetricsText } from '../../../src/api/monitoring/monitoring.ts'
import { openMetricsListener } from '../../../src/http/metrics_listener.ts'
import { BUNDLE } from '../../apple/samples.ts'
import { closedAtEnd } from '../../closing.ts'
import { blocksOf } from '../../docs/snippets.ts'
import { temporaryFolder } from '../../folders.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'
import { folderOf } from '../../processes.ts'

const DEPLOY = fileURLToPath(new URL('../../../docs/deploy/prometheus/', import.meta.url))
const PROMTOOL = '/usr/bin/promtool'
const hasPromtool = existsSync(PROMTOOL)
if (!hasPromtool) process.stderr.write('\n*** promtool is missing: its tests are SKIPPED.\n\n')

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

async function scrape(app: TestApp): Promise<string> {
  const answer = await app.request('/internal/metrics', { headers: bearer(await app.token()) })
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return answer.text()
}

/** A server with calls, an endpoint and a finished job, so that every metric has a value. */
async function busy(): Promise<TestApp> {
  const app = await openTestApp()
  await app.post('/api/sdk/v1/identify', { appUserId: 'zoe', bundleId: BUNDLE })
  await app.windfall.jobs.runNow('housekeeping')
  const session = await app.signIn()
  const endpoint = { name: 'backend', url: 'https://backend.example/hooks' }
  await app.post('/api/v1/endpoints', endpoint, session)
  const channel = { name: 'phone', kind: 'ntfy', settings: { topic: 'private-topic' }, secrets: {} }
  await app.post('/api/v1/alerts/channels', channel, session)
  return app
}

test('needs a token for the whole instance, or that of the configuration', async () => {
  const { path } = temporaryFolder()
  const file = join(path, 'token')
  writeFileSync(file, 'long-random-text\n', { mode: 0o600 })
  const app = await openTestApp({ env: { WINDFALL_METRICS_TOKEN_FILE: file } })
  const status = async (headers?: Record<string, string>) =>
    (await app.request('/internal/metrics', headers && { headers })).status
  const { windfall } = app
  const [connected] = windfall.apps.list()
  const scoped = await windfall.store.commit(() =>
    windfall.tokens.create('widget', { organization_id: null, apps: [connected?.id ?? ''] }),
  )
  expect(await status()).toBe(401)
  expect(await status(bearer('long-random-texx'))).toBe(401)
  expect(await status(bearer(scoped.token))).toBe(403)
  expect(await status(await app.signIn())).toBe(200)
  expect(await status(bearer(await app.token()))).toBe(200)
  expect(await status(bearer('long-random-text'))).toBe(200)
})

test('counts requests, and has no user in any label', async () => {
  const app = await busy()
  const text = await scrape(app)
  expect(text).toContain('windfall_http_requests_total{route="POST /api/sdk/v1/identify",status="200"} 1\n')
  expect(text).toContain(
    'windfall_http_request_duration_seconds_count{route="POST /api/sdk/v1/identify"} 1\n',
  )
  expect(text).toMatch(/^windfall_job_failures\{job="housekeeping"\} 0$/m)
  expect(text).toMatch(/^windfall_alert_channel_active\{channel="phone",organization="org_\w+"\} 1$/m)
  expect(text).not.toMatch(/zoe|private-topic/)
})

test('leaves out what nobody knows', async () => {
  const text = await scrape(await openTestApp())
  expect(text).not.toContain('windfall_backup_last_success')
  expect(text).not.toContain('windfall_app_last_notification')
})

test('/metrics tells programs where the metrics are', async () => {
  const app = await openTestApp()
  const ask = (accept: string) => app.request('/metrics', { headers: { accept } })
  const refused = await ask('application/openmetrics-text, text/plain;version=0.0.4;q=0.5, */*;q=0.1')
  expect([refused.status, await refused.text()]).toEqual([
    404,
    'Metrics for Prometheus are at /internal/metrics.\n',
  ])
  expect((await ask('text/html,*/*;q=0.8')).status).toBe(200)
})

test('a listener of its own needs no token, and serves nothing else', async () => {
  const { windfall } = await openTestApp()
  const read = openMetricsText(windfall)
  const options = { host: '127.0.0.1', port: 0, path: '/internal/metrics', type: 'text/plain', read }
  const { port } = closedAtEnd(await openMetricsListener({ ...options, log: windfall.log }))
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  expect(await (await ask('/internal/metrics')).text()).toContain('windfall_build_info')
  expect((await ask('/api/v1/apps')).status).toBe(404)
})

test('the rules and the board use metrics that exist', async () => {
  const app = await busy()
  const text = await scrape(app)
  const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name))
  // Absent while nothing is behind, no backup was made, and nothing waits.
  for (const name of [
    'windfall_metrics_due_since_timestamp_seconds',
    'windfall_backup_last_success_timestamp_seconds',
    'windfall_endpoint_oldest_waiting_timestamp_seconds',
    'windfall_app_last_notification_timestamp_seconds',
    'windfall_alert_channel_last_success_timestamp_seconds',
  ])
    known.add(name)
  const used = ['windfall.rules.yml', 'windfall.grafana.json'].flatMap((name) => [
    ...readFileSync(join(DEPLOY, name), 'utf8').matchAll(/\b((?:windfall|process)_\w+)/g),
  ])
  const names = [...new Set(used.map(([, name = '']) => name.replace(/_(bucket|sum|count)$/, '')))]
  expect(names.filter((name) => !known.has(name))).toEqual([])
  const page = readFileSync(new URL('../../../docs/monitoring.md', import.meta.url), 'utf8')
  expect([...known].filter((name) => !page.includes(`\`${name}`))).toEqual([])
})

describe.runIf(hasPromtool)('promtool', () => {
  const promtool = (args: string[], input?: string) =>
    spawnSync(PROMTOOL, args, { cwd: DEPLOY, input, encoding: 'utf8' })

  test('accepts the metrics, the rules and their tests', async () => {
    const text = await scrape(await busy())
    expect(promtool(['check', 'metrics'], text)).toMatchObject({ status: 0, stderr: '' })
    expect(promtool(['check', 'rules', 'windfall.rules.yml'])).toMatchObject({ status: 0 })
    expect(promtool(['test', 'rules', 'windfall.test.yml'])).toMatchObject({ status: 0 })
  })

  test('accepts the configuration in docs/monitoring.md', () => {
    const [{ text = '' } = {}] = blocksOf('docs/monitoring.md').filter(({ language }) => language === 'yaml')
    const cwd = folderOf({ 'prometheus.yml': text.replace('/etc/prometheus/', ''), windfall_token: 'wf_1' })
    copyFileSync(join(DEPLOY, 'windfall.rules.yml'), join(cwd, 'windfall.rules.yml'))
    const { status, stderr } = spawnSync(PROMTOOL, ['check', 'config', 'prometheus.yml'], {
      cwd,
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([0, ''])
  })
})
