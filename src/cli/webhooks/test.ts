/** The command `windfall webhooks test`. */
import { defineCommand } from 'citty'
import { configArg, organizationArg, sendVerb } from '../instance/instance.ts'
import { print } from '../instance/output.ts'
import { type Delivery, excerptOf, nameArg, resultText } from './texts.ts'

export const testCommand = defineCommand({
  meta: { name: 'test', description: 'Send a test event and show the answer' },
  args: {
    ...nameArg,
    type: {
      type: 'string',
      default: 'subscription.renewed',
      valueHint: 'TYPE',
      description: 'The event type',
    },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const { name, type, organization = null } = args
    const delivery = await sendVerb<Delivery>(args.config, 'webhooks.test', { name, organization, type })
    print(`${delivery.state}  ${resultText(delivery)}`)
    const excerpt = excerptOf(delivery)
    if (excerpt !== null) print(excerpt)
    if (delivery.state !== 'delivered') process.exitCode = 1
  },
})
