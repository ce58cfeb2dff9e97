/** Incremental builds of the server and the page for `npm run dev`. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build, context } from 'esbuild'
import {
  assetsOf,
  at,
  buildOf,
  packedPage,
  pageAddresses,
  pageFiles,
  pageOptions,
  serverOptions,
} from '../bundle.mjs'
import type { PageFiles } from './proxy.ts'

/** The bundled server. */
export const SERVER_FILE = at('dist/dev/server.cjs')

/** The server is built without the page: the proxy serves it, so that a change of the page restarts nothing. */
const NO_PAGE = packedPage(
  Object.fromEntries(
    pageAddresses().map((address) => [address, { type: 'text/html; charset=utf-8', bytes: Buffer.from('') }]),
  ),
)

/** A file of the server: the bundle or an asset. */
type Output = { path: string; contents: Uint8Array }

/** The outputs that a build changed. */
type Built = { server: boolean; page: PageFiles | null }

/** Opens the builds. `build` rebuilds server and page. @throws the error of esbuild, which has already printed it */
export async function openBuilds() {
  const { version } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  const page = await context({ ...pageOptions, minify: false, sourcemap: 'inline' })
  const server = await context({
    ...serverOptions(buildOf(version)),
    entryPoints: { server: 'tools/dev/server.ts', worker: 'src/threads.ts' },
    outdir: dirname(SERVER_FILE),
    minifySyntax: false,
    minifyWhitespace: false,
    write: false,
  })
  let last = { server: '', page: '' }

  /** @returns what changed since the last successful build */
  async function buildAll(): Promise<Built> {
    const [built, ofPage, assets] = await Promise.all([server.rebuild(), page.rebuild(), assetsOf(NO_PAGE)])
    const outputs: Output[] = [
      ...(built.outputFiles ?? []),
      ...Object.entries(assets).map(([name, text]) => ({
        path: join(dirname(SERVER_FILE), name),
        contents: Buffer.from(text),
      })),
    ]
    const files: PageFiles = await pageFiles(ofPage, build, version)
    const now = { server: hashOf(outputs), page: hashOf(Object.values(files)) }
    const changed = { server: now.server !== last.server, page: now.page !== last.page ? files : null }
    if (changed.server) write(outputs)
    last = now
    return changed
  }

  const close = () => Promise.all([server.dispose(), page.dispose()])
  return { build: buildAll, close }
}

function hashOf(files: readonly ({ contents: Uint8Array } | { bytes: Uint8Array })[]): string {
  const hash = createHash('sha256')
  for (const file of files) hash.update('contents' in file ? file.contents : file.bytes)
  return hash.digest('hex')
}

function write(files: readonly Output[]): void {
  mkdirSync(dirname(SERVER_FILE), { recursive: true })
  for (const { path, contents } of files) writeFileSync(path, contents)
}
