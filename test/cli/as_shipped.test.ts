/** The built server with the machine's clocks, and receivers that fail: what only real time and real processes show. */
import { expect, test } from 'vitest'
import { openHttpReceiver } from '../forwarding/receiving.ts'
import { folderOf, run, startServing } from '../processes.ts'

const BUNDLE = 'com.example.lantern'

/** A folder whose config.toml has one app and an endpoint that gets the events of SDK calls. */
const folderFor = (url: string): string =>
  folderOf({
    'config.toml': `[outbound]
allow = ["127.0.0.1/32"]
[[apps]]
bundle_id = "${BUNDLE}"
[[endpoints]]
name = "backend"
url = "${url}"
types = ["customer.identified"]
secrets = ["whsec_${Buffer.alloc(32, 5).toString('base64')}"]
`,
  })

test('a second failure in a row of an endpoint is stored, with the time of its third attempt', async () => {
  const receiver = await openHttpReceiver(() => 500)
  const cwd = folderFor(receiver.url)
  const server = await startServing({ cwd })
  const identify = { appUserId: 'maria', bundleId: BUNDLE }
  const answer = await fetch(`${server.url}/api/sdk/v1/identify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(identify),
  })
  expect(answer.status).toBe(200)
  // The second attempt follows after five seconds.
  const delivery = async () => {
    const { stdout } = await run(['webhooks', 'log', '--json'], { cwd })
    const { deliveries } = JSON.parse(stdout) as { deliveries: { attempts: number; next_at: number }[] }
    return deliveries[0]
  }
  await expect.poll(async () => (await delivery())?.attempts, { interval: 500 }).toBe(2)
  const { next_at = 0 } = (await delivery()) ?? {}
  expect(next_at - Date.now()).toBeGreaterThan(2 * 60_000)
  expect(receiver.requests).toHaveLength(2)
  const listed = JSON.parse((await run(['webhooks', 'list', '--json'], { cwd })).stdout)
  expect(JSON.stringify(listed)).toContain('"state":"active"')
  server.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ status: 0, stderr: '' })
  expect(server.lines().filter(({ level }) => level === 'error')).toEqual([])
})
