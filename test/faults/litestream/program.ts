/** The real program Litestream: finds it, or installs it with Go into a folder that later runs use. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { atEndOfEachFile } from '../../closing.ts'

/** The version that docs/litestream.md names. */
export const VERSION = 'v0.5.18'
const MODULE = `github.com/benbjohnson/litestream/cmd/litestream@${VERSION}`
const INSTALL_TIMEOUT_MS = 600_000

const cache = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  `windfall-tests/litestream-${VERSION}`,
)
const folders = [cache, join(homedir(), 'go/bin'), ...(process.env.PATH ?? '').split(':')]
const inPath = (name: string, more: readonly string[]): string | null =>
  [...more, ...(process.env.PATH ?? '').split(':')].map((folder) => join(folder, name)).find(existsSync) ??
  null

/** The path of the program in this version; null if neither the program nor Go is at hand. */
export const program: string | null = found() ?? installed()

function found(): string | null {
  const candidates = folders.map((folder) => join(folder, 'litestream')).filter(existsSync)
  return (
    candidates.find((file) => spawnSync(file, ['version'], { encoding: 'utf8' }).stdout.trim() === VERSION) ??
    null
  )
}

function installed(): string | null {
  const go = inPath('go', ['/usr/local/go/bin'])
  if (go === null) return skipped('Go')
  mkdirSync(cache, { recursive: true })
  const env = { ...process.env, GOBIN: cache, CGO_ENABLED: '0' }
  const { status } = spawnSync(go, ['install', MODULE], { env, stdio: 'ignore', timeout: INSTALL_TIMEOUT_MS })
  return status === 0 ? join(cache, 'litestream') : skipped('the module of Litestream')
}

function skipped(missing: string): null {
  process.stderr.write(`Litestream ${VERSION} is missing, and ${missing}, too: its tests are skipped.\n`)
  return null
}

/** The end of the name of each test that needs the program. */
export const SKIPPED = program === null ? ' (skipped: neither Litestream nor Go is installed)' : ''

const living = new Set<ChildProcess>()
atEndOfEachFile(() => {
  for (const child of living) child.kill('SIGKILL')
})

/** Runs a command of Litestream. @throws Error with its output if it fails. */
export function litestream(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program ?? '', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`litestream ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

/** Starts `litestream replicate`. `sync` resolves when everything that was committed before is in the replica. */
export async function replicate(config: string, { socket, database }: { socket: string; database: string }) {
  const child = spawn(program ?? '', ['replicate', '-config', config])
  living.add(child)
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text
    })
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      living.delete(child)
      resolve()
    })
  })

  function syncOnce(): Promise<{ status: number | null; answer: string }> {
    const args = ['sync', '-socket', socket, '-wait', '-json', database]
    const command = spawn(program ?? '', args)
    let answer = ''
    for (const stream of [command.stdout, command.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        answer += text
      })
    return new Promise((resolve) => command.once('close', (status) => resolve({ status, answer })))
  }

  /** Repeats the command until Litestream has opened its socket and the database. */
  async function sync(): Promise<{ txid: number; replica_txid: number }> {
    const patience = AbortSignal.timeout(20_000)
    for (;;) {
      const { status, answer } = await syncOnce()
      if (status === 0) return JSON.parse(answer)
      if (patience.aborted) throw new Error(`Litestream does not replicate: ${answer}\n${printed}`)
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    child.kill(signal)
    await ended
  }

  await sync()
  return { sync, end, signal: (signal: NodeJS.Signals) => child.kill(signal), printed: () => printed }
}
