/**
 * The Swift compiler, in a Debian system of its own outside the checkout: Debian 13 has Swift, and the machine need not have
 * it. Needs root and debootstrap. A command sees the checkout at /windfall, read-only, and a build folder that is kept.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../due/cache.ts'
import { faultOf } from '../due/fault.ts'

/** The system is `root` in it; what is built and the last green hash are beside that. */
export const FOLDER = process.env.WINDFALL_SWIFT ?? cacheFolder('windfall-swift')
const ROOT = join(FOLDER, 'root')
const BUILD = join(FOLDER, 'build')
const PACKAGES = ['swiftlang', 'libc6-dev', 'g++']

/** Runs `script` with root's rights over mounts, which end with it. */
const inMounts = (script: string, args: readonly string[]): SpawnSyncReturns<string> =>
  spawnSync('unshare', ['--mount', 'sh', '-euc', script, 'sh', ...args], {
    encoding: 'utf8',
    maxBuffer: 1e8,
    stdio: ['ignore', 'pipe', 'pipe'],
  })

const MOUNTS = 'mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"'

/** Makes the system, which takes three minutes and 2.5 GB. @throws Error with the last lines of what failed. */
function make(): void {
  const next = `${ROOT}.next`
  rmSync(next, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const script = `debootstrap --variant=minbase --include=ca-certificates trixie "$1"; ${MOUNTS}
    chroot "$1" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive chroot "$1" apt-get install -y -qq --no-install-recommends ${PACKAGES.join(' ')}
    chroot "$1" apt-get clean
    mkdir -p "$1/windfall" "$1/build"`
  const { status, stdout, stderr, error } = inMounts(script, [next])
  if (status !== 0) throw new Error(error?.message ?? lastLines(`${stdout}${stderr}`))
  renameSync(next, ROOT)
}

const lastLines = (text: string): string => text.trimEnd().split('\n').slice(-3).join('; ')

/** Makes the system if it is missing. Returns why it is not there, or null. */
export const fault = (): string | null => faultOf(() => existsSync(ROOT), make)

/** The command line that runs `command` in the system, with `checkout` at /windfall and the build folder at /build. */
export function commandLine(checkout: string, command: readonly string[]): string[] {
  mkdirSync(BUILD, { recursive: true })
  const script = `${MOUNTS}; mount --bind -o ro "$2" "$1/windfall"; mount --bind "$3" "$1/build"; root=$1; shift 3
    HOME=/root LC_ALL=C.UTF-8 exec chroot "$root" sh -c 'cd /windfall && exec "$@"' sh "$@"`
  return ['unshare', '--mount', 'sh', '-euc', script, 'sh', ROOT, checkout, BUILD, ...command]
}
