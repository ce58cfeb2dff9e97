/** The command `windfall completion`: scripts that complete commands, options and files in a shell. */
import { defineCommand } from 'citty'
import { Refusal } from '../../errors.ts'
import type { Entry } from '../help/table.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { placesOf } from './places.ts'
import { zshScript } from './zsh.ts'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript }
const SHELLS = Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[]

/** What `runCli` hands over to a command. */
type CompletionData = { allEntries: () => Promise<Entry[]> }

export const completionCommand = defineCommand({
  meta: {
    name: 'completion',
    description: 'Print a script that completes commands and options in your shell',
  },
  args: {
    shell: {
      type: 'positional',
      required: true,
      valueHint: SHELLS.join('|'),
      description: `The shell: ${SHELLS.join(', ')}`,
    },
  },
  async run({ args, data }) {
    const shell = SHELLS.find((name) => name === args.shell)
    if (!shell)
      throw new Refusal(
        400,
        'invalid_request',
        `there is no completion for ${args.shell}; choose ${SHELLS.join(', ')}`,
      )
    // The table of commands contains this one, so it is handed over.
    const { allEntries } = data as CompletionData
    process.stdout.write(SCRIPTS[shell](placesOf(await allEntries())))
  },
})
