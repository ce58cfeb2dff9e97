/** Runs before the tests of each file. */
import { afterAll } from 'vitest'
import { useCheapPasswords } from './access/cheap_passwords.ts'
import { endFile } from './closing.ts'

useCheapPasswords()
afterAll(endFile)
