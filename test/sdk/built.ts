/** The built package in sdk/js/dist. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { openApi } from '../../sdk/js/src/api.ts'

export const PACKAGE = fileURLToPath(new URL('../../sdk/js/', import.meta.url))
export const built = (name: string): string => readFileSync(`${PACKAGE}dist/${name}`, 'utf8')

export type Sdk = ReturnType<typeof openApi>
