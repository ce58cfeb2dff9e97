/** Runs the cases of sdk/contract against the JavaScript SDK. */
import { isDeepStrictEqual } from 'node:util'
import { openApi } from '../../sdk/js/src/api.ts'
import type * as environment from '../../sdk/js/src/environment.ts'
import type * as types from '../../sdk/js/src/types.ts'
import type { Answer, Call, Device, Options, Plain, Sent, Step } from './contract_format.ts'
import { answered } from './model_server.ts'
import { type Faults, NO_FAULTS, openWorld } from './world.ts'

const FAULTS: Record<string, Faults> = {
  works: NO_FAULTS,
  'refuses writes': { storage: (step) => (step === 'set' ? 'before' : 'no') },
  'refuses removals': { storage: (step) => (step === 'remove' ? 'before' : 'no') },
  'cannot be read': { storage: (step) => (step === 'get' || step === 'keys' ? 'before' : 'no') },
}

function accepted({ url, body }: environment.Request): environment.Answer {
  const { appUserId, bundleId, originalTransactionId } = JSON.parse(body)
  return url.endsWith('identify')
    ? answered(200, { appUserId, bundleId, verification: 'unverified' })
    : answered(200, { originalTransactionId, appUserId, moved: false, verification: 'unverified' })
}

/** Compares with an expectation in which `{name}` stands for a value, the same each time, of an anonymous id. */
function openBindings() {
  const bound = new Map<string, string>()
  function fits(expected: unknown, actual: unknown, exactly: boolean): boolean {
    if (typeof expected === 'string' && /^\{.+\}$/.test(expected)) return fitsName(expected, actual)
    if (typeof expected !== 'object' || expected === null) return isDeepStrictEqual(expected, actual)
    if (typeof actual !== 'object' || actual === null) return false
    const isList = Array.isArray(expected)
    if (isList !== Array.isArray(actual)) return false
    const names = exactly || isList ? Object.keys({ ...expected, ...actual }) : Object.keys(expected)
    return names.every((name) =>
      fits((expected as never)[name] as unknown, (actual as never)[name] as unknown, exactly),
    )
  }
  function fitsName(name: string, actual: unknown): boolean {
    const isId = /^\$anon_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(
      String(actual),
    )
    const isFree = !bound.has(name) && ![...bound.values()].includes(String(actual))
    if (isId && isFree) bound.set(name, String(actual))
    return bound.get(name) === actual
  }
  return fits
}

type Setting = { device: Device; options: Options }

/** Runs the steps of a case; throws at the first that does not fit. */
export function openRunner({ options, ...setting }: Setting) {
  const sent: environment.Request[] = []
  let { device } = setting
  let answers: Answer[] = []
  let otherwise: Answer = 'accept'
  const world = openWorld((request) => {
    sent.push(request)
    const given = answers.shift() ?? otherwise
    if (given === 'accept') return accepted(request)
    if (given === 'no connection' || given === 'accept, answer lost') throw new Error('no connection')
    return answered(given.status, given.body ?? given.text ?? '', given.headers?.['retry-after'] ?? null)
  })
  const fits = openBindings()
  let warnings = 0
  let process = world.boot()
  let observe = (_: unknown): void => {}
  let wake = (): void => {}

  const start = () =>
    openApi(
      {
        storage: () => null,
        device: () => device as environment.Device,
        bundleId: () => device.bundleId,
        watch(run) {
          wake = run
        },
        libraries: [
          () => ({
            purchaseUpdatedListener(heard: (purchase: unknown) => void) {
              observe = heard
            },
          }),
        ],
      },
      () => process.environment,
      () => {
        warnings += 1
      },
    )
  let api = start()

  function make(one: Call): void {
    if (one.call === 'configure') api.configure({ ...options, ...one.options } as types.Options)
    else if (one.call === 'identify') api.identify(one.userId ?? '', one.attributes as never)
    else if (one.call === 'setAttributes') api.setAttributes(one.attributes as never)
    else if (one.call === 'reset') api.reset()
    else if (one.call === 'attributePurchase') api.attributePurchase(one.purchase as types.Purchase)
    else void api.flush()
  }

  function expectSent(expected: readonly Sent[]): void {
    const actual = sent.splice(0)
    const isSame =
      actual.length === expected.length &&
      expected.every((one, at) =>
        isRequest(one, actual[at] as environment.Request, String(options.url).replace(/\/$/, '')),
      )
    if (!isSame)
      throw new Error(`expected ${JSON.stringify(expected, null, 1)}, but ${JSON.stringify(actual, null, 1)}`)
  }

  function isRequest(one: Sent, { url, headers, body }: environment.Request, base: string): boolean {
    const isThere = url === (one.path.startsWith('/') ? base + one.path : one.path)
    const hasHeaders = Object.entries(one.headers ?? {}).every(([name, text]) => headers[name] === text)
    const lacks = (one.withoutHeaders ?? []).every((name) => !(name in headers))
    return isThere && hasHeaders && lacks && fits(one.body, JSON.parse(body), true)
  }

  async function expectState(expected: unknown): Promise<void> {
    let state: unknown
    api.debugState().then((known) => {
      state = known
    })
    await world.settle()
    if (!fits(expected, state, false))
      throw new Error(`expected ${JSON.stringify(expected)}, but ${JSON.stringify(state)}`)
  }

  function expectCount(kind: string, expected: number, actual: number): void {
    if (expected !== actual) throw new Error(`expected ${expected} ${kind}, but ${actual}`)
  }

  async function restart(): Promise<void> {
    process.kill()
    process = world.boot()
    api = start()
    api.configure(options as types.Options)
  }

  async function change(one: Plain): Promise<void> {
    if ('call' in one) make(one)
    else if ('observe' in one) observe(one.observe)
    else if ('wake' in one) wake()
    else if ('restart' in one) await restart()
    else await changeWorld(one)
  }

  async function changeWorld(one: Plain): Promise<void> {
    if ('pass' in one) await world.advance(one.pass * 1000)
    else if ('turnClock' in one) world.turnClock(one.turnClock * 1000)
    else if ('device' in one) device = { ...device, ...one.device }
    else if ('storage' in one) world.setFaults(FAULTS[one.storage] ?? NO_FAULTS)
    else if ('answers' in one) {
      answers = [...one.answers]
      otherwise = one.after ?? 'accept'
    }
  }

  async function check(one: Plain): Promise<void> {
    if ('expect' in one) expectSent(one.expect)
    else if ('expectCount' in one) expectCount('requests', one.expectCount, sent.splice(0).length)
    else if ('expectWarnings' in one) expectCount('warnings', one.expectWarnings, warnings)
    else if ('expectState' in one) await expectState(one.expectState)
  }

  return async function run(step: Step): Promise<void> {
    const list = 'repeat' in step ? repeated(step.repeat, step.steps) : [step]
    for (const one of list) {
      await change(one)
      await world.settle()
      await check(one)
    }
  }
}

/** The steps so many times; `{n}` is the number of the repetition, from 1. */
const repeated = (times: number, steps: Plain[]): Plain[] =>
  Array.from({ length: times }, (_, at) =>
    JSON.parse(JSON.stringify(steps).replaceAll('{n}', String(at + 1))),
  ).flat()

/**
 * A case as an SDK for Android runs it: every iOS device is an Android device, and the id of a purchase is given as its
 * purchase token.
 */
export function asAndroid<T>(one: T): T {
  return JSON.parse(JSON.stringify(one), (name, value) => {
    if (name === 'platform' && value === 'ios') return 'android'
    if (name !== 'purchase' && name !== 'observe') return value
    const { originalTransactionId, ...purchase } = value
    return originalTransactionId === undefined
      ? purchase
      : { ...purchase, purchaseToken: originalTransactionId }
  })
}
