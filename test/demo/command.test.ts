import { readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { folderOf, run, start } from '../processes.ts'

/** The first event of the stream that came live. Others are of lost notifications, which the demo finds afterwards. */
async function firstLiveEvent(url: string, token: string): Promise<unknown> {
  const answer = await fetch(`${url}/api/v1/events/stream`, { headers: { authorization: `Bearer ${token}` } })
  let text = ''
  for await (const chunk of answer.body ?? []) {
    text += new TextDecoder().decode(chunk)
    const events = [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, data = '']) => JSON.parse(data))
    const live = events.find(({ origin }) => origin === 'live')
    if (live !== undefined) return live
  }
  throw new Error(`the stream ended: ${text}`)
}

// Simulating two years takes long, so the company is small and these two tests run at the same time. The browser tests
// have the company of the default size.
const SMALL = ['--subscribers', '200']
const NO_TIMEOUT = { timeout: 240_000 }

test.concurrent(
  'demo --once fills a database, reports what it did, and leaves no files',
  NO_TIMEOUT,
  async () => {
    const cwd = folderOf()
    const TMPDIR = folderOf()
    const { status, stdout, stderr } = await run(['demo', '--once', '--seed', '3', ...SMALL], {
      cwd,
      env: { TMPDIR },
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(
      /^Simulating two years of a company …\n( {2}\d+%, up to \d{4}-\d\d-\d\d\n)*\d{4,} notifications and calls in \d+\.\d s: \d{4,} events\.\n$/,
    )
    expect([readdirSync(cwd), readdirSync(TMPDIR)]).toEqual([[], []])
  },
)

test.concurrent(
  'the demo serves its history, continues live, and is deleted on Ctrl-C',
  NO_TIMEOUT,
  async () => {
    const cwd = folderOf()
    const TMPDIR = folderOf()
    const demo = start(['demo', ...SMALL], { cwd, env: { TMPDIR } })
    const [, url = ''] = await demo.until((text) => /serves on (http:\/\/127\.0\.0\.1:\d+)/.exec(text))
    const [, token = ''] = await demo.until((text) => /Bearer (wf_[0-9a-f]+)'/.exec(text))
    const [, key = ''] = await demo.until((text) => /Bearer (pk_live_[0-9a-f]+)'/.exec(text))
    const [, body = ''] = await demo.until((text) => /-d '(\{.*\})'/.exec(text))
    expect(readdirSync(TMPDIR)).toHaveLength(1)
    await demo.until((text) => /Importing a year of Apple’s daily reports/.exec(text))

    const headers = { authorization: `Bearer ${token}` }
    const page = (await (await fetch(`${url}/api/v1/events?limit=5`, { headers })).json()) as {
      events: { recorded_at: number }[]
    }
    expect(page.events).toHaveLength(5)
    const data = { bundle_id: expect.any(String) }
    expect(await firstLiveEvent(url, token)).toMatchObject({ data })
    const response = await fetch(`${url}/api/sdk/v1/identify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    })
    expect(response.status).toBe(200)

    const paths = [
      ...demo
        .stdout()
        .matchAll(/'(http:\/\/[^']+\/api\/v1\/(?:metrics|overview|history|imports|jobs)[^']*)'/g),
    ]
    expect(paths).toHaveLength(5)
    for (const [, path = ''] of paths) expect((await fetch(path, { headers })).status).toBe(200)
    expect(demo.stdout()).toContain('one in fifty notifications is lost on purpose')
    const [, config = ''] = /-- doctor --config (\S+)/.exec(demo.stdout()) ?? []
    const aimed = await run(['doctor', '--config', config], { cwd })
    expect(aimed.stdout).toContain(`Windfall is running at ${url}.`)
    expect(aimed.stdout).toMatch(
      /\nok +App Store Connect key +\w+: Apple accepts the key, and it can list apps\.\n/,
    )
    expect(aimed.stdout).not.toMatch(/uses the base URL|apple\.com|The file changed/)

    const [, at, once] = /(http:\/\/\S+)\/login#([\w-]{43})\n/.exec(demo.stdout()) ?? []
    const [, password] = /with the password (demo-[\w-]{12})\n/.exec(demo.stdout()) ?? []
    expect(at).toBe(url)
    const login = async (given: object) => {
      const answer = await fetch(`${url}/api/v1/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(given),
      })
      return answer.status
    }
    expect([await login({ token: once }), await login({ token: once })]).toEqual([200, 401])
    expect(await login({ password })).toBe(200)

    demo.kill('SIGINT')
    expect(await demo.ended).toMatchObject({ status: 0, stderr: '' })
    expect([readdirSync(cwd), readdirSync(TMPDIR)]).toEqual([[], []])
  },
)

test.each([
  [['--seed', 'x'], 2, '--seed must be a whole number, not x'],
  [['--subscribers', 'x'], 2, '--subscribers must be a whole number from 50 to 20000, not x'],
  [['--subscribers', '49'], 2, 'from 50 to 20000, not 49'],
  [['--subscribers', '20001'], 2, 'from 50 to 20000, not 20001'],
  [['--subscribers', '99.5'], 2, 'from 50 to 20000, not 99.5'],
  [['--port', 'x'], 2, '--port must be a number from 0 to 65535, not x'],
  [['--port', '65536'], 2, '--port must be a number from 0 to 65535, not 65536'],
])('refuses invalid options (%j) with a message and leaves no files', async (args, code, words) => {
  const TMPDIR = folderOf()
  const { status, stdout, stderr } = await run(['demo', ...args], { cwd: folderOf(), env: { TMPDIR } })
  expect({ status, stdout }).toEqual({ status: code, stdout: '' })
  expect(stderr).toContain(words)
  expect(readdirSync(TMPDIR)).toEqual([])
})

test('reports a port in use before it simulates anything, wherever the port was set', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void taken.close())
  const address = taken.address()
  const port = String(typeof address === 'object' ? address?.port : '')
  const stderr = `Port ${port} is in use; use npm run -s windfall -- demo --port 0 for any free port\n`
  const TMPDIR = folderOf()
  const cwd = folderOf()
  const argumentLists = [
    run(['demo', '--port', port], { cwd, env: { TMPDIR } }),
    run(['demo'], { cwd, env: { TMPDIR, WINDFALL_SERVER_PORT: port } }),
  ]
  for (const ended of await Promise.all(argumentLists))
    expect(ended).toMatchObject({ status: 1, stdout: '', stderr })
  expect(readdirSync(TMPDIR)).toEqual([])
})

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s while it fills deletes everything',
  NO_TIMEOUT,
  async (signal) => {
    const TMPDIR = folderOf()
    const demo = start(['demo', '--port', '0'], { cwd: folderOf(), env: { TMPDIR } })
    await demo.until((text) => /Simulating two years/.exec(text))
    demo.kill(signal)
    expect(await demo.ended).toMatchObject({ status: 130, stderr: '' })
    expect(demo.stdout()).toContain('Stopped. The demo data is deleted.')
    expect(readdirSync(TMPDIR)).toEqual([])
  },
)
