/** The demo as a process of its own, for pictures and for the tests that share it. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const built = fileURLToPath(new URL('../../../dist/windfall.mjs', import.meta.url))

export type StartedDemo = { link: string; base: string; password: string; stop: () => void }

/** Starts it and waits for the first import: past figures change until then. */
export function startSettledDemo(options: readonly string[] = []): Promise<StartedDemo> {
  const child = spawn(process.execPath, [built, 'demo', '--port', '0', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the demo ended with ${code}:\n${output}`)))
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
      const [link, base] = /(http:\/\/127\.0\.0\.1:\d+)\/login#\S+/.exec(output) ?? []
      const [, password] = /with the password (\S+)/.exec(output) ?? []
      if (!link || !base || !password || !/Imported a year of .* in \d/.test(output)) return
      resolve({ link, base, password, stop: () => child.kill('SIGTERM') })
    })
  })
}
