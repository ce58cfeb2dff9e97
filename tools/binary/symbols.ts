/** Checks that an executable finds the symbols it needs on the oldest supported systems. */
import { run } from './targets.ts'

/**
 * The newest versions that both Debian 12 (glibc 2.36, GCC 12) and Ubuntu 24.04 (glibc 2.39, GCC 14) have, which are
 * those of Debian 12.
 */
const NEWEST = { GLIBC: '2.36', GLIBCXX: '3.4.30', CXXABI: '1.3.13' }

/** The libraries of a system on which nothing was installed. */
const LIBRARIES = /^(lib(c|m|dl|pthread|stdc\+\+|gcc_s)|ld-linux-(x86-64|aarch64))\.so\.\d$/

/** The newest version of each kind of symbol that the files need, such as GLIBC 2.34. @throws Error if one is too new. */
export function assertRunsOnDebian12(files: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(NEWEST).map(([kind, limit]) => {
      const needed = files.flatMap((file) => versionsIn(file, kind))
      const highest = needed.toSorted(compareVersions).at(-1) ?? '0'
      if (compareVersions(highest, limit) > 0) throw new Error(`${files.join(', ')} need ${kind}_${highest}`)
      return [kind, highest]
    }),
  )
}

/** @throws Error if `file` needs a library that a system on which nothing was installed does not have. */
export function assertLibraries(file: string): void {
  const needed = [...run('readelf', ['-d', file]).matchAll(/\(NEEDED\).*\[(.+)\]/g)].map(
    ([, name = '']) => name,
  )
  const missing = needed.filter((name) => !LIBRARIES.test(name))
  if (missing.length > 0) throw new Error(`${file} needs ${missing.join(', ')}`)
}

const versionsIn = (file: string, kind: string): string[] =>
  [...run('readelf', ['-V', file]).matchAll(new RegExp(`Name: ${kind}_([0-9.]+)`, 'g'))].map(
    ([, version = '']) => version,
  )

function compareVersions(one: string, other: string): number {
  const [a, b] = [one.split('.').map(Number), other.split('.').map(Number)]
  for (let index = 0; index < Math.max(a.length, b.length); index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
