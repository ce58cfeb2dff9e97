/** Starts the probe, an app without a screen that uses the Swift SDK, and talks with it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { CBORType } from '@levischuck/tiny-cbor'
import { afterAll } from 'vitest'
import { commandLine, FOLDER } from '../../tools/swift/toolchain.ts'
import type { Device } from '../attribution/devices/enrolled.ts'
import { atEndOfFile } from '../closing.ts'

type Line = Record<string, unknown>
type State = {
  queue: number
  /** The ids of the purchases that wait. */
  ids: string
  refused: number
  appUserId: string
  anonymousId: string
  lastAnswer: string | null
  storage: string
}

const living = new Set<ChildProcess>()
afterAll(() => {
  for (const child of living) child.kill('SIGKILL')
})

const BUILD = join(FOLDER, 'build')
const PROGRAM = '/build/debug/WindfallProbe'

/** The storage of an install, where the probe sees it. */
export function newInstall(): string {
  mkdirSync(BUILD, { recursive: true })
  const folder = mkdtempSync(join(BUILD, 'install-'))
  atEndOfFile(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts the probe with the storage of an install. `ahead`: the seconds that its clock is ahead. */
export function startProbe(
  install: string,
  { appAttest, ahead = 0 }: { appAttest?: AppAttest; ahead?: number } = {},
) {
  const folder = join('/build', basename(install))
  const program = [PROGRAM, folder, appAttest ? 'attests' : 'plain', String(ahead)]
  const [command = '', ...args] = commandLine(process.cwd(), program)
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  living.add(child)
  const ended = new Promise<void>((resolve) =>
    child.once('close', () => {
      living.delete(child)
      resolve()
    }),
  )
  const lines: Line[] = []
  const listeners = new Set<(line: Line) => void>()
  createInterface(child.stdout).on('line', (text) => {
    const line = JSON.parse(text) as Line
    lines.push(line)
    if (appAttest && line.ask) send(appAttest.answer(line))
    for (const heard of listeners) heard(line)
  })

  function send(command: object): void {
    child.stdin.write(`${JSON.stringify(command)}\n`)
  }

  /** The next line with this field. */
  function next(field: string, is = (_: Line): boolean => true): Promise<Line> {
    return new Promise((resolve) => {
      const heard = (line: Line): void => {
        if (line[field] === undefined || !is(line)) return
        listeners.delete(heard)
        resolve(line)
      }
      listeners.add(heard)
    })
  }

  return {
    lines,
    send,
    next,
    async flush(): Promise<void> {
      const flushed = next('flushed')
      send({ do: 'flush' })
      await flushed
    },
    async state(): Promise<State> {
      const state = next('queue')
      send({ do: 'state' })
      return (await state) as State
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await ended
    },
  }
}

type AppAttest = ReturnType<typeof openAppAttest>

/** App Attest of a device. `details` is what iOS 27 adds to attestations and assertions; nothing before it. */
export function openAppAttest(newKey: () => Device, details?: Map<string, CBORType>) {
  const keys = new Map<unknown, { key: Device; counter: number }>()
  return {
    /** Loses the keys, like a reinstall. */
    lose: () => keys.clear(),
    answer({ id, ask, keyId, hash: text }: Line): object {
      if (ask === 'key') {
        const key = newKey()
        keys.set(key.key_id, { key, counter: 0 })
        return { do: 'answer', id, text: key.key_id }
      }
      const one = keys.get(keyId)
      if (!one) return { do: 'answer', id, error: 'invalidKey' }
      const hash = Buffer.from(String(text), 'base64')
      if (ask === 'assertion') one.counter += 1
      const object =
        ask === 'attestation'
          ? one.key.attest(hash, { details })
          : one.key.assertHash(one.counter, hash, details)
      return { do: 'answer', id, text: object.toString('base64') }
    },
  }
}
