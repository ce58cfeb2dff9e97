/** The command `windfall reload`: makes the running server read its configuration again. */
import { defineCommand } from 'citty'
import * as v from 'valibot'
import { callControl } from '../control/socket.ts'
import { Refusal } from '../errors.ts'
import { configArg, load } from './instance/instance.ts'
import { print, printError, setResult } from './instance/output.ts'

const Reloaded = v.object({ taken_over: v.array(v.string()), needs_a_restart: v.array(v.string()) })

export const reloadCommand = defineCommand({
  meta: { name: 'reload', description: 'Make the running server read its configuration again' },
  args: configArg,
  async run({ args }) {
    const { config } = load(args.config)
    const response = await callControl(config.store.path, 'config.reload', {})
    if (response === null)
      throw new Refusal(
        409,
        'not_running',
        'no server runs with this database; it reads the configuration at its start',
      )
    const { taken_over, needs_a_restart } = v.parse(Reloaded, response.result)
    setResult({ taken_over, needs_a_restart })
    print(
      taken_over.length === 0
        ? 'The server has read the configuration: nothing changed at once.'
        : `The server has read the configuration. Changed: ${taken_over.join(', ')}`,
    )
    if (needs_a_restart.length > 0) printError(`These need a restart: ${needs_a_restart.join(', ')}`)
  },
})
