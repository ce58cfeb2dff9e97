/** Starts the probe, an app without a screen that uses the Swift SDK, and talks with it. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { CBORType } from '@levischuck/tiny-cbor'
import { commandLine, FOLDER } from '../../tools/swift/toolchain.ts'
import type { Device } from '../attribution/devices/enrolled.ts'
import { atEndOfFile } from '../closing.ts'
import { type Line, startProcess } from '../sdk/probe_process.ts'

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
  const { lines, send, next, kill } = startProcess(commandLine(process.cwd(), program), (line) =>
    appAttest && line.ask ? appAttest.answer(line) : null,
  )

  return {
    lines,
    send,
    next,
    kill,
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
