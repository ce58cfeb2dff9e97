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
    user: {
      type: 'string',
      valueHint: 'USER',
      description: 'The user that the event is about, to test a grant end to end',
    },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const { name, type, organization = null, user: app_user_id = null } = args
    const request = { name, organization, type, app_user_id }
    const delivery = await sendVerb<Delivery>(args.config, 'webhooks.test', request)
    print(`${delivery.state}  ${resultText(delivery)}`)
    const excerpt = excerptOf(delivery)
    if (excerpt !== null) print(excerpt)
    if (delivery.state !== 'delivered') process.exitCode = 1
  },
})
