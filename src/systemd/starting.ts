/** How to start the server and to reload its configuration, in texts for its owner. */
import { existsSync } from 'node:fs'
import { commandName, form, startCommand } from '../program/form.ts'
import { unitFile } from './unit.ts'

/** The command that starts the server: that of the installed service, if this is the executable and there is one. */
export const startOfServer = (): string => (isInstalled() ? 'systemctl start windfall' : startCommand)

/** The command that makes the server read its configuration again. */
export const reloadOfServer = (): string =>
  isInstalled() ? 'systemctl reload windfall' : `${commandName} reload`

const isInstalled = (): boolean => form === 'executable' && existsSync(unitFile())
