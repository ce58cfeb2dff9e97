/** Runs a command of the documents in a shell, as its reader would. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atEndOfEachFile } from '../../closing.ts'
import { folderOf } from '../../processes.ts'
import { ALONE, SERVING } from './exceptions.ts'
import type { Place } from './placeholders.ts'
import { typedInto } from './preparations.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const BUILT = join(ROOT, 'dist/windfall.mjs')

/** @throws Error if this machine does not have the program */
function pathOf(program: string): string {
  const folder = (process.env.PATH ?? '').split(':').find((one) => existsSync(join(one, program)))
  if (folder === undefined) throw new Error(`${program} is missing; the commands of the documents need it`)
  return join(folder, program)
}

/**
 * The programs of which the documents speak. An answer that is no 2xx fails curl, which also prints headers; npm runs in
 * this repository.
 */
const PROGRAMS: Record<string, string> = {
  windfall: `exec ${process.execPath} ${BUILT} "$@"`,
  'windfall.previous': `exec ${process.execPath} ${BUILT} "$@"`,
  curl: `exec ${pathOf('curl')} --silent --show-error --fail-with-body --dump-header - "$@"`,
  npm: `cd ${ROOT} && exec ${pathOf('npm')} "$@"`,
}

let programs: string | undefined
const running = new Set<ChildProcess>()
atEndOfEachFile(() => {
  for (const child of running) signal(child, 'SIGKILL')
  programs = undefined
})

/** Signals a shell and what it started, as Ctrl-C does. */
function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid !== undefined) process.kill(-pid, name)
}

function programFolder(): string {
  programs ??= folderOf()
  for (const [name, script] of Object.entries(PROGRAMS))
    if (!existsSync(join(programs, name)))
      writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return programs
}

function environment(command: string, { folder, instance }: Place): NodeJS.ProcessEnv {
  const cache = join(programFolder(), 'cache')
  mkdirSync(cache, { recursive: true })
  const common = {
    PATH: `${programFolder()}:${process.env.PATH}`,
    HOME: folder,
    TMPDIR: cache,
    NODE_COMPILE_CACHE: cache,
    WINDFALL_RATES_FETCH: 'false',
  }
  if (!ALONE.test(command)) return { ...common, WINDFALL_CONFIG: instance.config }
  const store = command.includes('npm') && { WINDFALL_STORE_PATH: join(folder, 'npm/windfall.db') }
  return { ...common, WINDFALL_SERVER_PORT: '0', ...store }
}

/** Runs a command in the folder of its page. Resolves with what is wrong; null if it succeeded. */
export function runCommand(command: string, place: Place): Promise<string | null> {
  const { until, stir } = SERVING.find(({ command: pattern }) => pattern.test(command)) ?? {}
  const child = spawn('bash', ['-ec', command], {
    cwd: place.folder,
    env: environment(command, place),
    detached: true,
  })
  running.add(child)
  let output = ''
  let isServing = false
  const take = (text: string): void => {
    if (stir?.test(text)) void place.instance.identify()
    output += text
    if (isServing || until === undefined || !until.test(output)) return
    isServing = true
    signal(child, 'SIGINT')
  }
  child.stdout.setEncoding('utf8').on('data', take)
  child.stderr.setEncoding('utf8').on('data', take)
  // A command that does not read ends before this is written.
  child.stdin.on('error', () => {}).end(typedInto(command))
  return new Promise((resolve) => {
    child.once('close', (status, ended) => {
      running.delete(child)
      const isStopped = isServing && (status === 0 || status === 130 || ended === 'SIGINT')
      const isDone = until === undefined && status === 0
      resolve(isStopped || isDone ? null : `${ended ?? `exit ${status}`}\n${output.trimEnd()}`)
    })
  })
}
