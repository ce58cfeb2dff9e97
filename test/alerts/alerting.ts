/** A Windfall that sends alerts to a scripted receiver on 127.0.0.1, with a clock turned by hand. */
import type { Channel } from '../../src/alerts/channels/channels.ts'
import type { Rule } from '../../src/alerts/rules/rules.ts'
import { type RuleSettings, settingsOf, type TemplateName } from '../../src/alerts/rules/templates.ts'
import { newId } from '../../src/ids.ts'
import { VIEWS } from '../../src/web/views.ts'
import { dataBody, outerPayload, renewalPayload, transactionPayload } from '../apple/samples.ts'
import { openHttpReceiver } from '../forwarding/receiving.ts'
import { handClock, openTestApp, type TestApp, type TestOptions } from '../helpers.ts'

/** A message as the receiver got it. */
export type Got = {
  id: string
  tag: string
  title: string
  body: string
  url: string
  urgency: string
  is_payment: boolean
  at: number
  fields: { label: string; value: string }[]
}

/** Whether the dashboard has a view at the path of a link. */
function opensView(url: string): boolean {
  const { pathname } = new URL(url, 'http://localhost')
  return VIEWS.some(({ path }) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`).test(pathname))
}

export type AlertingApp = TestApp & Awaited<ReturnType<typeof drivenBy>>

const HEARD_BEFORE_MS = 400 * 86_400_000

/** Opens a Windfall with one channel, `phone`, and no rules. Quiet hours are off. Its app has been heard of for a year. */
export async function openAlertingApp(options: TestOptions = {}): Promise<AlertingApp> {
  const clock = options.clock ?? handClock()
  const env = { WINDFALL_OUTBOUND_ALLOW: '127.0.0.1', ...options.env }
  const heard = options.folder === undefined && { heard_at: clock() - HEARD_BEFORE_MS }
  const app = await openTestApp({ ...heard, ...options, clock, env })
  return Object.assign(app, await drivenBy(app))
}

const CHANNEL = {
  kind: 'json',
  hides_amounts: false,
  digests: [],
  source: 'dashboard',
  state: 'active',
  reason: null,
  next_at: null,
  last_sent_at: null,
  last_failed_at: null,
} as const

async function drivenBy({ windfall, organization, clock }: TestApp) {
  const { alerts, store, feed } = windfall
  const receiver = await openHttpReceiver()
  const organization_id = organization.id

  /** Adds a channel to the receiver. */
  async function channel(name: string, fields: Partial<Channel> = {}): Promise<Channel> {
    const added: Channel = {
      ...CHANNEL,
      id: newId('alc'),
      organization_id,
      name,
      settings: { url: `${receiver.url}/${name}` },
      state_since: clock(),
      created_at: clock(),
      ...fields,
    }
    await store.commit(() => alerts.channels.put(added))
    return added
  }

  /** Adds a rule that begins now. */
  async function rule(
    template: TemplateName,
    settings: Partial<RuleSettings> = {},
    fields: Partial<Rule> = {},
  ) {
    const added: Rule = {
      id: newId('alr'),
      organization_id,
      name: `${template} ${newId('n')}`,
      template,
      settings: settingsOf(template, { per_hour: null, ...settings }),
      channels: null,
      is_on: true,
      source: 'dashboard',
      cursor: feed.head(),
      created_at: clock(),
      ...fields,
    }
    await store.commit(() => alerts.rules.put(added))
    return added
  }

  /** Reads new events and sends what is due, after the clock was turned. */
  async function settle(ms = 0): Promise<void> {
    clock.turn(ms)
    await alerts.follow()
    alerts.wake()
    await alerts.settled()
  }

  function got(name = 'phone'): Got[] {
    const messages: Got[] = receiver.requests
      .filter(({ path }) => path.endsWith(`/${name}`))
      .map(({ body }) => JSON.parse(body))
    const missing = messages.find(({ url }) => url !== undefined && !opensView(url))
    if (missing) throw new Error(`“${missing.title}” opens ${missing.url}, which is no view`)
    return messages
  }

  await store.commit(() => alerts.settings.change(organization_id, { quiet: null }))
  // After a restart the channel exists, and the receiver is another one.
  const known = alerts.channels.list().find(({ name }) => name === 'phone')
  await channel('phone', known && { id: known.id, digests: known.digests })
  // The clock is turned by hand, and the timers follow the machine’s.
  await alerts.start({ is_timed: false })
  return { receiver, channel, rule, settle, got, alerts }
}

/**
 * Opens a Windfall with a second channel, whose provider takes one message a second, and with a monotonic clock that reads
 * fractions of a millisecond. Without rules.
 */
export async function openLimited(options: TestOptions = {}) {
  const clock = handClock()
  let reads = 0
  const monotonic = () => {
    reads += 1
    return clock() + reads / 1_000
  }
  const app = await openAlertingApp({ ...options, clock, monotonic })
  const { channelAdministration, rules } = app.alerts
  await app.windfall.store.commit(() => {
    channelAdministration.add({
      organization_id: app.organization.id,
      name: 'chat',
      kind: 'telegram',
      settings: { server: new URL(app.receiver.url).origin, chat_id: '7' },
      secrets: { token: '123456:AAbbCCddEEffGGhhIIjjKKllMMnn' },
      hides_amounts: false,
      digests: [],
      source: 'dashboard',
    })
    for (const { id } of rules.list()) rules.remove(id)
  })
  /** The titles that the limited channel got. */
  const inChat = (): string[] =>
    app.receiver.requests
      .filter(({ path }) => path.endsWith('sendMessage'))
      .map(({ body }) => /<b>(.*)<\/b>/.exec(JSON.parse(body).text)?.[1] ?? '')
  return { app, inChat }
}

let number = 0

type Purchase = {
  app: TestApp
  type?: string
  subtype?: string
  transaction?: Record<string, unknown>
  /** The signed renewal info; none without it. */
  renewal?: Record<string, unknown>
  signed_at?: number
}

/** Sends a notification about a transaction of its own. Returns the transaction id. */
export async function purchase({
  app,
  type = 'DID_RENEW',
  subtype,
  transaction = {},
  renewal,
  signed_at = app.clock(),
}: Purchase): Promise<string> {
  number += 1
  const transactionId = String(2_000_000_900_000_000 + number)
  const now = app.clock()
  const payload = transactionPayload({
    transactionId,
    originalTransactionId: transactionId,
    purchaseDate: now,
    originalPurchaseDate: now,
    expiresDate: now + 30 * 86_400_000,
    signedDate: signed_at,
    ...transaction,
  })
  const data = dataBody({
    environment: payload.environment,
    signedTransactionInfo: app.authority.sign(payload),
    ...(renewal && {
      signedRenewalInfo: app.authority.sign(
        renewalPayload({
          originalTransactionId: payload.originalTransactionId,
          signedDate: signed_at,
          ...renewal,
        }),
      ),
    }),
  })
  const answer = await app.notify(
    outerPayload(data, {
      notificationType: type,
      ...(subtype && { subtype }),
      notificationUUID: `00000000-0000-4000-9000-${String(number).padStart(12, '0')}`,
      signedDate: signed_at,
    }),
  )
  if (answer.status !== 200) throw new Error(`the notification was answered with ${answer.status}`)
  return String(payload.transactionId)
}

/** The rule about countries begins after the first import of reports. */
export const finishImport = ({ windfall, organization, clock }: TestApp): Promise<unknown> =>
  windfall.store.commit(() =>
    windfall.feed.append({
      organization_id: organization.id,
      app_id: null,
      environment: null,
      type: 'import.finished',
      origin: 'live',
      customer_id: null,
      subject: null,
      cause: 'first',
      data: () => ({}),
      occurred_at: clock(),
      signed_at: null,
    }),
  )
