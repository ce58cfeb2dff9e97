/** The released program: time to the first response, and memory, idle and after load. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { get } from 'node:http'
import { setTimeout as pass } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Bench, CONNECTIONS, inTurn, NODE_OPTIONS_OF_START } from './bench.ts'
import { APP } from './database.ts'
import { below, type Figure, median, within } from './figures.ts'
import { memoryOf } from './memory.ts'

const BUNDLE = fileURLToPath(new URL('../../dist/windfall.mjs', import.meta.url))
const BARE = `require('node:http').createServer((_, answer) => answer.end('ok')).listen(0, '127.0.0.1', function () {
  console.log('Floor is running at http://127.0.0.1:' + this.address().port) })`

const environment = {
  ...process.env,
  WINDFALL_SERVER_PORT: '0',
  WINDFALL_RATES_FETCH: 'false',
  WINDFALL_LIMITS_SDK_REQUESTS_PER_MINUTE: '1000000',
}

type Started = { process: ChildProcess; url: string; output: string; ms: number; stop(): Promise<void> }

/** Starts Node with `args` in `cwd` and waits for its first answer. */
async function started(args: readonly string[], cwd: string): Promise<Started> {
  const began = performance.now()
  const child = spawn(process.execPath, args, { cwd, env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
  // Whoever ends the bench ends it too, before its folder is removed.
  const leave = (): void => void child.kill('SIGKILL')
  process.prependOnceListener('exit', leave)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  void ended.then(() => process.off('exit', leave))
  const { url, output } = await addressIn(child)
  await answered(`${url}/healthz`)
  const ms = performance.now() - began
  async function stop(): Promise<void> {
    child.kill('SIGTERM')
    await ended
  }
  return { process: child, url, output: output(), ms, stop }
}

function addressIn(child: ChildProcess): Promise<{ url: string; output: () => string }> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const [, url] = /is running at (http:\S+)\n/.exec(output) ?? []
      if (url !== undefined) resolve({ url, output: () => output })
    })
    child.once('exit', (code) =>
      reject(new Error(`it ended with ${code} before it said its address: ${output}`)),
    )
  })
}

function answered(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => response.resume().once('end', resolve)).once('error', reject)
  })
}

const serve = [...NODE_OPTIONS_OF_START, BUNDLE, 'serve']

async function timed(args: readonly string[], cwd: string): Promise<number> {
  const { ms, stop } = await started(args, cwd)
  await stop()
  return ms
}

async function measureStarts({ sizes, newFolder }: Bench): Promise<Figure[]> {
  const again = newFolder()
  await timed(serve, again)
  const measured = await inTurn(sizes.starts, {
    first: () => timed(serve, newFolder()),
    again: () => timed(serve, again),
    bare: () => timed(['-e', BARE], again),
  })
  const floor = { name: 'bare node:http', values: measured.bare }
  return [
    below('first answer after a start', median(measured.again), 'ms', 150),
    within('first answer after a start', 'ms', measured.again, floor, null),
    below('first answer after the first start, file made', median(measured.first), 'ms', null),
  ]
}

async function measureMemory({ sizes, newFolder, measure }: Bench): Promise<Figure[]> {
  const cwd = newFolder()
  const windfall = await started(serve, cwd)
  await pass(sizes.idle_seconds * 1000)
  const idle = memoryOf(windfall.process.pid ?? 0, 'resident')
  const [token = ''] = /pk_live_\w+/.exec(windfall.output) ?? []
  await promisify(execFile)(process.execPath, [BUNDLE, 'apps', 'add', APP], { cwd, env: environment })
  const users = sizes.hot_users
  const load = { call: 'identify', url: windfall.url, token, users, connections: CONNECTIONS } as const
  await measure({ ...load, warm_seconds: 0, seconds: sizes.load_seconds })
  const loaded = memoryOf(windfall.process.pid ?? 0, 'resident')
  await windfall.stop()
  if (idle === null || loaded === null) return []
  return [
    below('resident memory, idle', idle, 'MiB', 90),
    below(`resident memory after ${sizes.load_seconds} s of load`, loaded, 'MiB', null),
  ]
}

export async function measureStart(workshop: Bench): Promise<Figure[]> {
  return [...(await measureStarts(workshop)), ...(await measureMemory(workshop))]
}
