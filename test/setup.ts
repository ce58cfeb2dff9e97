/** Runs before the tests of each file. */
import { afterAll } from 'vitest'
import { endFile } from './closing.ts'

afterAll(endFile)
