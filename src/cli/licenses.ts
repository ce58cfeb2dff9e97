/** The command `windfall licenses`: prints the licences of everything that is in the program. */
import { defineCommand } from 'citty'
import { asset } from '../program/assets.ts'
import { print } from './instance/output.ts'

export const licensesCommand = defineCommand({
  meta: { name: 'licenses', description: 'Print the licences of the packages that Windfall contains' },
  run() {
    print(asset('licenses.txt.br'))
  },
})
