/** Runs the receivers of docs/webhooks.md as they are printed, with stand-ins for the packages they talk to. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../folders.ts'

const ROOT = new URL('../../', import.meta.url)
const STANDARD_WEBHOOKS = fileURLToPath(new URL('node_modules/standardwebhooks', ROOT))

/** A request to a receiver. */
export type ReceivedRequest = { body: string; headers: Record<string, string> }
/** The answer of a receiver, and what it handed to the database. */
export type Reception = { status: number; stored: { id: string; event: unknown }[] }

/** The page. */
export const webhooksPage = (): string => readFileSync(new URL('docs/webhooks.md', ROOT), 'utf8')

/** The code of the page whose first line is a comment with this file name. @throws Error if there is none. */
export function printedCode(file: string): string {
  const blocks = [...webhooksPage().matchAll(/```\w+\n(\/\/ .*\n[\s\S]*?)```/g)].map(([, code = '']) => code)
  const found = blocks.find((code) => code.startsWith(`// ${file}`))
  if (found === undefined) throw new Error(`docs/webhooks.md has no ${file}`)
  return found
}

/** An event with this id cannot be stored. */
export const FAILING_ID = 'evt_failing'

/** What a receiver imports, and does not verify with. */
const STAND_INS = {
  'database.mjs': `export const stored = []
export function store(id, event) {
  if (id === '${FAILING_ID}') throw new Error('the database is down')
  stored.push({ id, event: typeof event === 'string' ? JSON.parse(event) : event })
}
`,
  'node_modules/pg/package.json': '{ "type": "module", "exports": "./index.js" }',
  'node_modules/pg/index.js': `import { store } from '../../database.mjs'
export class Pool {
  async query(sql, [id, event]) {
    if (sql === 'select receive_webhook($1, $2)') store(id, event)
  }
}
export default { Pool }
`,
  'node_modules/@supabase/supabase-js/package.json': '{ "type": "module", "exports": "./index.js" }',
  'node_modules/@supabase/supabase-js/index.js': `import { store } from '../../../database.mjs'
export const createClient = () => ({
  async rpc(name, { webhook_id, event }) {
    try {
      if (name === 'receive_webhook') store(webhook_id, event)
      return { error: null }
    } catch (error) {
      return { error }
    }
  },
})
`,
  'node_modules/express/package.json': '{ "type": "module", "exports": "./index.js" }',
  'node_modules/express/index.js': `import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
export default function express() {
  let handle
  return {
    post: (path, parse, handler) => void (handle = handler),
    listen: (port) =>
      createServer(async (request, response) => {
        request.body = await buffer(request)
        response.status = (status) => Object.assign(response, { statusCode: status })
        await handle(request, response)
      }).listen(port),
  }
}
express.raw = () => 'raw'
`,
}

/** Sends each request to the receiver and prints what came of it. A server listens on a free port instead of its own. */
const MAIN = `import { readFileSync } from 'node:fs'
import { Server } from 'node:http'
import { stored } from './database.mjs'

const listen = Server.prototype.listen
let server, handler
Server.prototype.listen = function () {
  server = this
  return listen.call(this, 0, '127.0.0.1')
}
globalThis.Deno = {
  env: { get: (name) => process.env[name] },
  serve: (serve) => void (handler = serve),
}
console.log = console.error = () => {}

const { POST } = await import('./' + process.argv[2])
handler ??= POST
if (server && !server.listening) await new Promise((resolve) => server.once('listening', resolve))

async function answerTo({ body, headers }) {
  const request = { method: 'POST', body, headers }
  if (server) return fetch('http://127.0.0.1:' + server.address().port + '/webhooks/windfall', request)
  // Frameworks answer 500 when a handler throws.
  return handler(new Request('http://receiver.test/webhooks/windfall', request)).catch(() => ({ status: 500 }))
}

const receptions = []
for (const request of JSON.parse(readFileSync('requests.json'))) {
  stored.length = 0
  const { status } = await answerTo(request)
  receptions.push({ status, stored: [...stored] })
}
process.stdout.write(JSON.stringify(receptions))
process.exit()
`

/** Runs the printed receiver `file` with a signing secret on requests, one after another. @throws Error if it fails */
export function receive(file: string, secret: string, requests: ReceivedRequest[]): Reception[] {
  const { path, remove } = temporaryFolder()
  const code = printedCode(file).replaceAll(/'npm:(@?[^@']+)@\d+'/g, "'$1'")
  const receiver = file.endsWith('.ts') ? 'receiver.mts' : 'receiver.mjs'
  const files = {
    ...STAND_INS,
    'main.mjs': MAIN,
    [receiver]: code,
    'requests.json': JSON.stringify(requests),
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  symlinkSync(STANDARD_WEBHOOKS, join(path, 'node_modules/standardwebhooks'))
  const env = { ...process.env, WINDFALL_WEBHOOK_SECRET: secret }
  const { stdout, stderr } = spawnSync(process.execPath, ['main.mjs', receiver], {
    cwd: path,
    env,
    encoding: 'utf8',
  })
  remove()
  if (stdout === '') throw new Error(`${file} failed: ${stderr}`)
  return JSON.parse(stdout)
}
