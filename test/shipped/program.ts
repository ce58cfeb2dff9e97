/** The program as it ships, started, stopped and killed as systemd does it, with everything that it printed. */
import { readdirSync } from 'node:fs'
import { readMemory } from '../bench/memory.ts'
import { type Ended, run, start } from '../processes.ts'
import type { Form } from './build.ts'
import type { Installed } from './installed.ts'

/** As `npm start` starts the bundle, and the executable starts itself. */
const FLAGS = ['--max-semi-space-size=2']
const MIB = 1_048_576

/** When a process began to stop, and when it had ended, in ms. */
export type Stop = { signal: NodeJS.Signals; from: number; until: number }

/** `flags`: of Node, for the bundle. `tellsHeap`: whether it prints its heap on SIGUSR2. `env`: what each process gets. */
type Options = {
  file: string
  form: Form
  installed: Installed
  flags: readonly string[]
  tellsHeap: boolean
  env: () => Record<string, string>
}

export type Program = ReturnType<typeof openProgram>

/** Opens the program, which does not run yet. */
export function openProgram({ file, form, installed, flags, tellsHeap, env }: Options) {
  const stops: Stop[] = []
  const faults: string[] = []
  const launch = () => ({
    cwd: installed.data,
    env: { ...installed.env, ...env() },
    isExact: true,
    ...(form === 'bundle' ? { entry: file, flags: [...FLAGS, ...flags] } : { program: file }),
  })
  let running: ReturnType<typeof start> | null = null

  const current = () => {
    if (running === null) throw new Error('the program does not run')
    return running
  }

  /** Starts it and waits until it serves. */
  async function begin(): Promise<void> {
    running = start(['serve'], launch())
    await running.logged('serving')
  }

  /** Stops it, and remembers what it complained about. */
  async function end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const stopping = current()
    const from = Date.now()
    stopping.kill(signal)
    const ended = await stopping.ended
    stops.push({ signal, from, until: Date.now() })
    faults.push(...faultsOf(ended, signal))
    running = null
  }

  /** Runs a command of it, and returns the document that it prints. */
  async function command<Document>(...args: string[]): Promise<Document & { exit_status: number }> {
    const { status, stdout, stderr } = await run([...args, '--json'], launch())
    try {
      return { ...(JSON.parse(stdout) as Document), exit_status: status ?? -1 }
    } catch {
      throw new Error(`windfall ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`)
    }
  }

  /** Reads its configuration again, and waits until it has. */
  async function reload(): Promise<void> {
    const reloaded = () =>
      current()
        .lines()
        .filter(({ message }) => /^configuration reloaded/.test(message))
    const before = reloaded().length
    current().kill('SIGHUP')
    await current().until(() => (reloaded().length > before ? true : null))
  }

  /** What it holds: the heap after a collection (null where it does not tell), resident memory and descriptors. */
  async function measure(): Promise<Held> {
    const { pid, kill, until, lines } = current()
    const heaps = () => lines().filter(({ message }) => message === 'heap')
    const before = heaps().length
    if (tellsHeap) kill('SIGUSR2')
    const line = tellsHeap ? await until(() => heaps()[before]) : null
    return {
      heap: line === null ? null : Number(line.bytes) / MIB,
      resident: readMemory(pid, 'resident') ?? 0,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
    }
  }

  return {
    begin,
    end,
    command,
    reload,
    measure,
    say: (text: string) => current().say(text),
    /** Resolves with the first result of `find` on what it printed since it began. */
    until: <Found>(find: (stdout: string) => Found | null | undefined) => current().until(find),
    stops,
    /** What it complained about, up to its last end. */
    faults: (): readonly string[] => faults,
  }
}

/** Memory in MiB. */
export type Held = { heap: number | null; resident: number; descriptors: number }

/** Lines at level error, everything on standard error, and a wrong end. */
function faultsOf({ status, signal, stdout, stderr }: Ended, by: NodeJS.Signals): string[] {
  const errors = stdout.split('\n').filter((line) => line.startsWith('{') && line.includes('"level":"error"'))
  const isOrderly = by === 'SIGKILL' ? signal === 'SIGKILL' : status === 0
  return [
    ...errors.map((line) => `logged: ${line}`),
    ...(stderr === '' ? [] : [`standard error: ${stderr}`]),
    ...(isOrderly ? [] : [`after ${by} the program ended with ${status ?? signal}`]),
  ]
}
