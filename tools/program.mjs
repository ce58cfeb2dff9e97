/**
 * Writes the program that Node runs: dist/windfall.mjs for build.mjs, and the same with other modules for tests of what is
 * shipped. Plain JavaScript, because build.mjs runs on any Node.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import {
  assetsOf,
  at,
  buildOf,
  escapeCode,
  firstFile,
  packedPage,
  pageFiles,
  pageOptions,
  serverOptions,
} from './bundle.mjs'
import { fontPackage, licensesText, nodePackage, packagesIn } from './packages.mjs'

/**
 * Writes windfall.mjs, its code and its assets to `folder`.
 *
 * @param {string} folder an absolute path
 * @param {import('esbuild').Plugin[]} plugins for the code of the server
 * @returns {Promise<void>}
 */
export async function writeProgram(folder, plugins = []) {
  const { build } = await import('esbuild')
  const { version } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  mkdirSync(folder, { recursive: true })
  const builtPage = await build(pageOptions)
  const page = packedPage(await pageFiles(builtPage, build, version))
  for (const [name, text] of Object.entries(await assetsOf(page))) writeFileSync(join(folder, name), text)
  const options = { ...serverOptions(buildOf(version)), outdir: folder, plugins, metafile: true }
  const { metafile } = await build(options)
  const packages = [...packagesIn([builtPage.metafile, metafile]), nodePackage(), fontPackage()]
  writeFileSync(join(folder, 'licenses.txt.br'), brotliCompressSync(licensesText(packages)))
  escapeCode(folder)
  writeFileSync(join(folder, 'windfall.mjs'), firstFile)
}
