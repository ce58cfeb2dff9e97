/** Runs the checks through the API as the owner. */
import { setImmediate } from 'node:timers/promises'
import type { InferOutput } from 'valibot'
import { expect } from 'vitest'
import type { SystemAnswer } from '../../src/api/owner/system.ts'
import { openSignedIn } from '../api/owner/settings_pages.ts'
import type { TestApp, TestOptions } from '../helpers.ts'

type System = InferOutput<typeof SystemAnswer>
export type CheckRow = NonNullable<System['result']>['checks'][number]

/** A base URL at which no server listens, so that no test reaches the network. */
const NOBODY = { WINDFALL_BASE_URL: 'http://127.0.0.1:1', WINDFALL_RATES_FETCH: 'false' }

/** Opens a Windfall whose owner runs the checks. `check` runs all and returns those whose id begins with a word. */
export async function openChecked(given: TestOptions | TestApp = {}) {
  const signedIn = await openSignedIn(
    'windfall' in given ? given : { ...given, env: { ...NOBODY, ...given.env } },
  )
  const { app } = signedIn
  const { cookie, ...headers } = await app.signIn()

  /** Calls as the owner. The name of the session cookie depends on the base URL. */
  function call(method: string, path: string, body?: unknown, others?: Record<string, string>) {
    const isSecure = app.windfall.http.baseUrl()?.startsWith('https:') ?? false
    return signedIn.call(
      method,
      path,
      body,
      others ?? { ...headers, cookie: isSecure ? `__Host-${cookie}` : cookie },
    )
  }

  const system = async (): Promise<System> => (await call('GET', 'system')).body as unknown as System

  async function checks(): Promise<CheckRow[]> {
    app.clock.turn(60_000)
    expect((await call('POST', 'system/checks', {})).status).toBe(202)
    for (;;) {
      const { running, result } = await system()
      if (running === null) return result?.checks ?? []
      await setImmediate()
    }
  }

  const check = async (id: string): Promise<CheckRow[]> => about(await checks(), id)

  return { ...signedIn, call, system, checks, check }
}

/** The results whose id is `id` or begins with it. */
export const about = (all: readonly CheckRow[], id: string): CheckRow[] =>
  all.filter((one) => one.id === id || one.id.startsWith(`${id}:`))
