/**
 * Builds the program as it ships, into a folder of its own, for a simulated Apple: the ordinary build with four modules
 * replaced while it compiles. They are constants, so nothing that a released program reads can replace them.
 */
import type { Plugin } from 'esbuild'
import type { AppleHosts } from '../../src/apple/api/hosts.ts'
import type { RateOrigins } from '../../src/rates/origins.ts'
import { writeExecutables } from '../../tools/binary/executables.ts'
import { HOST } from '../../tools/binary/targets.ts'
import { at } from '../../tools/bundle.mjs'
import { writeProgram } from '../../tools/program.mjs'

/** The simulated Apple: its root of signatures and that of attestations as PEM, its hosts and the publishers of rates. */
export type SimulatedApple = { root: string; attest_root: string; hosts: AppleHosts; rates: RateOrigins }

/** The code of each replaced module. */
const modulesFor = ({ root, attest_root, hosts, rates }: SimulatedApple): Record<string, string> => ({
  'src/apple/jws/roots.ts': `export const APPLE_ROOTS = ${JSON.stringify([root])}`,
  'src/apple/attest/roots.ts': `export const APP_ATTEST_ROOTS = ${JSON.stringify([attest_root])}`,
  'src/apple/api/hosts.ts': `export const APPLE_HOSTS = ${JSON.stringify(hosts)}`,
  'src/rates/origins.ts': `export const RATE_ORIGINS = ${JSON.stringify(rates)}`,
})

/** Replaces the modules. The build fails if one of them was not found. */
function replacing(apple: SimulatedApple): Plugin {
  const modules = new Map(Object.entries(modulesFor(apple)).map(([path, code]) => [at(path), code]))
  return {
    name: 'simulated-apple',
    setup({ onLoad, onEnd }) {
      const missing = new Set(modules.keys())
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const contents = modules.get(path)
        if (contents === undefined) return null
        missing.delete(path)
        return { contents, loader: 'ts' }
      })
      onEnd(() => {
        if (missing.size > 0) throw new Error(`not in the program: ${[...missing].join(', ')}`)
      })
    },
  }
}

/** How the program ships: as the bundle that Node runs, or as one executable file. */
export type Form = 'bundle' | 'executable'

/** Builds the program in `folder`, which must be below the repository. Returns the file to run. */
export async function buildFor(apple: SimulatedApple, form: Form, folder: string): Promise<string> {
  const plugins = [replacing(apple)]
  if (form === 'bundle') {
    await writeProgram(folder, plugins)
    return `${folder}/windfall.mjs`
  }
  const [file = ''] = await writeExecutables(folder, [HOST], plugins)
  return file
}
