import { spawn } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openAuthority } from '../../../src/demo/signing/authority.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import { openAppStore } from '../../../src/demo/store/store.ts'
import { folderOf, start, startServing } from '../../processes.ts'

const DAY = 86_400_000
const source = (path: string) => JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href)

/** Both commands as they are, but for where Apple is and how long they wait for it. */
const folder = folderOf()
const entryOf = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const serving = entryOf(
  'serving.mjs',
  `import { serveUntilStopped } from ${source('cli/serve.ts')}
import { loadConfig } from ${source('config/load.ts')}
const { ROOT_PEM, HOSTS, ...env } = process.env
const apple = { roots: [ROOT_PEM], hosts: JSON.parse(HOSTS) }
await serveUntilStopped(() => loadConfig({ env, cwd: process.cwd() }), apple)
`,
)
const connecting = entryOf(
  'connecting.mjs',
  `import { setTimeout } from 'node:timers/promises'
import { connectWith } from ${source('cli/connect/flow.ts')}
const loadOptions = { env: {}, cwd: process.cwd() }
const { stdin: input, stdout: output } = process
const wait = (ms) => setTimeout(ms / 20)
const hosts = JSON.parse(process.env.HOSTS)
await connectWith({ loadOptions, flags: {}, interactive: true, test: true, input, output, hosts, wait })
`,
)

/** What the walk says when these lines are piped into it. */
function walk(cwd: string, env: Record<string, string>, lines: readonly string[]): Promise<string> {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [connecting], { cwd, env: { PATH, NODE_COMPILE_CACHE, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  return new Promise((resolve) => child.once('close', () => resolve(output)))
}

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s in the middle ends it, and says that nothing was written',
  async (signal) => {
    const cwd = folderOf()
    const hosts = {
      connect: 'http://127.0.0.1:1',
      server: { production: 'http://127.0.0.1:1', sandbox: 'http://127.0.0.1:1' },
    }
    const prompting = start([], { cwd, entry: connecting, env: { HOSTS: JSON.stringify(hosts) } })
    await prompting.until((text) => /Key file/.exec(text))
    prompting.kill(signal)
    expect(await prompting.ended).toMatchObject({ status: 130, stderr: '' })
    expect(prompting.stdout()).toMatch(/\nNothing was written\.\n$/)
    expect(readdirSync(cwd)).toEqual([])
  },
)

test('from two key files to an arrived notification, between two processes', async () => {
  const clock = Date.now
  const authority = await openAuthority({ now: clock() })
  const until = clock()
  const simulation = openSimulation({ seed: 1, from: until - 30 * DAY, until, subscribers: 1, authority })
  const store = await openAppStore({ simulation, authority, clock })
  onTestFinished(store.close)
  const cwd = folderOf({
    'AuthKey_CNCT4K7W2Q.p8': store.connect_key.private_key,
    'SubscriptionKey_PRCH9M3X5L.p8': store.purchase_key.private_key,
    'config.toml': '# mine\n',
  })
  const env = { HOSTS: JSON.stringify(store.hosts) }
  const serve = () => startServing({ cwd, entry: serving, env: { ...env, ROOT_PEM: authority.root_pem } })
  const running = await serve()
  store.faults.notification_url = `${running.url}/apple/notifications`
  const keys = ['AuthKey_CNCT4K7W2Q.p8', '', store.connect_key.issuer_id ?? '', store.vendor_number]
  const output = await walk(cwd, env, [...keys, 'SubscriptionKey_PRCH9M3X5L.p8', '', '', 'y', 'y'])
  expect(output).toContain('✓ The running server uses the new settings.')
  expect(output.match(/✓ com\.lanternlabs\.\w+, \w+: a test notification arrived/g)).toHaveLength(6)
  expect(output).toContain('The import of the past year has started.')
  await running.logged('import finished')
  running.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ status: 0, stderr: '' })

  // Whenever it starts it looks at once: the keys may have been written while it was stopped.
  const again = await serve()
  expect(again.lines().filter(({ message }) => message === 'import finished')).toEqual([])
  await again.logged('import finished')
})
