/** The command `windfall links`. */
import { defineCommand } from 'citty'
import { linksImportCommand } from './import.ts'

export const linksCommand = defineCommand({
  meta: { name: 'links', description: 'Move in: import which purchase belongs to which user' },
  subCommands: { import: linksImportCommand },
})
