/** `windfall serve` for tests that need verified notifications: trusts the root certificate in ROOT_PEM. */
import { isMainThread } from 'node:worker_threads'
import { serveUntilStopped } from '../../src/cli/serve.ts'
import { loadConfig } from '../../src/config/load.ts'

if (isMainThread) {
  const { ROOT_PEM = '', ...env } = process.env
  await serveUntilStopped(() => loadConfig({ env, cwd: process.cwd() }), { roots: [ROOT_PEM] })
}
