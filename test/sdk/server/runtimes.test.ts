/** The kit runs where it says: with the globals of edge runtimes alone, and in the long form on Node 18, Deno and Bun. */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { exampleOf } from '../../../src/forwarding/bodies/test_event.ts'
import { headersOf } from '../../../src/forwarding/sending/requests.ts'
import { newSecret } from '../../../src/forwarding/sending/signature.ts'
import { BUNDLE, renewedPayload } from '../../apple/samples.ts'
import { temporaryFolder } from '../../folders.ts'
import { isLong } from '../../random.ts'
import { openServed } from './serving.ts'

const MOST_GZIP_BYTES = 6_144
const VERSIONS = { node: '18.20.8', bun: '1.4.5', deno: '2.9.6' }

async function bundled(format: 'esm' | 'iife', minify = false) {
  const { outputFiles, metafile } = await build({
    entryPoints: ['sdk/js/src/server/server.ts'],
    bundle: true,
    format,
    minify,
    globalName: 'kit',
    target: 'es2022',
    write: false,
    metafile: true,
  })
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports)
  return { code: outputFiles[0]?.text ?? '', imports: imports.map(({ path }) => path) }
}

/** What every runtime does: it verifies a webhook, refuses a forged one, and calls a Windfall. */
const PROGRAM = `
async function check(kit, { url, secretKey, readToken, body, headers, secret, other }) {
  const typeOf = (secrets) => kit.verifyWebhook(body, headers, secrets).then((event) => event.type, (error) => error.code)
  const verified = [await typeOf(secret), await typeOf([other, secret]), await typeOf(other)]
  const client = kit.createClient({ url, secretKey, readToken })
  const { products } = await client.access('user-1')
  const types = []
  for await (const event of client.readEvents({ after: 0, limit: 1 })) types.push(event.type)
  const { code } = await client.identify({ appUserId: 'null', bundleId: '' }).catch((error) => error)
  const down = kit.createClient({ url: 'http://127.0.0.1:1', secretKey, retries: 0 })
  const unreachable = await down.access('user-1').catch((error) => error.code)
  return JSON.stringify([verified, products.length, types, code, unreachable])
}`

async function openChecked() {
  const app = await openServed()
  await app.notify(renewedPayload(app.authority))
  await app
    .clientOf()
    .attribute({ appUserId: 'user-1', bundleId: BUNDLE, originalTransactionId: '2000000000000001' })
  const [secret, other] = [newSecret(), newSecret()]
  const body = JSON.stringify(exampleOf('subscription.renewed'))
  const delivery = { event_id: 'evt_1', attempts: 0, replay_id: null }
  const signed = {
    kind: 'events',
    delivery,
    body: Buffer.from(body),
    secrets: [secret],
    ownHeaders: {},
  } as const
  const headers = headersOf({ ...signed, now: Date.now() })
  const [secretKey, readToken] = [await app.key('secret'), await app.token()]
  const input = { url: app.url, secretKey, readToken, body, headers, secret, other }
  const types = app.feed().map(({ type }) => type)
  const verified = ['subscription.renewed', 'subscription.renewed', 'wrong_signature']
  return { input, expected: [verified, 1, types, 'invalid_request', 'unreachable'] }
}

test.each(['with WebCrypto', 'without WebCrypto'])(
  'the globals of edge runtimes suffice (%s)',
  async (crypto) => {
    const { input, expected } = await openChecked()
    const web = { fetch, TextEncoder, TextDecoder, AbortController, setTimeout, clearTimeout, atob }
    const context = createContext(crypto === 'with WebCrypto' ? { ...web, crypto: globalThis.crypto } : web)
    const code = `${(await bundled('iife')).code}\n${PROGRAM}\ncheck(kit, ${JSON.stringify(input)})`
    expect(JSON.parse(await runInContext(code, context))).toEqual(expected)
  },
)

test('the kit imports nothing and is small', async () => {
  const { code, imports } = await bundled('esm', true)
  expect(imports).toEqual([])
  expect(gzipSync(code).length).toBeLessThan(MOST_GZIP_BYTES)
})

test.runIf(isLong)('the kit runs on Node 18, Deno and Bun', { timeout: 300_000 }, async () => {
  const { input, expected } = await openChecked()
  const { path } = temporaryFolder()
  const allowed = Object.fromEntries(Object.keys(VERSIONS).map((name) => [name, true]))
  mkdirSync(path, { recursive: true })
  writeFileSync(
    join(path, 'package.json'),
    JSON.stringify({ private: true, dependencies: VERSIONS, allowScripts: allowed }),
  )
  writeFileSync(join(path, 'kit.mjs'), (await bundled('esm')).code)
  const main = `import * as kit from './kit.mjs'\n${PROGRAM}\nconsole.log(await check(kit, ${JSON.stringify(input)}))`
  writeFileSync(join(path, 'main.mjs'), main)
  const run = promisify(execFile)
  await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: path })
  for (const [name, ...args] of [['node'], ['bun'], ['deno', 'run', '--allow-net']]) {
    const { stdout } = await run(join(path, `node_modules/.bin/${name}`), [...args, 'main.mjs'], {
      cwd: path,
    })
    expect(JSON.parse(stdout), name).toEqual(expected)
  }
})
