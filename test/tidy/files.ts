/** The files that the house rules are about, by their paths from the top of the repository. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const ROOT = new URL('../..', import.meta.url)
const FOLDER = fileURLToPath(ROOT)

export const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')

const filesBelow = (folder: string): string[] =>
  readdirSync(new URL(`${folder}/`, ROOT), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => `${entry.parentPath}/${entry.name}`.replaceAll('//', '/').slice(FOLDER.length))
    .sort()

export const SOURCES: readonly string[] = filesBelow('src')
export const TESTS: readonly string[] = filesBelow('test')
/** The JavaScript SDK. */
export const SDK: readonly string[] = filesBelow('sdk/js/src')
export const TOOLS: readonly string[] = filesBelow('tools')
