import { expect, test } from 'vitest'
import { runVerb } from '../../src/control/socket.ts'
import { verbsOf } from '../../src/control/verbs.ts'
import { openTestApp } from '../helpers.ts'

async function openJobs(env: Record<string, string> = {}) {
  const app = await openTestApp({ env: { WINDFALL_RATES_FETCH: 'false', ...env } })
  const get = async (path: string, token?: string) => {
    const response = await app.request(path, token ? { headers: { authorization: `Bearer ${token}` } } : {})
    return { status: response.status, body: (await response.json()) as Record<string, never> }
  }
  return {
    app,
    get,
    performVerb: (verb: string, args: unknown) => runVerb(verbsOf(app.windfall), verb, args),
  }
}

test('lists every job with its last run and the next', async () => {
  const { app, get } = await openJobs()
  const { jobs } = app.windfall
  expect((await get('/api/v1/jobs')).status).toBe(401)
  await jobs.runNow('housekeeping')
  const { body } = await get('/api/v1/jobs', await app.token())
  expect(body).toEqual({ jobs: jobs.list() })
  expect(jobs.list().map(({ job }) => job)).toEqual(expect.arrayContaining(['rates', 'housekeeping']))
  expect(jobs.list().find(({ job }) => job === 'housekeeping')).toMatchObject({
    schedule: '17 * * * *',
    outcome: 'deleted 0 expired pending notifications',
    started_at: app.clock(),
    failures: 0,
  })
})

test('shows a reader of one organization the state of jobs without texts about other organizations', async () => {
  const { app, get } = await openJobs()
  const { jobs, tokens, store } = app.windfall
  await jobs.runNow('housekeeping')
  const reach = { organization_id: app.organization.id, apps: null }
  const { token } = await store.commit(() => tokens.create('theirs', reach))
  const { body } = await get('/api/v1/jobs', token)
  expect(body.jobs).toContainEqual(
    expect.objectContaining({ job: 'housekeeping', outcome: null, error: null, finished_at: app.clock() }),
  )
})

test('readiness, which needs no credential, says nothing about jobs', async () => {
  const { app, get } = await openJobs()
  await app.windfall.jobs.runNow('housekeeping')
  const { status, body } = await get('/readyz')
  expect(status).toBe(200)
  expect(Object.keys(body).sort()).toEqual(['checks', 'root_certificate_expires_at', 'status'])
})

test('lists the jobs by a command, and runs one immediately', async () => {
  const { app, performVerb } = await openJobs()
  expect(await performVerb('jobs.run', { name: 'rates' })).toMatchObject({
    job: 'rates',
    failures: 0,
    outcome: expect.stringContaining('new rates from peg; rates.fetch is off'),
  })
  expect(await performVerb('jobs.list', {})).toEqual({ jobs: app.windfall.jobs.list() })
  await expect(performVerb('jobs.run', { name: 'nothing' })).rejects.toMatchObject({ code: 'unknown_job' })
})

test('applies new schedules on reload, and clears the next run of a job that is off', async () => {
  const { app } = await openJobs()
  const { jobs, declare } = app.windfall
  jobs.start()
  const next = (name: string) => jobs.list().find(({ job }) => job === name)?.next_at
  expect(next('housekeeping')).toBe(app.clock())
  await declare({ ...app.config, jobs: { ...app.config.jobs, housekeeping: 'off', rates: '0 0 1 1 *' } })
  expect(next('housekeeping')).toBeNull()
  expect(new Date(next('rates') ?? 0).toISOString()).toMatch(/-01-01T00:00:00/)
})
