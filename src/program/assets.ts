/**
 * The files that the program reads at run time: from the executable, from the folder of the bundle, or from the
 * sources.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getAsset } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import { bundleFolder, form } from './form.ts'

/** The assets that the build writes. `worker.cjs` is the code of worker threads. Those that end in .br are compressed. */
type AssetName = 'page.json' | 'sql.json' | 'passwords.txt.br' | 'licenses.txt.br' | 'worker.cjs'

/** The text of an asset, also of a compressed one. @throws Error if the build has not written it. */
export function asset(name: AssetName): string {
  const bytes = bytesOf(name)
  return (name.endsWith('.br') ? brotliDecompressSync(bytes) : bytes).toString()
}

function bytesOf(name: AssetName): Buffer {
  if (form === 'executable') return Buffer.from(getAsset(name))
  try {
    return readFileSync(assetFile(name))
  } catch {
    throw new Error(`${assetFile(name)} is missing; run \`node build.mjs\``)
  }
}

/** The path of an asset of a bundle or of the sources. */
export const assetFile = (name: AssetName): string =>
  join(bundleFolder ?? fileURLToPath(new URL('../../dist', import.meta.url)), name)
