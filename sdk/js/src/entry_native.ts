/**
 * The package in React Native. Each `require` has a literal name and stands alone in a `try`, which is how Metro knows
 * that the package may be missing.
 */
import { openApi } from './api.ts'
import type { Device } from './environment.ts'
import type { Storage } from './types.ts'

declare const require: (name: string) => unknown
declare const module: { exports: unknown }

type ReactNative = {
  Platform: { OS?: string; Version?: unknown; constants?: { Release?: string; Model?: string } }
  AppState: { addEventListener(event: 'change', heard: (state: string) => void): unknown }
}
type NetInfo = { addEventListener(heard: (state: { isConnected?: boolean | null }) => void): unknown }

/** Loads each package, which throws where it is missing. */
let load: { [name: string]: () => unknown } = {}
try {
  load = {
    native: () => require('react-native'),
    storage: () => require('@react-native-async-storage/async-storage'),
    net: () => require('@react-native-community/netinfo'),
    application: () => require('expo-application'),
    device: () => require('expo-device'),
    iap: () => require('react-native-iap'),
    expoIap: () => require('expo-iap'),
  }
} catch {
  // Metro takes a package for optional only if its name stands in a try.
}

/** What `read` finds in a package, or behind its `default`; undefined if it is missing. */
function find<T, R>(name: string, read: (loaded: T) => R): R | undefined {
  try {
    const loaded = load[name]?.() as { default?: T }
    return read(loaded.default ?? (loaded as T))
  } catch {
    return undefined
  }
}

const device = (): Device => {
  const { OS, Version, constants } = find('native', ({ Platform }: ReactNative) => Platform) ?? {}
  const model =
    constants?.Model ??
    find('device', (one: { modelId?: unknown; modelName?: unknown }) => one.modelId ?? one.modelName)
  return {
    platform: OS as string,
    // iOS has a text, Android a number beside the text of its release.
    osVersion: (constants?.Release ?? Version) as string,
    deviceModel: model as string,
    // Not every engine has Intl.
    locale: find('native', () => Intl.DateTimeFormat().resolvedOptions().locale) as string,
  }
}

const itself = (one: unknown) => one

module.exports = openApi({
  storage: () => find('storage', (one: Storage) => one),
  device,
  bundleId: () => find('application', (one: { applicationId: unknown }) => one.applicationId),
  watch(wake) {
    find('native', ({ AppState }: ReactNative) =>
      AppState.addEventListener('change', (state) => {
        if (state === 'active') wake()
      }),
    )
    find('net', (one: NetInfo) =>
      one.addEventListener(({ isConnected }) => {
        if (isConnected) wake()
      }),
    )
  },
  libraries: [() => find('iap', itself), () => find('expoIap', itself)],
})
