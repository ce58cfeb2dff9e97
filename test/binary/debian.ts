/** Root folders of Debian 12, for tests that root runs. */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { temporaryFolder } from '../folders.ts'

export const DEBOOTSTRAP = '/usr/sbin/debootstrap'
/** The program that boots a root (Debian package systemd-container). */
export const NSPAWN = '/usr/bin/systemd-nspawn'

/**
 * A root of Debian 12 with the smallest set of packages, and with systemd if `more` says so. It is kept, because making it
 * takes a minute.
 */
export function debianRoot(arch: 'amd64' | 'arm64', more: 'systemd' | null = null): string {
  const root = join(tmpdir(), `windfall-debian-12-${arch}${more === null ? '' : `-${more}`}`)
  if (existsSync(join(root, '.complete'))) return root
  rmSync(root, { recursive: true, force: true })
  // The packages of another architecture are unpacked and not configured: the libraries are what counts.
  const foreign = arch === 'arm64' ? ['--foreign'] : []
  const include = more === null ? [] : [`--include=${more}`]
  const args = [...foreign, ...include, `--arch=${arch}`, '--variant=minbase', 'bookworm', root]
  const { status, stdout, stderr } = spawnSync(DEBOOTSTRAP, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`debootstrap failed: ${stdout}${stderr}`)
  writeFileSync(join(root, '.complete'), '')
  return root
}

/** A copy of the root, which is deleted after the tests of the file. */
export function freshDebianRoot(more: 'systemd' | null = null): string {
  const { path } = temporaryFolder()
  const copied = spawnSync('cp', ['-a', '--reflink=auto', `${debianRoot('amd64', more)}/.`, path], {
    encoding: 'utf8',
  })
  if (copied.status !== 0) throw new Error(`the root of Debian cannot be copied: ${copied.stderr}`)
  // What other tests put into the shared root.
  for (const name of ['usr/local/bin/windfall', 'srv/windfall'])
    rmSync(join(path, name), { recursive: true, force: true })
  return path
}
