/** Runs the examples of sdk/js/server.md as they are printed, bundled for another process. */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { temporaryFolder } from '../../folders.ts'
import { DATABASE, PACKAGES } from './stand_ins.ts'

const ROOT = new URL('../../../', import.meta.url)
const SERVER = fileURLToPath(new URL('sdk/js/src/server/server.ts', ROOT))

/** The TypeScript of the page, by the file that the first line of each block names. */
export function examples(): Record<string, string> {
  const page = readFileSync(new URL('sdk/js/server.md', ROOT), 'utf8')
  const blocks = [...page.matchAll(/```ts\n(\/\/ ([\w/.]+)[\s\S]*?)```/g)]
  return Object.fromEntries(blocks.map(([, code = '', file = '']) => [file, code]))
}

type Program = { main: string; files: Readonly<Record<string, string>>; env: Record<string, string> }

/** Bundles a program of several files and runs it. @throws Error with what it printed, if it fails */
export async function run({ main, files, env }: Program): Promise<string> {
  const { path, remove } = temporaryFolder()
  const packages = Object.entries(PACKAGES).map(([name, code]) => [`packages/${name}.mjs`, code] as const)
  for (const [name, code] of [
    ...Object.entries(files),
    ...packages,
    ['main.mjs', main],
    ['database.ts', DATABASE],
  ] as const) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), code)
  }
  const aliases = Object.keys(PACKAGES).map((name) => [name, join(path, `packages/${name}.mjs`)])
  await build({
    entryPoints: [join(path, 'main.mjs')],
    outfile: join(path, 'bundle.mjs'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    external: ['node:*'],
    alias: { 'windfall-sdk/server': SERVER, ...Object.fromEntries(aliases) },
    logLevel: 'error',
  })
  const child = spawn(process.execPath, ['bundle.mjs'], { cwd: path, env: { ...process.env, ...env } })
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)])
  remove()
  if (error !== '') throw new Error(error)
  return out
}

/** Sends each request to a handler of fetch, or to the server that the example starts, and prints what came of it. */
export const receiving = (file: string, requests: readonly object[]): string => `
import { Server } from 'node:http'
const listen = Server.prototype.listen
let server
Server.prototype.listen = function () {
  server = this
  return listen.call(this, 0, '127.0.0.1')
}
const { POST } = await import('./${file}')
const handler = POST ?? globalThis.handler
if (server && !server.listening) await new Promise((resolve) => server.once('listening', resolve))
const answers = []
for (const { body, headers } of ${JSON.stringify(requests)}) {
  globalThis.stored.length = 0
  const init = { method: 'POST', body, headers }
  const answer = server
    ? await fetch('http://127.0.0.1:' + server.address().port + '/webhooks/windfall', init)
    : await handler(new Request('http://receiver.test/', init)).catch(() => new Response('', { status: 500 }))
  answers.push({ status: answer.status, text: await answer.text(), stored: [...globalThis.stored] })
}
process.stdout.write(JSON.stringify(answers))
process.exit()
`
