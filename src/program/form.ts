/** The form in which the program runs. */
import { isSea } from 'node:sea'
import { commandsAs } from './commands.ts'

declare const BUNDLE_FOLDER: string | undefined

/** The folder of the bundle and its assets, which the build defines; null when the program runs from its sources. */
export const bundleFolder: string | null = typeof BUNDLE_FOLDER === 'string' ? BUNDLE_FOLDER : null

/** `sources`: Node runs the TypeScript files. `bundle`: Node runs dist/windfall.mjs. `executable`: one file with Node. */
export const form: 'sources' | 'bundle' | 'executable' = isSea()
  ? 'executable'
  : bundleFolder === null
    ? 'sources'
    : 'bundle'

/** How to start the server, in texts for its owner. */
export const startCommand: string = form === 'executable' ? 'windfall serve' : 'npm start'

/** How to run a command of this program, in texts for its owner. */
export const commandName: string = form === 'executable' ? 'windfall' : 'npm run -s windfall --'

/** A text with the commands in it, such as `windfall owner reset`, as this form of the program runs them. */
export const withCommands = (text: string): string => commandsAs(text, commandName)
