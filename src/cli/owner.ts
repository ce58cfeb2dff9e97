/** The command `windfall owner`: for whoever has lost the password, or somebody else has found it. */
import { defineCommand } from 'citty'
import { utcMinuteText } from '../days.ts'
import { configArg, print, printError, sendVerb } from './instance/instance.ts'

type Link = { url: string; expires_at: number }

/** The link, and how long it works. */
export const linkText = ({ url, expires_at }: Link): string =>
  `${url}\n    It works once, until ${utcMinuteText(expires_at)}; \`windfall owner reset\` prints another.`

const reset = defineCommand({
  meta: {
    name: 'reset',
    description: 'Forget the password, end every session, and print a link to choose another',
  },
  args: configArg,
  async run({ args }) {
    const link = await sendVerb<Link>(args.config, 'owner.reset', {})
    print(link.url)
    printError(`It works once, until ${utcMinuteText(link.expires_at)}. Nobody is signed in any more.`)
  },
})

export const ownerCommand = defineCommand({
  meta: { name: 'owner', description: 'Let the owner of the dashboard choose a new password' },
  subCommands: { reset },
})
