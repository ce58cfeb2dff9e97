/** The demo for the pictures: settled, with a year of reports imported and everything converted. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const built = fileURLToPath(new URL('../../dist/windfall.mjs', import.meta.url))

export type StartedDemo = { link: string; base: string; stop: () => void }

/** Starts it and waits for the first import. */
export function startDemo(): Promise<StartedDemo> {
  const child = spawn(process.execPath, [built, 'demo', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the demo ended with ${code}:\n${output}`)))
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
      const [link, base] = /(http:\/\/127\.0\.0\.1:\d+)\/login#\S+/.exec(output) ?? []
      if (!link || !base || !/Imported a year of .* in \d/.test(output)) return
      resolve({ link, base, stop: () => child.kill('SIGTERM') })
    })
  })
}
