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

/** The device fields in fixed order, without those that the server would refuse. */
function deviceOf(given: Options, found: Device = {}): Device {
  const device: Device = {}
  for (const name of ['platform', 'osVersion', 'deviceModel', 'locale'] as const) {
    const value = given[name] ?? found[name]
    if (isText(value, 64)) device[name] = value
  }
  return device
}

/** Where the options lead; null if they lead nowhere. */
function targetOf(given: Options, runtime: Runtime): Target | null {
  const l = attempt(() => given.url.trim().replace(/\/+$/, '')) ?? ''
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

  /** Runs `call` with the client, or keeps it until there is one. */
  function later(call: (client: Client) => unknown): void {
    if (client) call(client)
    else if (early.length < MOST_EARLY_CALLS) early.push(call)
  }

  function start(given: Options): void {
    const own = openClient(open(given.storage ?? attempt(runtime.storage)), () => target as Target, debug)
    client = own
    for (const call of early) call(own)
    const attach = () => {
      if (given.autoTrack !== false)
        hookInto(runtime.libraries, (purchase) => void own.attributePurchase(purchase, false))
    }
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
      const next = targetOf(given, runtime)
      if (!next) return warn('[windfall] configure needs a url and a bundleId; nothing is sent.')
      target = next
      if (client) client.wake()
      else start(given)
    },
    identify: (userId: string, attributes?: Attributes): void =>
      later((one) => one.identify(userId, { ...attributes })),
    setAttributes(attributes: Attributes): void {
      // As they are now, whatever the app does with its object later.
      const copy = { ...attributes }
      later((one) => one.setAttributes(copy))
    },
    reset: (): void => later((one) => one.reset()),
    attributePurchase: (purchase: Purchase): void => later((one) => one.attributePurchase(purchase, true)),
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
