/** The released program: time and processor time until its first response, and memory, idle and after load. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pass } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { preciseTime } from '../../src/clock.ts'
import { type Bench, CONNECTIONS, interleave, NODE_OPTIONS_OF_START, print } from './bench.ts'
import { APP } from './database.ts'
import { fillHistory } from './demo_history.ts'
import { atMost, costAgainst, type Figure, median } from './figures.ts'
import { readMemory, readProcessorTime } from './memory.ts'

const BUNDLE = fileURLToPath(new URL('../../dist/windfall.mjs', import.meta.url))
const BARE_SERVER =
  "require('node:http').createServer((_, answer) => answer.end('ok')).listen(process.env.PORT, '127.0.0.1')"
/** How long after a failed connection the next one is tried. */
const RETRY_MS = 2
const OK = 200

const environmentFor = (port: number): NodeJS.ProcessEnv => ({
  // Without the settings of the caller.
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('WINDFALL_'))),
  PORT: String(port),
  WINDFALL_SERVER_PORT: String(port),
  WINDFALL_RATES_FETCH: 'false',
  WINDFALL_LIMITS_SDK_REQUESTS_PER_MINUTE: '1000000',
})

/** A port that nothing listens on. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

/** The status of the response; null if the server does not listen yet. */
function statusOf(url: string): Promise<number | null> {
  return new Promise((resolve) => {
    get(url, { agent: false }, (response) =>
      response.resume().once('end', () => resolve(response.statusCode ?? null)),
    ).once('error', () => resolve(null))
  })
}

/** `ms` and `cpu_ms`: until the first response. `ready_ms`: until `/readyz` answers 200. `resident`: idle, in MiB. */
type Start = { ms: number; cpu_ms: number; ready_ms: number; resident: number }
type Program = { process: ChildProcess; url: string; output(): string; stop(): Promise<void> }

/** A program and its arguments. */
type Command = readonly [file: string, ...args: string[]]

/** Starts a program in `cwd`. */
async function spawnProgram([file, ...args]: Command, cwd: string): Promise<Program> {
  const port = await freePort()
  const env = environmentFor(port)
  const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  // If the benchmark is interrupted, the program must end before its folder is removed.
  const kill = (): void => void child.kill('SIGKILL')
  process.prependOnceListener('exit', kill)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  void ended.then(() => process.off('exit', kill))
  async function stop(): Promise<void> {
    child.kill('SIGTERM')
    await ended
  }
  return { process: child, url: `http://127.0.0.1:${port}`, output: () => output, stop }
}

/** Requests `path` until it answers 200. */
async function untilOk({ process, url, output }: Program, path: string): Promise<void> {
  while ((await statusOf(url + path)) !== OK) {
    if (process.exitCode !== null) throw new Error(`the program exited with ${process.exitCode}: ${output()}`)
    await pass(RETRY_MS)
  }
}

const serve: Command = [process.execPath, ...NODE_OPTIONS_OF_START, BUNDLE, 'serve']
const bare: Command = [process.execPath, '-e', BARE_SERVER]

/**
 * A copy of the executable, if `npm run build:binary` built it; else null. The build writes the file at once, and Linux
 * then keeps it in large pieces, each of which becomes resident whole. A copy or a download does not have them.
 */
function copiedExecutable(folder: string): string | null {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const name = `windfall-${version}-${process.platform}-${process.arch}`
  const built = fileURLToPath(new URL(`../../dist/binary/${name}`, import.meta.url))
  if (!existsSync(built)) {
    print(`Without the executable: ${built} is missing; run \`npm run build:binary\`.`)
    return null
  }
  const copy = join(folder, name)
  copyFileSync(built, copy)
  return copy
}

async function measureOne(command: Command, cwd: string, idle_seconds: number): Promise<Start> {
  const began = preciseTime()
  const program = await spawnProgram(command, cwd)
  const pid = program.process.pid ?? 0
  await untilOk(program, '/healthz')
  const ms = preciseTime() - began
  const cpu_ms = readProcessorTime(pid) ?? Number.NaN
  await untilOk(program, '/readyz')
  const ready_ms = preciseTime() - began
  await pass(idle_seconds * 1000)
  const resident = readMemory(pid, 'resident') ?? Number.NaN
  await program.stop()
  return { ms, cpu_ms, ready_ms, resident }
}

/** A folder with the demo's database. */
async function demoFolder({ sizes, newFolder }: Bench): Promise<string> {
  const folder = newFolder()
  await fillHistory(join(folder, 'data', 'windfall.db'), sizes.history_subscribers)
  return folder
}

async function measureStarts(bench: Bench): Promise<Figure[]> {
  const { sizes, newFolder } = bench
  const demo = await demoFolder(bench)
  // The first start writes the compile cache.
  await measureOne(serve, demo, 0)
  const measured = await interleave(sizes.starts, {
    demo: () => measureOne(serve, demo, sizes.idle_seconds),
    bare: () => measureOne(bare, demo, sizes.idle_seconds),
    first: () => measureOne(serve, newFolder(), 0),
  })
  const values = (name: keyof typeof measured, key: keyof Start) => measured[name].map((start) => start[key])
  const against = (name: string, key: keyof Start, at_most: number | null) => {
    const baseline = { name: 'bare node:http', values: values('bare', key) }
    return costAgainst(name, 'ms', values('demo', key), baseline, at_most)
  }
  const resident = median(values('demo', 'resident'))
  return [
    against('time to the first response', 'ms', 2.2),
    against('processor time to the first response', 'cpu_ms', null),
    against('time until ready', 'ready_ms', null),
    atMost('time to the first response, new database', median(values('first', 'ms')), 'ms', null),
    atMost('resident memory, idle', resident, 'MiB', 90),
    atMost('the same above bare node:http', resident - median(values('bare', 'resident')), 'MiB', 45),
    ...(await measureExecutable(bench, demo)),
  ]
}

/** The same of the executable, against the bare server of the Node that npm installed. */
async function measureExecutable({ sizes, newFolder }: Bench, demo: string): Promise<Figure[]> {
  const file = copiedExecutable(newFolder())
  if (file === null) return []
  // The first start writes the addon.
  await measureOne([file, 'serve'], demo, 0)
  const { executable, plain } = await interleave(sizes.starts, {
    executable: () => measureOne([file, 'serve'], demo, sizes.idle_seconds),
    plain: () => measureOne(bare, demo, sizes.idle_seconds),
  })
  const of = (starts: readonly Start[], key: keyof Start) => starts.map((start) => start[key])
  const baseline = { name: 'bare node:http', values: of(plain, 'ms') }
  const resident = median(of(executable, 'resident'))
  return [
    costAgainst('executable: time to the first response', 'ms', of(executable, 'ms'), baseline, 2.2),
    atMost('executable: resident memory, idle', resident, 'MiB', 90),
    atMost('the same above bare node:http', resident - median(of(plain, 'resident')), 'MiB', 45),
  ]
}

/** The key that the program prints after it is ready. */
async function publishableKey({ output }: Program): Promise<string> {
  for (;;) {
    const [token] = /pk_live_\w+/.exec(output()) ?? []
    if (token !== undefined) return token
    await pass(RETRY_MS)
  }
}

async function measureLoaded({ sizes, newFolder, measure }: Bench): Promise<Figure[]> {
  const cwd = newFolder()
  const windfall = await spawnProgram(serve, cwd)
  await untilOk(windfall, '/readyz')
  const token = await publishableKey(windfall)
  const port = Number(new URL(windfall.url).port)
  await promisify(execFile)(process.execPath, [BUNDLE, 'apps', 'add', APP], {
    cwd,
    env: environmentFor(port),
  })
  const users = sizes.hot_users
  const load = { call: 'identify', url: windfall.url, token, users, connections: CONNECTIONS } as const
  await measure({ ...load, warm_seconds: 0, seconds: sizes.load_seconds })
  const loaded = readMemory(windfall.process.pid ?? 0, 'resident')
  await windfall.stop()
  if (loaded === null) return []
  return [atMost(`resident memory after ${sizes.load_seconds} s of load`, loaded, 'MiB', null)]
}

export async function measureStart(bench: Bench): Promise<Figure[]> {
  return [...(await measureStarts(bench)), ...(await measureLoaded(bench))]
}
