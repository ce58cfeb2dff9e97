/** Set-up of `windfall connect` tests: a folder with both Apple keys, and a simulated store that accepts them. */
import { Readable, Writable } from 'node:stream'
import { onTestFinished } from 'vitest'
import type { AppleHosts } from '../../../src/apple/api/hosts.ts'
import type { Flags } from '../../../src/cli/connect/answers.ts'
import { connectWith } from '../../../src/cli/connect/flow.ts'
import { openReloading, reloadVerb, serve } from '../../../src/cli/serve.ts'
import type { Clock } from '../../../src/clock.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { Refusal } from '../../../src/errors.ts'
import { openFolder } from '../../config/folder.ts'
import type { TestStore } from '../../demo/store/opened.ts'
import { openTestApp } from '../../helpers.ts'

export type Folder = ReturnType<typeof openKeyFolder>

/** What was said, and what it ended with: null when it went well. */
type ConnectResult = { text: string; refusal: string | null }

/** Where the owner's keys were downloaded to. */
export function openKeyFolder({ store, clock }: TestStore) {
  const folder = openFolder()
  const { connect_key, purchase_key } = store
  folder.write('got/AuthKey_CNCT4K7W2Q.p8', connect_key.private_key)
  folder.write('got/SubscriptionKey_PRCH9M3X5L.p8', purchase_key.private_key)
  const flags: Flags = {
    'connect-key': 'got/AuthKey_CNCT4K7W2Q.p8',
    issuer: connect_key.issuer_id ?? '',
    vendor: store.vendor_number,
    'purchase-key': 'got/SubscriptionKey_PRCH9M3X5L.p8',
  }
  const env = { WINDFALL_SERVER_PORT: '0', WINDFALL_RATES_FETCH: 'false' }

  type ConnectInput = {
    flags?: Flags
    /** What is typed, a line each; without it nobody can be asked. */
    lines?: readonly string[]
    env?: Record<string, string>
    config?: string
    /** The installed config file. */
    fallback?: string
    test?: boolean
    clock?: Clock
    hosts?: AppleHosts
  }

  async function connect(walk: ConnectInput = {}): Promise<ConnectResult> {
    let text = ''
    const output = new Writable({
      write: (chunk, _, done) => {
        text += chunk
        done()
      },
    })
    try {
      await connectWith({
        loadOptions: {
          path: walk.config,
          fallback: walk.fallback ?? null,
          env: { ...env, ...walk.env },
          cwd: folder.path,
        },
        flags: walk.flags ?? (walk.lines ? {} : flags),
        interactive: walk.lines !== undefined,
        test: walk.test ?? true,
        input: Readable.from((walk.lines ?? []).map((line) => `${line}\n`)),
        output,
        hosts: walk.hosts ?? store.hosts,
        clock: walk.clock ?? clock,
        wait: () => store.settled(),
      })
      return { text, refusal: null }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return { text, refusal: error.message }
    }
  }

  /** Starts Windfall on this folder; the store sends its test notifications there. */
  async function startServing(more: Record<string, string> = {}) {
    const all = { ...env, ...more }
    const load = () => loadConfig({ env: all, cwd: folder.path })
    const wait = () => store.settled()
    const app = await openTestApp({
      folder: folder.path,
      env: all,
      apps: [],
      hosts: store.hosts,
      clock,
      wait,
    })
    const { windfall, config } = app
    const verbs = reloadVerb(openReloading(windfall, load(), load))
    const server = await serve(windfall, config, windfall.log, { verbs })
    onTestFinished(server.close)
    store.faults.notification_url = `${server.url}/apple/notifications`
    return { ...app, server }
  }

  return { ...folder, env, flags, connect, startServing }
}
