/** The functions that an app calls. They return at once, and nothing they do throws. */
import { type Client, openClient } from './client.ts'
import { type Device, type Environment, openEnvironment } from './environment.ts'
import { isText } from './ids.ts'
import { hookInto } from './purchases.ts'
import type { Target } from './sdk.ts'
import type { Attributes, DebugState, Options, Purchase, Storage } from './types.ts'

/** What differs between React Native and the rest. Each may throw. */
type Runtime = {
  storage(): Storage | null | undefined
  device(): Device
  bundleId(): unknown
  /** Calls `wake` when the app comes to the foreground or gets a connection. */
  watch(wake: () => void): void
  /** Load the purchase libraries; they throw if there is none. */
  libraries: (() => unknown)[]
}

const MOST_EARLY_CALLS = 100

const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The own fields of an object as they are now, whatever the app does with it later; undefined if they cannot be read. */
const copyOf = (given: unknown): object | undefined => attempt(() => ({ ...(given as object) }))

/** The device fields in fixed order, without those that the server would refuse. */
function deviceOf(given: Options, found: Device = {}): Device {
  const device: Device = {}
  for (const name of ['platform', 'osVersion', 'deviceModel', 'locale'] as const) {
    const value = given[name] ?? found[name]
    if (isText(value, 64)) device[name] = value
  }
  return device
}

/** Where the options lead; null if they lead nowhere. Throws if they are not options. */
function targetOf(given: Options, runtime: Runtime): Target | null {
  const l = given.url.trim().replace(/\/+$/, '')
  const b = given.bundleId ?? attempt(runtime.bundleId)
  if (!/^https?:\/\/./.test(l) || !isText(b, 255)) return null
  return { l, b, ...(given.key && { k: given.key }), d: deviceOf(given, attempt(runtime.device)) }
}

/** @param open makes the environment, and `warn` warns; tests pass their own */
export function openApi(
  runtime: Runtime,
  open: (storage?: Storage | null) => Environment = openEnvironment,
  warn: (line: string) => void = (line) => console.warn(line),
) {
  let client: Client | null = null
  let target: Target | null = null
  let log: Options['debug']
  const early: ((client: Client) => unknown)[] = []
  const debug = (line: string) =>
    attempt(() => (typeof log === 'function' ? log(line) : log && console.log(`[windfall] ${line}`)))

  /** Runs `call` with the client, or keeps it until there is one. A call that cannot read what it was given is left out. */
  function later(call: (client: Client) => unknown): void {
    if (client) attempt(() => call(client as Client))
    else if (early.length < MOST_EARLY_CALLS) early.push(call)
  }

  function start(given: Options): void {
    const own = openClient(open(given.storage ?? attempt(runtime.storage)), () => target as Target, debug)
    client = own
    early.forEach(later)
    const attach = () =>
      given.autoTrack === false ||
      hookInto(runtime.libraries, (purchase) => void own.attributePurchase(purchase, false))
    attach()
    attempt(() =>
      runtime.watch(() => {
        attach()
        own.wake()
      }),
    )
  }

  return {
    configure(given: Options): void {
      log = given?.debug
      const next = attempt(() => targetOf(given, runtime))
      if (!next) return warn('[windfall] configure needs a url and a bundleId; nothing is sent.')
      target = next
      if (client) client.wake()
      else start(given)
    },
    identify(userId: string, attributes?: Attributes): void {
      const copy = copyOf(attributes)
      later((one) => one.identify(userId, copy))
    },
    setAttributes(attributes: Attributes): void {
      const copy = copyOf(attributes)
      later((one) => one.setAttributes(copy))
    },
    reset: (): void => later((one) => one.reset()),
    attributePurchase(purchase: Purchase): void {
      const copy = client ? purchase : copyOf(purchase)
      later((one) => one.attributePurchase(copy, true))
    },
    flush: async (): Promise<void> => client?.wake(),
    debugState: async (): Promise<DebugState> => client?.state() ?? NOT_CONFIGURED,
  }
}

const NOT_CONFIGURED: DebugState = {
  configured: false,
  appUserId: null,
  anonymousId: null,
  queue: [],
  refused: [],
  storage: 'ok',
  lastAnswer: null,
}
