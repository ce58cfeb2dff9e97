/** The system user that the service runs as. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Refusal } from '../../errors.ts'
import { userNamed } from '../../systemd/access.ts'
import { SERVICE_USER } from '../../systemd/unit.ts'
import { DATA_FOLDER, type Outcome } from './layout.ts'

/**
 * Creates the system user and its group in the system at `root`, if they do not exist.
 *
 * @throws Refusal 400 `no_system`, 500 `useradd` with what it printed.
 */
export function ensureUser(root: string): { outcome: Outcome; uid: number; gid: number } {
  const existing = userNamed(SERVICE_USER, root)
  if (existing !== null) return { outcome: 'unchanged', uid: existing.uid, gid: existing.gid }
  const elsewhere = root === '/' ? [] : ['--prefix', root]
  const fixed = ['--system', '--user-group', '--no-create-home', '--home-dir', DATA_FOLDER]
  const args = [...elsewhere, ...fixed, '--shell', '/usr/sbin/nologin', SERVICE_USER]
  if (!existsSync(join(root, 'etc/passwd')))
    throw new Refusal(
      400,
      'no_system',
      `${root} is not the root folder of a Linux system: it has no etc/passwd`,
    )
  // The PATH of root after `su` can lack the folders of system programs.
  const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` }
  const { error, status, stderr } = spawnSync('useradd', args, { encoding: 'utf8', env })
  const made = userNamed(SERVICE_USER, root)
  if (status !== 0 || made === null) {
    const reason = error?.message ?? stderr.trim()
    throw new Refusal(500, 'useradd', `the user ${SERVICE_USER} cannot be created: useradd failed: ${reason}`)
  }
  return { outcome: 'created', uid: made.uid, gid: made.gid }
}
