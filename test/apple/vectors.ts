/** The genuine and Apple-made signed texts that tests are held against, where this machine has them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { nonEmpty } from '../non_empty.ts'

const FOLDER = new URL('../../../shared/vectors/', import.meta.url)

/** False where the vectors are absent; said aloud, since tests are then skipped. */
export const haveVectors = existsSync(FOLDER)
// biome-ignore lint/suspicious/noConsole: a test that does not run must not look like one that passed
if (!haveVectors) console.warn(`SKIPPED: no genuine vectors at ${FOLDER.pathname}`)

export const readVector = (path: string): Buffer => readFileSync(new URL(path, FOLDER))
export const textOf = (path: string): string => readVector(path).toString('utf8').trim()
/** @throws Error when there is none */
export const listVectors = (folder: string): string[] => nonEmpty(readdirSync(new URL(folder, FOLDER)).sort())
