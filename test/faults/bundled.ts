/** Bundles a program of this folder into one file, because reading many files would slow down these tests. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { at } from '../../tools/bundle.mjs'
import { folderOf } from '../processes.ts'

const here = createRequire(import.meta.url)

/** Imports better-sqlite3, which cannot be bundled, by its absolute path: the bundle is outside of this repository. */
const native: Plugin = {
  name: 'native',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^better-sqlite3$/ }, () => ({
      path: here.resolve('better-sqlite3'),
      external: true,
    })),
}

/** Bundles a program of this folder, by default `windfall serve`, and returns the path of the bundle. */
export async function bundledServing(source = 'serving.ts'): Promise<string> {
  const outfile = join(folderOf(), 'serving.mjs')
  await build({
    entryPoints: [fileURLToPath(new URL(source, import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    plugins: [native],
    define: { BUNDLE_FOLDER: JSON.stringify(at('dist')) },
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
  })
  return outfile
}
