/**
 * One demo for all browser tests, because it takes a minute of two cores until its figures stay. It starts when the
 * first test asks the address `demo` for it, and ends with the suite.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { isLong } from '../../random.ts'
import { type StartedDemo, startSettledDemo } from './start_demo.ts'

declare module 'vitest' {
  interface ProvidedContext {
    demo: string
  }
}

/** Enough for every view, in less than half of the time that the company of `npm run demo` takes. */
const FEW = '500'

/** What a test needs to open the demo. */
export type SharedDemo = { base: string; password: string }

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<StartedDemo> | undefined
  const server = createServer(async (_, response) => {
    starting ??= startSettledDemo(isLong ? [] : ['--subscribers', FEW])
    // White space before the JSON keeps the request from a timeout.
    const waiting = setInterval(() => response.write(' '), 30_000)
    try {
      const { base, password } = await starting
      response.end(JSON.stringify({ base, password } satisfies SharedDemo))
    } catch (error) {
      process.stderr.write(`${error}\n`)
      response.destroy()
    }
    clearInterval(waiting)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  provide('demo', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    server.close()
    const demo = await starting?.catch(() => undefined)
    demo?.stop()
  }
}
