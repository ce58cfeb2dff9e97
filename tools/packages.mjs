/**
 * The packages whose code is in the program, with their licences. Plain JavaScript, because build.mjs runs on any Node.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { at } from './bundle.mjs'

/**
 * @typedef {{ name: string, version: string, license: string, text: string }} Package
 * A package of the program. `license` is an SPDX expression, `text` the licence file.
 */

/** Its native part is not in a bundle, so esbuild does not see it. */
const NATIVE = 'node_modules/better-sqlite3'

/**
 * The packages that these builds read, and Node, sorted by name.
 *
 * @param {readonly import('esbuild').Metafile[]} metafiles
 * @returns {Package[]}
 */
export function packagesIn(metafiles) {
  const folders = metafiles
    .flatMap(({ inputs }) => Object.keys(inputs))
    .flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [])
  return [...new Set([...folders, NATIVE])].sort().map(packageAt)
}

function packageAt(folder) {
  const { name, version, license } = JSON.parse(readFileSync(at(`${folder}/package.json`), 'utf8'))
  if (typeof license !== 'string') throw new Error(`${folder}/package.json names no licence`)
  return { name, version, license, text: licenceIn(folder) }
}

function licenceIn(folder) {
  const file = readdirSync(at(folder)).find((entry) => /^(licen[cs]e|copying)(\.|$)/i.test(entry))
  return file === undefined ? '' : readFileSync(at(`${folder}/${file}`), 'utf8').trim()
}

/**
 * Node, whose licence file contains those of everything that is compiled into it. npm puts the package that Node is in
 * at one of two places.
 *
 * @returns {Package}
 */
export function nodePackage() {
  const { version } = JSON.parse(readFileSync(at('node_modules/node/package.json'), 'utf8'))
  const name = `node_modules/node-${process.platform}-${process.arch}`
  const folder = [`node_modules/node/${name}`, name].find((path) => existsSync(at(path)))
  return { name: 'node', version, license: 'MIT', text: folder === undefined ? '' : licenceIn(folder) }
}

/**
 * The font of the page: a subset of Inter's variable font.
 *
 * @returns {Package}
 */
export const fontPackage = () => ({
  name: 'Inter',
  version: '4.1',
  license: 'OFL-1.1',
  text: readFileSync(at('src/web/ui/styles/font/LICENSE.txt'), 'utf8').trim(),
})

/**
 * The text that `windfall licenses` prints.
 *
 * @param {readonly Package[]} packages
 */
export const licensesText = (packages) =>
  [
    `Windfall\n\n${readFileSync(at('LICENSE'), 'utf8').trim()}\n`,
    ...packages.map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text}\n`),
  ].join(`\n${'-'.repeat(80)}\n\n`)
