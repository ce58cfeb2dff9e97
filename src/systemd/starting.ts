/** How to start the server, in texts for its owner. */
import { existsSync } from 'node:fs'
import { form } from '../program/form.ts'
import { unitFile } from './unit.ts'

/** The command that starts the server: that of the installed service, if this is the executable and there is one. */
export const startOfServer = (): string =>
  form === 'executable' && existsSync(unitFile()) ? 'systemctl start windfall' : 'windfall serve'
