/** The server as a service of systemd: whether standard output is the journal, and the message that the server serves. */
import { execFile } from 'node:child_process'
import { fstatSync } from 'node:fs'
import { promisify } from 'node:util'

const STDOUT = 1

/**
 * Whether standard output goes to the journal: JOURNAL_STREAM has the device and the inode of the stream that systemd
 * opened (systemd.exec(5)), and the output can have been redirected since.
 */
export function isJournal(stream = process.env.JOURNAL_STREAM): boolean {
  if (stream === undefined) return false
  const { dev, ino } = fstatSync(STDOUT, { bigint: true })
  return stream === `${dev}:${ino}`
}

/**
 * Tells systemd that the server serves, if it waits for that (Type=notify). Node.js has no datagram sockets for paths, so
 * `systemd-notify`, which is a part of systemd, sends it.
 *
 * @throws Error if that fails; systemd then waits on.
 */
export async function notifyReady(status: string, env: NodeJS.ProcessEnv = process.env): Promise<void> {
  if (env.NOTIFY_SOCKET === undefined) return
  await promisify(execFile)('systemd-notify', ['--ready', `--status=${status}`], { env })
}
