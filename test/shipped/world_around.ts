/** The processes of the world around a server, and the program that is built for them. */
import { rmSync } from 'node:fs'
import { at } from '../../tools/bundle.mjs'
import { hasChromium } from '../browser/chromium.ts'
import { atEndOfFile } from '../closing.ts'
import { temporaryFolder } from '../folders.ts'
import { certificateFor } from '../outgoing/receiver.ts'
import { startActor } from './actors.ts'
import { buildFor, type Form } from './build.ts'
import { openInstalled } from './installed.ts'
import { becomeOwner, type Owner, type QuietHours } from './owner.ts'
import { openProgram } from './program.ts'
import { freePort, writeSettings } from './settings.ts'
import type { AppQuestions } from './world/apps.ts'
import type { PageQuestions } from './world/page.ts'
import type { PhoneQuestions } from './world/phones.ts'
import type { ReaderQuestions } from './world/reader.ts'
import type { ReceiverQuestions } from './world/receivers.ts'
import type { StoreQuestions } from './world/store.ts'

const DAY_MS = 86_400_000
/** The secret of all endpoints, and the one that replaces it. */
export const ROTATED_SECRET = `whsec_${Buffer.alloc(24, 8).toString('base64')}`
export const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

/**
 * `at`: when the company begins to live on, in ms. `isClockGiven`: the program sends the world its time, and nothing in the
 * world takes time. `flags`: of Node, for the bundle.
 */
type Options = {
  form: Form
  seed: number
  at: number
  isClockGiven: boolean
  flags: readonly string[]
  env?: () => Record<string, string>
}

export type Around = Awaited<ReturnType<typeof openAround>>

/** Starts the processes, builds the program for them and writes its settings. Nothing is posted yet. */
export async function openAround({ form, seed, at: begins, isClockGiven, flags, env = () => ({}) }: Options) {
  const certificate = certificateFor('localhost')
  const [store, apps, receivers, phones] = await Promise.all([
    startActor<StoreQuestions>('store', {
      seed,
      at: begins,
      isClockGiven,
      history_ms: 60 * DAY_MS,
      subscribers: 60,
    }),
    startActor<AppQuestions>('apps', { at: begins }),
    startActor<ReceiverQuestions>('receivers', { secret: SECRET, isTimeless: isClockGiven }),
    startActor<PhoneQuestions>('phones', { ...certificate.secure, isTimeless: isClockGiven }),
  ])
  const folder = at(`dist/shipped/${form}-${process.pid}-${Math.floor(performance.now())}`)
  atEndOfFile(() => rmSync(folder, { recursive: true, force: true }))
  const [apple, attest_root] = await Promise.all([store.ask.apple(), apps.ask.root()])
  const file = await buildFor({ ...apple, attest_root }, form, folder)
  const installed = openInstalled(temporaryFolder().path)
  const port = await freePort()
  const [endpoints, ports, keys] = await Promise.all([
    receivers.ask.urls(),
    phones.ask.ports(),
    store.ask.keys(),
  ])
  writeSettings(installed, port, { endpoints, phones: ports, ca: certificate.ca, secret: SECRET, keys })
  const program = openProgram({
    file,
    form,
    installed,
    flags,
    tellsHeap: !isClockGiven && flags.length > 0,
    env: () => (isClockGiven ? { ...env(), SIMULATED_SMTP_PORT: String(ports.mail) } : env()),
  })
  const url = `http://127.0.0.1:${port}`

  /** Sets the program up, which has begun for the first time, and starts what reads from it. */
  async function enter(quiet: QuietHours): Promise<Owner> {
    return becomeOwner(program, { url, quiet, device: await phones.ask.subscription() })
  }

  const openReader = (token: string) => startActor<ReaderQuestions>('reader', { url, token })
  /** The page in a browser; null without one. */
  const openPage = (value: string) =>
    hasChromium() ? startActor<PageQuestions>('page', { url, value }) : Promise.resolve(null)

  return {
    store,
    apps,
    receivers,
    phones,
    installed,
    endpoints,
    program,
    url,
    enter,
    openReader,
    openPage,
    /** What the processes complained about. */
    complaints: () => [store, apps, receivers, phones].flatMap(({ complaints }) => complaints() || []),
  }
}
