/** The released program: time to the first response, and memory, idle and after load. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { get } from 'node:http'
import { setTimeout as pass } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Bench, CONNECTIONS, interleave, NODE_OPTIONS_OF_START } from './bench.ts'
import { APP } from './database.ts'
import { atMost, costAgainst, type Figure, median } from './figures.ts'
import { readMemory } from './memory.ts'

const BUNDLE = fileURLToPath(new URL('../../dist/windfall.mjs', import.meta.url))
const BARE_SERVER = `require('node:http').createServer((_, answer) => answer.end('ok')).listen(0, '127.0.0.1', function () {
  console.log('The baseline is running at http://127.0.0.1:' + this.address().port) })`

/** Without the settings of the caller. */
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('WINDFALL_'))),
  WINDFALL_SERVER_PORT: '0',
  WINDFALL_RATES_FETCH: 'false',
  WINDFALL_LIMITS_SDK_REQUESTS_PER_MINUTE: '1000000',
}

type Program = { process: ChildProcess; url: string; output: string; ms: number; stop(): Promise<void> }

/** Starts Node with `args` in `cwd` and waits for its first response. `ms` is the time until then. */
async function startProgram(args: readonly string[], cwd: string): Promise<Program> {
  const began = performance.now()
  const child = spawn(process.execPath, args, { cwd, env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
  // If the benchmark is interrupted, the program must end before its folder is removed.
  const kill = (): void => void child.kill('SIGKILL')
  process.prependOnceListener('exit', kill)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  void ended.then(() => process.off('exit', kill))
  const { url, output } = await waitForAddress(child)
  await waitForAnswer(`${url}/healthz`)
  const ms = performance.now() - began
  async function stop(): Promise<void> {
    child.kill('SIGTERM')
    await ended
  }
  return { process: child, url, output: output(), ms, stop }
}

function waitForAddress(child: ChildProcess): Promise<{ url: string; output: () => string }> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const [, url] = /is running at (http:\S+)\n/.exec(output) ?? []
      if (url !== undefined) resolve({ url, output: () => output })
    })
    child.once('exit', (code) =>
      reject(new Error(`the program exited with ${code} before it printed its address: ${output}`)),
    )
  })
}

function waitForAnswer(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => response.resume().once('end', resolve)).once('error', reject)
  })
}

const serve = [...NODE_OPTIONS_OF_START, BUNDLE, 'serve']

async function timeStart(args: readonly string[], cwd: string): Promise<number> {
  const { ms, stop } = await startProgram(args, cwd)
  await stop()
  return ms
}

async function measureStarts({ sizes, newFolder }: Bench): Promise<Figure[]> {
  const again = newFolder()
  await timeStart(serve, again)
  const measured = await interleave(sizes.starts, {
    first: () => timeStart(serve, newFolder()),
    again: () => timeStart(serve, again),
    bare: () => timeStart(['-e', BARE_SERVER], again),
  })
  const baseline = { name: 'bare node:http', values: measured.bare }
  return [
    atMost('time to the first response', median(measured.again), 'ms', 150),
    costAgainst('time to the first response', 'ms', measured.again, baseline, null),
    atMost('time to the first response, new database', median(measured.first), 'ms', null),
  ]
}

async function measureMemory({ sizes, newFolder, measure }: Bench): Promise<Figure[]> {
  const cwd = newFolder()
  const windfall = await startProgram(serve, cwd)
  await pass(sizes.idle_seconds * 1000)
  const idle = readMemory(windfall.process.pid ?? 0, 'resident')
  const [token = ''] = /pk_live_\w+/.exec(windfall.output) ?? []
  await promisify(execFile)(process.execPath, [BUNDLE, 'apps', 'add', APP], { cwd, env: environment })
  const users = sizes.hot_users
  const load = { call: 'identify', url: windfall.url, token, users, connections: CONNECTIONS } as const
  await measure({ ...load, warm_seconds: 0, seconds: sizes.load_seconds })
  const loaded = readMemory(windfall.process.pid ?? 0, 'resident')
  await windfall.stop()
  if (idle === null || loaded === null) return []
  return [
    atMost('resident memory, idle', idle, 'MiB', 90),
    atMost(`resident memory after ${sizes.load_seconds} s of load`, loaded, 'MiB', null),
  ]
}

export async function measureStart(bench: Bench): Promise<Figure[]> {
  return [...(await measureStarts(bench)), ...(await measureMemory(bench))]
}
