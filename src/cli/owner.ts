/** The command `windfall owner`: resets how the owner signs in. */
import { defineCommand } from 'citty'
import { utcMinuteText } from '../days.ts'
import { commandName } from '../program/form.ts'
import { configArg, sendVerb } from './instance/instance.ts'
import { print, printError } from './instance/output.ts'

type Link = { url: string; expires_at: number }

/** The setup link and its expiry, as text. */
export const linkText = ({ url, expires_at }: Link): string =>
  `${url}\n    The link works once, until ${utcMinuteText(expires_at)}; \`${commandName} owner reset\` prints a new one.`

const reset = defineCommand({
  meta: {
    name: 'reset',
    description: 'Remove the password, authenticator app and passkeys, end all sessions, print a setup link',
  },
  args: configArg,
  async run({ args }) {
    const link = await sendVerb<Link>(args.config, 'owner.reset', {})
    print(link.url)
    printError(
      `The link works once, until ${utcMinuteText(link.expires_at)}. All sessions have ended; the authenticator app and passkeys are removed.`,
    )
  },
})

export const ownerCommand = defineCommand({
  meta: { name: 'owner', description: 'Reset the dashboard owner’s password' },
  subCommands: { reset },
})
