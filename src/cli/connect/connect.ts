/** The command `windfall connect`: gives Windfall the keys for Apple's APIs. */
import { defineCommand } from 'citty'
import { installedConfig } from '../install/layout.ts'
import { configArg, organizationArg } from '../instance/instance.ts'
import { connectWith } from './flow.ts'

const text = (valueHint: string, description: string) => ({ type: 'string', valueHint, description }) as const

const options = {
  'connect-key': text('FILE', 'The App Store Connect API key, AuthKey_….p8'),
  'connect-key-id': text('ID', 'Its key id, if the file name does not contain it'),
  issuer: text('ID', 'The issuer id, shown above the list of keys; none for an individual key'),
  vendor: text('NUMBERS', 'Comma-separated vendor numbers from Payments and Financial Reports; or none'),
  'purchase-key': text('FILE', 'The In-App Purchase key, SubscriptionKey_….p8; or none'),
  'purchase-key-id': text('ID', 'Its key id, if the file name does not contain it'),
  'purchase-issuer': text('ID', 'Its issuer id, if different'),
  ...organizationArg,
} as const

export const connectCommand = defineCommand({
  meta: { name: 'connect', description: 'Set up your Apple keys: asks for each, tests it and stores it' },
  args: {
    ...options,
    test: {
      type: 'boolean',
      default: true,
      description: 'Request a test notification at the end',
      negativeDescription: 'Do not request a test notification',
    },
    ...configArg,
  },
  async run({ args }) {
    const { config: path, test, _: __, ...given } = args
    const flags = Object.fromEntries(Object.keys(options).flatMap((name) => flagOf(name, given)))
    await connectWith({
      loadOptions: { path, fallback: installedConfig(), env: process.env, cwd: process.cwd() },
      flags,
      interactive: process.stdin.isTTY === true && process.stdout.isTTY === true,
      test,
      input: process.stdin,
      output: process.stdout,
    })
  },
})

function flagOf(name: string, given: Record<string, unknown>): [string, string][] {
  const value = given[name]
  return typeof value === 'string' ? [[name, value]] : []
}
