/** The server as a service of systemd: what it tells systemd, and what it writes to the journal. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { expectErrors } from '../guards/error_lines.ts'
import { folderOf, start, startServing } from '../processes.ts'

/** A folder with a program that stands in for systemd-notify: it writes its socket and its arguments to `notified`. */
function folderWithNotify(): { bin: string; notified: () => string } {
  const bin = folderOf()
  const file = join(bin, 'notified')
  writeFileSync(join(bin, 'systemd-notify'), `#!/bin/sh\necho "$NOTIFY_SOCKET $*" > ${file}\n`)
  chmodSync(join(bin, 'systemd-notify'), 0o755)
  return { bin, notified: () => (existsSync(file) ? readFileSync(file, 'utf8') : '') }
}

test('tells systemd when it serves, and nothing without its socket', async () => {
  const { bin, notified } = folderWithNotify()
  const env = { PATH: bin }
  await startServing({ cwd: folderOf(), env })
  const notifying = await startServing({ cwd: folderOf(), env: { ...env, NOTIFY_SOCKET: '/run/notify' } })
  await vi.waitFor(
    () => expect(notified()).toBe(`/run/notify --ready --status=Serving at ${notifying.url}\n`),
    10_000,
  )
})

test('says that systemd waits, if it cannot be told', async () => {
  expectErrors('systemd was not told that the server is ready')
  const env = { PATH: folderOf(), NOTIFY_SOCKET: '/run/notify' }
  const serving = await startServing({ cwd: folderOf(), env })
  await serving.logged('systemd was not told that the server is ready, and waits')
  serving.kill('SIGTERM')
  await serving.ended
})

/** Runs the server with JOURNAL_STREAM as systemd sets it. */
const IN_JOURNAL =
  'exec 3>&1; export JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/3); exec 3>&-; exec "$0" "$@"'

function startInJournal(cwd: string) {
  const program = fileURLToPath(new URL('../../dist/windfall.mjs', import.meta.url))
  return start(['-c', IN_JOURNAL, process.execPath, program, 'serve'], {
    cwd,
    env: { PATH: process.env.PATH ?? '', WINDFALL_SERVER_PORT: '0' },
    program: '/bin/sh',
  })
}

test('writes priorities and no setup link to the journal', async () => {
  expectErrors('was not reloaded')
  const cwd = folderOf({ 'config.toml': '' })
  const running = startInJournal(cwd)
  await running.until((stdout) => /^<6>\{.*"message":"serving"/m.exec(stdout))
  const welcome = await running.until((stdout) => /Set the dashboard password: (.*)/.exec(stdout))
  expect(welcome[1]).toBe('run npm run -s windfall -- owner reset, which prints a link')
  writeFileSync(join(cwd, 'config.toml'), 'nothing = 1\n')
  running.kill('SIGHUP')
  await running.until((stdout) => /^<3>\{.*"level":"error".*was not reloaded/m.exec(stdout))
  expect(running.stdout()).not.toContain('/setup#')
  running.kill('SIGTERM')
  expect(await running.ended).toMatchObject({ status: 0 })
})
