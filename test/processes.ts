/** Starts real processes, watches their output, and ends them with the test file. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atEndOfEachFile } from './closing.ts'
import { temporaryFolder } from './folders.ts'
import { noteLog } from './guards/error_lines.ts'

const built = fileURLToPath(new URL('../dist/windfall.mjs', import.meta.url))
const living = new Set<ChildProcess>()
/** The temporary folder of the processes of a file. */
let own: string | undefined

atEndOfEachFile(async () => {
  await Promise.all(
    [...living].map((child) => {
      const closed = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGKILL')
      return closed
    }),
  )
  own = undefined
})

/** Creates a temporary folder with these files. It is deleted after the tests of the file. */
export function folderOf(files: Record<string, string> = {}): string {
  const { path: folder } = temporaryFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 })
  return folder
}

type Options = {
  cwd: string
  env?: Record<string, string> | undefined
  entry?: string | undefined
  /** An executable to run instead of Node and `entry`, in an environment without PATH. */
  program?: string | undefined
  /** Whether the environment is `env` alone. */
  isExact?: boolean | undefined
  /** Options of Node, before `entry`. */
  flags?: readonly string[] | undefined
  /** The id of the user and group to run as, for tests that root runs; the current user by default. */
  uid?: number | undefined
}
export type Ended = { status: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

/** A line of the log. */
type Line = Record<string, unknown> & { message: string }

/** The environment of each process. Of this machine's variables it has only PATH and the cache of compiled code. */
function clean(): NodeJS.ProcessEnv {
  own ??= folderOf()
  return {
    PATH: process.env.PATH,
    // Without this cache, compiling the program takes a third of a short command's time.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    // A killed process leaves its temporary files.
    TMPDIR: own,
    WINDFALL_RATES_FETCH: 'false',
  }
}

/** Starts `windfall` (or another `entry`) with these arguments. */
export function start(
  args: readonly string[],
  { cwd, env = {}, entry = built, program, uid, isExact, flags = [] }: Options,
) {
  if (!existsSync(program ?? entry)) throw new Error(`${program ?? entry} is missing; build it first`)
  const common = { ...clean(), ...(program !== undefined && { PATH: '', NODE_COMPILE_CACHE: undefined }) }
  const child = spawn(
    program ?? process.execPath,
    program === undefined ? [...flags, entry, ...args] : args,
    { cwd, env: isExact ? env : { ...common, ...env }, ...(uid !== undefined && { uid, gid: uid }) },
  )
  living.add(child)
  let stdout = ''
  let stderr = ''
  const watchers = new Set<() => void>()
  const look = (): void => {
    for (const watcher of watchers) watcher()
  }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
    look()
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status, signal) => {
      living.delete(child)
      noteLog(stdout)
      resolve({ status, signal, stdout, stderr })
      look()
    })
  })

  /** Resolves with the first result of `find` on standard output. Rejects if the process ends first. */
  function until<Found>(find: (stdout: string) => Found | null | undefined): Promise<Found> {
    return new Promise((resolve, reject) => {
      const watcher = (): void => {
        try {
          const found = find(stdout)
          if (found !== null && found !== undefined) resolve(found)
          else if (!living.has(child)) throw new Error(`the process ended first:\n${stdout}${stderr}`)
          else return
        } catch (error) {
          reject(error)
        }
        watchers.delete(watcher)
      }
      watchers.add(watcher)
      watcher()
    })
  }

  /** The complete lines of the log so far. */
  const lines = (): Line[] =>
    stdout.split('\n').flatMap((line, index, all) => {
      return line.startsWith('{') && index < all.length - 1 ? [JSON.parse(line)] : []
    })

  /** Waits for the first line of the log with this message for which `is` returns true. */
  const logged = (message: string, is: (line: Line) => boolean = () => true): Promise<Line> =>
    until(() => lines().find((line) => line.message === message && is(line)))

  return {
    pid: child.pid ?? 0,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    /** Writes to the process’s standard input. */
    say: (text: string) => child.stdin.write(text),
    /** Closes the pipe that the process writes to, as if the reader had ended. */
    hangUp: () => child.stdout.destroy(),
    stdout: () => stdout,
    until,
    lines,
    logged,
    ended,
  }
}

/** Runs `windfall` with these arguments until it exits. */
export const run = (args: readonly string[], options: Options): Promise<Ended> => start(args, options).ended

/** Starts `windfall serve` on a free port and waits until it serves. */
export async function startServing({ env, ...options }: Options) {
  const args = options.entry === undefined ? ['serve'] : []
  const running = start(args, { ...options, env: { WINDFALL_SERVER_PORT: '0', ...env } })
  const { address } = await running.logged('serving')
  return { ...running, url: String(address), port: Number(new URL(String(address)).port) }
}

export type Serving = Awaited<ReturnType<typeof startServing>>
