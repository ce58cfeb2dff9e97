/** Root folders of Debian 12, for tests that root runs. */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { temporaryFolder } from '../folders.ts'

export const DEBOOTSTRAP = '/usr/sbin/debootstrap'

/** A root of Debian 12 with the smallest set of packages. It is kept, because making it takes a minute. */
export function debianRoot(arch: 'amd64' | 'arm64'): string {
  const root = join(tmpdir(), `windfall-debian-12-${arch}`)
  if (existsSync(join(root, '.complete'))) return root
  rmSync(root, { recursive: true, force: true })
  // The packages of another architecture are unpacked and not configured: the libraries are what counts.
  const foreign = arch === 'arm64' ? ['--foreign'] : []
  const args = [...foreign, `--arch=${arch}`, '--variant=minbase', 'bookworm', root]
  const { status, stdout, stderr } = spawnSync(DEBOOTSTRAP, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`debootstrap failed: ${stdout}${stderr}`)
  writeFileSync(join(root, '.complete'), '')
  return root
}

/** A copy of the root, which is deleted after the tests of the file. */
export function freshDebianRoot(): string {
  const { path } = temporaryFolder()
  const copied = spawnSync('cp', ['-a', '--reflink=auto', `${debianRoot('amd64')}/.`, path], {
    encoding: 'utf8',
  })
  if (copied.status !== 0) throw new Error(`the root of Debian cannot be copied: ${copied.stderr}`)
  // What other tests put into the shared root.
  for (const name of ['usr/local/bin/windfall', 'srv/windfall'])
    rmSync(join(path, name), { recursive: true, force: true })
  return path
}
