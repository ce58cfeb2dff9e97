/**
 * Stands in for systemd: a program named `systemctl` that starts and stops a real process, with the rules of the unit
 * that count here (Restart=on-failure, RestartPreventExitStatus=2, StartLimitBurst=5).
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { atEndOfFile } from '../../closing.ts'
import { openFolder } from './releases.ts'

const BURST = 5

/** `isPatient`: it never gives up, however often the program ends. */
type Options = {
  program: string
  cwd: string
  env: Record<string, string>
  uid: number | undefined
  isPatient: boolean
}

/** Starts the stand-in. `path` is the folder to put first in PATH. */
export async function openSupervisor({ program, cwd, env, uid, isPatient }: Options) {
  let child: ChildProcess | null = null
  let active = 'inactive'
  let starts = 0
  let invocation = 0
  let output = ''
  const commands: string[] = []

  function start(): void {
    if (child !== null) return
    starts += 1
    invocation += 1
    active = 'active'
    const rights = uid === undefined ? {} : { uid, gid: uid }
    const started = spawn(program, ['serve'], { cwd, env, ...rights, stdio: ['ignore', 'pipe', 'pipe'] })
    child = started
    for (const stream of [started.stdout, started.stderr])
      stream.on('data', (text) => {
        output += text
      })
    started.on('error', (error) => {
      output += error.message
    })
    started.on('close', (status) => {
      child = null
      if (active === 'stopping' || status === 0) active = 'inactive'
      else if (status === 2 || (starts >= BURST && !isPatient)) active = 'failed'
      else start()
    })
  }

  async function stop(): Promise<void> {
    const running = child
    if (running === null) {
      active = 'inactive'
      return
    }
    active = 'stopping'
    const closed = new Promise((resolve) => running.once('close', resolve))
    running.kill('SIGTERM')
    await closed
  }

  const show = (): string =>
    `LoadState=loaded\nActiveState=${active}\nSubState=\nInvocationID=${invocation}\nExecStart={ path=${program} ; argv[]=${program} serve }\n`

  async function act(verb: string): Promise<string> {
    commands.push(verb)
    if (verb === 'show') return show()
    if (verb === 'reset-failed') starts = 0
    if (verb === 'stop' || verb === 'restart') await stop()
    if (verb === 'start' || verb === 'restart') {
      starts = 0
      start()
    }
    return ''
  }

  const path = openFolder()
  const socket = join(path, 'socket')
  const server = createServer((req, res) => {
    const [verb = '', ...more] = (req.url ?? '').slice(1).split(',')
    const done = act(verb)
    // The start or restart goes on by itself.
    if (more.includes('--no-block')) res.end()
    else void done.then((text) => res.end(text))
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  writeFileSync(
    join(path, 'systemctl'),
    `#!${process.execPath}
require('node:http').get({ socketPath: '${socket}', path: '/' + process.argv.slice(2).join(',') }, (res) => res.pipe(process.stdout))`,
  )
  chmodSync(join(path, 'systemctl'), 0o755)

  async function close(): Promise<void> {
    await stop()
    server.closeAllConnections()
    server.close()
  }
  atEndOfFile(close)

  return {
    path,
    start: () => act('start'),
    stop,
    close,
    active: () => active,
    pid: () => child?.pid ?? null,
    output: () => output,
    commands,
  }
}
