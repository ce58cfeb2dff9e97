/** The executable for this machine, which `npm run build:binary` writes. */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** The path of the executable for `target`, such as linux-arm64. */
export const executableFor = (target: string): string =>
  fileURLToPath(new URL(`../../dist/binary/windfall-${version}-${target}`, import.meta.url))

/** The executable for this machine. */
export const executable = executableFor(`linux-${process.arch}`)

/** True if all of these are there; otherwise prints what is missing, because tests are then skipped. */
export function has(...files: string[]): boolean {
  const missing = files.filter((file) => !existsSync(file))
  for (const file of missing) process.stderr.write(`\n*** ${file} is missing: its tests are SKIPPED.\n\n`)
  return missing.length === 0
}
