/** The built SDK against the real server, over a socket: in Node, and in an engine that lacks what Hermes lacks. */

import { createRequire } from 'node:module'
import vm from 'node:vm'
import { expect, test } from 'vitest'
import { listen } from '../../src/http/server.ts'
import { BUNDLE, NOW, transactionPayload } from '../apple/samples.ts'
import { closedAtEnd } from '../closing.ts'
import { openTestApp } from '../helpers.ts'
import { built, PACKAGE, type Sdk } from './built.ts'

async function openServer() {
  const app = await openTestApp()
  const server = closedAtEnd(await listen(app.windfall.http, { port: 0 }))
  const user = async (id: string) => {
    const headers = { authorization: `Bearer ${await app.token()}` }
    const response = await app.request(`/api/v1/users/${encodeURIComponent(id)}`, { headers })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { ...app, user, url: server.url.replace(/\/$/, '') }
}

/** A fresh copy of the package, as a new start of an app, with what `load` finds for its `require`. */
function loadNative(packages: Record<string, unknown>, globals: Record<string, unknown>): Sdk {
  const module = { exports: {} as Sdk }
  const require = (name: string) => {
    if (packages[name] === undefined) throw new Error(`Cannot find module ${name}`)
    return packages[name]
  }
  const context = vm.createContext({ ...globals, module, require })
  vm.runInContext(built('native.js'), context)
  return module.exports
}

/** What Hermes has of the web: no crypto.randomUUID, URL, AbortSignal, AbortController, structuredClone, atob. */
const hermes = () => ({
  fetch: (url: string, options: RequestInit) => fetch(url, options),
  setTimeout,
  clearTimeout,
  console,
})

function asyncStorage(stored: Map<string, string>) {
  return {
    default: {
      getItem: async (key: string) => stored.get(key) ?? null,
      setItem: async (key: string, value: string) => void stored.set(key, value),
      removeItem: async (key: string) => void stored.delete(key),
      getAllKeys: async () => [...stored.keys()],
    },
  }
}

test('in Node a purchase before the login ends verified, with the user', async () => {
  const { url, user, authority } = await openServer()
  const own = createRequire(`${PACKAGE}package.json`)
  const sdk: Sdk = own('windfall-sdk')
  const jws = authority.sign(
    transactionPayload({ originalTransactionId: '71', transactionId: '71', signedDate: NOW }),
  )
  sdk.attributePurchase({ originalTransactionId: '71', productId: 'pro', jws })
  sdk.configure({ url, bundleId: BUNDLE, platform: 'ios' })
  sdk.identify('ann', { plan: 'pro' })
  await sdk.flush()
  const { queue, lastAnswer, storage } = await sdk.debugState()
  expect({ queue, lastAnswer, storage }).toEqual({ queue: [], lastAnswer: '200', storage: 'memory' })
  const { body } = await user('ann')
  expect(JSON.stringify(body)).toContain('"plan":"pro"')
  expect(JSON.stringify(body)).toContain('"verification":"verified"')
})

test('in an engine like Hermes: React Native, AsyncStorage, a purchase library, and a restart', async () => {
  const { url, user, authority } = await openServer()
  const stored = new Map<string, string>()
  let hear = (_: unknown): void => {}
  const packages = {
    'react-native': { Platform: { OS: 'ios', Version: '19.1' }, AppState: { addEventListener: () => {} } },
    '@react-native-async-storage/async-storage': asyncStorage(stored),
    'expo-application': { applicationId: BUNDLE },
    'react-native-iap': {
      purchaseUpdatedListener(heard: (purchase: unknown) => void) {
        hear = heard
      },
    },
  }
  const first = loadNative(packages, hermes())
  first.configure({ url: 'http://127.0.0.1:1' })
  const jws = authority.sign(
    transactionPayload({ originalTransactionId: '72', transactionId: '73', signedDate: NOW }),
  )
  hear({
    platform: 'ios',
    originalTransactionIdentifierIOS: '72',
    transactionId: '73',
    productId: 'pro',
    purchaseToken: jws,
  })
  await first.flush()
  expect((await first.debugState()).queue).toMatchObject([{ call: 'attribute', originalTransactionId: '72' }])
  const second = loadNative(packages, hermes())
  second.configure({ url })
  second.identify('bob')
  await second.flush()
  const { body } = await user('bob')
  expect(JSON.stringify(body)).toContain('"verification":"verified"')
})

test('answers of the real server mean what the SDK takes them for', async () => {
  const { url, windfall, organization } = await openServer()
  const sdk = loadNative({ 'react-native': { Platform: { OS: 'ios', Version: '19' } } }, hermes())
  sdk.configure({ url, bundleId: 'com.example.unknown' })
  sdk.identify('ann')
  await sdk.flush()
  expect(await sdk.debugState()).toMatchObject({
    lastAnswer: '404 unknown_app',
    queue: [{ call: 'identify' }],
  })

  const other = loadNative({}, hermes())
  other.configure({ url, bundleId: BUNDLE })
  other.attributePurchase({
    originalTransactionId: '74',
    jws: 'eyJhIjoxfQ.eyJ0cmFuc2FjdGlvbklkIjoiMSJ9.c2ln',
  })
  other.setAttributes(Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`key_${at}`, at])))
  await other.flush()
  other.setAttributes({ key_1: 'new', one_more: 1 })
  await other.flush()
  expect(await other.debugState()).toMatchObject({ lastAnswer: '200', queue: [], refused: [] })

  await windfall.store.commit(() =>
    windfall.apps.add(organization.id, { bundle_id: 'com.example.unknown' }, 'test'),
  )
  expect((await sdk.debugState()).queue).toHaveLength(1)
})

test('says which calls it leaves out and why, with the beginning of a long id', async () => {
  const { url } = await openServer()
  const lines: string[] = []
  const sdk = loadNative({}, hermes())
  sdk.configure({ url, bundleId: BUNDLE, debug: (line: string) => lines.push(line) })
  sdk.identify('')
  sdk.identify('x'.repeat(2_000))
  sdk.attributePurchase({ productId: 'pro' })
  await sdk.flush()
  expect(lines.map((line) => line.replace(/^\[windfall\] /, ''))).toEqual([
    'left out: "" is not a user id',
    `left out: "${'x'.repeat(64)}" is not a user id`,
    'left out: a purchase without an id',
  ])
})

test('React Native without Intl and without optional packages: the device has what is known, and storage is memory', async () => {
  const { url, user } = await openServer()
  const packages = {
    'react-native': {
      Platform: { OS: 'android', Version: 35, constants: { Release: '15', Model: 'Pixel 9' } },
    },
  }
  const sdk = loadNative(packages, hermes())
  sdk.configure({ url, bundleId: BUNDLE })
  sdk.identify('carl')
  await sdk.flush()
  expect((await sdk.debugState()).storage).toBe('memory')
  const { body } = await user('carl')
  for (const one of ['android', '15', 'Pixel 9']) expect(JSON.stringify(body)).toContain(`"${one}"`)

  const bare = loadNative({}, { ...hermes(), Intl: undefined })
  bare.configure({ url, bundleId: BUNDLE })
  bare.identify('dora')
  await bare.flush()
  expect(JSON.stringify((await user('dora')).body)).not.toContain('undefined')
})

test('a purchase library that throws before its store is open is hooked when the app comes to the foreground', async () => {
  const { url } = await openServer()
  let isOpen = false
  let foreground = (_: string): void => {}
  let hear = (_: unknown): void => {}
  const packages = {
    'react-native': {
      Platform: { OS: 'ios', Version: '19' },
      AppState: {
        addEventListener(_: string, heard: (state: string) => void) {
          foreground = heard
        },
      },
    },
    'expo-iap': {
      purchaseUpdatedListener(heard: (purchase: unknown) => void) {
        if (!isOpen) throw new Error('not prepared')
        hear = heard
      },
    },
  }
  const sdk = loadNative(packages, hermes())
  sdk.configure({ url, bundleId: BUNDLE })
  isOpen = true
  foreground('active')
  hear({
    originalTransactionIdentifierIOS: '75',
    transactionId: '75',
    productId: 'pro',
    purchaseState: 'pending',
  })
  hear({
    originalTransactionIdentifierIOS: '76',
    transactionId: '76',
    productId: 'pro',
    purchaseState: 'purchased',
  })
  await sdk.flush()
  expect(await sdk.debugState()).toMatchObject({ lastAnswer: '200', queue: [] })
})
