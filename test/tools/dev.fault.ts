/** `npm run dev` on a copy of the sources: a change is applied within two seconds. */
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { folderOf, start } from '../processes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const COPIED = ['src', 'tools', 'schema.sql', 'package.json', 'tsconfig.json']

/** The sources in a folder that a test may change. */
function copyOfSources() {
  const folder = folderOf()
  for (const name of COPIED) cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const replace = (path: string, from: string, to: string): void => {
    const text = readFileSync(join(folder, path), 'utf8')
    expect(text).toContain(from)
    writeFileSync(join(folder, path), text.replace(from, to))
  }
  return { folder, replace }
}

/** Waits for the next time that an open page is told to reload. */
async function listenForReloads(url: string): Promise<() => Promise<void>> {
  const answer = await fetch(`${url}/dev/reloads`)
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  await reader?.read()
  return async () => expect((await reader?.read())?.value).toBe('data: reload\n\n')
}

const textAt = async (url: string): Promise<string> => (await fetch(url)).text()

/** The text of every script and style that a page names. */
async function filesOf(url: string): Promise<string> {
  const names = [...(await textAt(url)).matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)]
  return (await Promise.all(names.map(([, path]) => textAt(`${url}${path}`)))).join('\n')
}

test('a change restarts the server or rebuilds the page, on the same database', {
  timeout: 180_000,
}, async () => {
  const { folder, replace } = copyOfSources()
  const TMPDIR = folderOf()
  const dev = start(['--port', '0', '--subscribers', '50'], {
    cwd: folder,
    entry: join(folder, 'tools/dev/dev.ts'),
    env: { TMPDIR },
  })
  const [, url = ''] = await dev.until((text) => /(http:\/\/127\.0\.0\.1:\d+): a change below src/.exec(text))
  const [, password] = /with the password (\S+)/.exec(dev.stdout()) ?? []
  const signIn = async () => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ password })
    return (await fetch(`${url}/api/v1/login`, { method: 'POST', headers, body })).status
  }
  expect(await signIn()).toBe(200)
  const page = await fetch(`${url}/revenue`)
  expect(page.headers.get('content-security-policy')).toContain("script-src 'self'")
  expect(await page.text()).toContain('<script type="module" src="/dev/reload.js">')
  expect((await fetch(`${url}/nowhere`, { headers: { accept: 'text/html' } })).status).toBe(404)
  const reloaded = await listenForReloads(url)

  replace('src/web/ui/styles/base.css', 'body {', 'body {\n  --changed: 1;')
  await reloaded()
  expect(await filesOf(url)).toContain('--changed: 1')
  expect(dev.stdout()).toMatch(/^src\/web\/ui\/styles\/base\.css: page rebuilt in \d+\.\d s$/m)

  replace('src/api/probes.ts', 'export const ', 'export cons ')
  await dev.until((text) => /The build failed; the server and the page are unchanged/.exec(text))
  expect((await fetch(`${url}/healthz`)).status).toBe(200)

  replace('src/api/probes.ts', 'export cons ', 'export const ')
  replace('src/web/front.ts', 'Page not found', 'Changed.')
  await reloaded()
  expect(await textAt(`${url}/assets/none.js`)).toContain('Changed.')
  expect(dev.stdout()).toMatch(/src\/web\/front\.ts: server restarted in \d+\.\d s$/m)
  expect(await signIn()).toBe(200)
  expect(dev.stdout().match(/Simulating two years/g)).toHaveLength(1)

  dev.kill('SIGINT')
  const { status, stderr } = await dev.ended
  expect(status).toBe(0)
  // esbuild names the place.
  expect(stderr).toContain('src/api/probes.ts:')
  expect(readdirSync(TMPDIR)).toEqual([])
})

test('the production build contains nothing of it', () => {
  const page: Record<string, { br: string }> = JSON.parse(readFileSync(join(root, 'dist/page.json'), 'utf8'))
  const files = Object.values(page).map(({ br }) =>
    brotliDecompressSync(Buffer.from(br, 'base64')).toString(),
  )
  expect(files.length).toBeGreaterThan(10)
  for (const text of [...files, readFileSync(join(root, 'dist/windfall.cjs'), 'utf8')])
    expect(text).not.toContain('/dev/reload')
})
