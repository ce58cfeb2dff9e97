import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { folderOf, run, start } from '../processes.ts'

/** The first event of the live stream. */
async function firstEvent(url: string, token: string): Promise<unknown> {
  const answer = await fetch(`${url}/api/v1/events/stream`, { headers: { authorization: `Bearer ${token}` } })
  let text = ''
  for await (const chunk of answer.body ?? []) {
    text += new TextDecoder().decode(chunk)
    const [, data] = /^data: (.*)\n\n/m.exec(text) ?? []
    if (data !== undefined) return JSON.parse(data)
  }
  throw new Error(`the stream ended: ${text}`)
}

// Two years take their time to play, so these two do it at the same time.
const patient = { timeout: 90_000 }

test.concurrent('the demo can only fill, say what it did, and leave nothing behind', patient, async () => {
  const cwd = folderOf()
  const TMPDIR = folderOf()
  const { status, stdout, stderr } = await run(['demo', '--once', '--seed', '3'], { cwd, env: { TMPDIR } })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(
    /^Playing two years of a simulated company …\n\d{4,} notifications and calls in \d+\.\d s: \d{4,} events\.\n$/,
  )
  expect([readdirSync(cwd), readdirSync(TMPDIR)]).toEqual([[], []])
})

test.concurrent(
  'the demo serves what it played, goes on living, and is gone with Ctrl-C',
  patient,
  async () => {
    const cwd = folderOf()
    const TMPDIR = folderOf()
    const demo = start(['demo'], { cwd, env: { TMPDIR } })
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
    expect(await firstEvent(url, token)).toMatchObject({ origin: 'live', data })
    const told = await fetch(`${url}/api/sdk/v1/identify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    })
    expect(told.status).toBe(200)

    demo.kill('SIGINT')
    expect(await demo.ended).toMatchObject({ status: 0, stderr: '' })
    expect([readdirSync(cwd), readdirSync(TMPDIR)]).toEqual([[], []])
  },
)

test.each([
  [['--seed', 'x'], 1, '--seed takes a whole number; x is none'],
  [['--port', 'x'], 2, 'WINDFALL_SERVER_PORT'],
])(
  'a demo that cannot be had (%j) is refused in words and leaves nothing behind',
  async (args, code, words) => {
    const TMPDIR = folderOf()
    const { status, stdout, stderr } = await run(['demo', ...args], { cwd: folderOf(), env: { TMPDIR } })
    expect({ status, stdout }).toEqual({ status: code, stdout: '' })
    expect(stderr).toContain(words)
    expect(readdirSync(TMPDIR)).toEqual([])
  },
)
