/** Genuine payloads and those of Apple's library tests, if this machine has them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { nonEmpty } from '../non_empty.ts'

const FOLDER = new URL('../../../shared/vectors/', import.meta.url)

/** False without the vectors. Prints a note, because tests are then skipped. */
export const haveVectors = existsSync(FOLDER)
// biome-ignore lint/suspicious/noConsole: a test that does not run must not look like one that passed
if (!haveVectors) console.warn(`SKIPPED: no genuine vectors at ${FOLDER.pathname}`)

export const readVector = (path: string): Buffer => readFileSync(new URL(path, FOLDER))
export const textOf = (path: string): string => readVector(path).toString('utf8').trim()
/** @throws Error if the vector does not exist */
export const listVectors = (folder: string): string[] => nonEmpty(readdirSync(new URL(folder, FOLDER)).sort())
