/**
 * Microsoft Teams (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using): the
 * webhook of a workflow, which posts an Adaptive Card.
 */
import type { ChannelKind, ChannelMessage } from './channel.ts'
import { jsonRequest, reasonIn, sendRequest } from './http_channel.ts'
import { cut, oneLine } from './texts.ts'
import { NoSettings, ONE_A_SECOND, type WebhookSecrets, webhookSecrets } from './webhook.ts'

const Secrets = webhookSecrets(/^https:\/\//, 'must begin with https://')

const MAX_TITLE = 250
/** Teams takes messages of at most 28 kB, with what surrounds each line. */
const [MAX_TEXT, MAX_LINES] = [3_000, 40]
/** What Power Automate answers with 400 when the workflow is turned off. */
const TURNED_OFF = /WorkflowTriggerIsNotEnabled|WorkflowNotFound|FlowNotEnabled/

export const teams: ChannelKind<NoSettings, WebhookSecrets> = {
  kind: 'teams',
  settings: NoSettings,
  secrets: Secrets,
  limitsOf: () => [ONE_A_SECOND],
  // The query has the signature.
  accountOf: (_, { url }) => `${new URL(url).host}${new URL(url).pathname}`,
  addressOf: () => 'a workflow',
  send: (message, { secrets: { url } }, context) =>
    sendRequest(jsonRequest(url, bodyOf(message)), context, {
      name: 'Teams',
      verdict(answer) {
        if (!TURNED_OFF.test(answer.excerpt)) return null
        const words = `Teams answered ${answer.status}${reasonIn(answer)}`
        return { kind: 'dead', words: `${words}. Turn the workflow on, or enter the URL of another one.` }
      },
    }),
}

/** Text runs have no markup, and no mention without an entity. */
const lineOf = (text: string, style: object = {}): object => ({
  type: 'RichTextBlock',
  spacing: 'None',
  inlines: [{ type: 'TextRun', text, ...style }],
})

function bodyOf({ title, body, url, urgency }: ChannelMessage): object {
  const head = { size: 'Medium', weight: 'Bolder', color: urgency === 'normal' ? 'Default' : 'Attention' }
  const lines = cut(body, MAX_TEXT)
    .split('\n')
    .filter((line) => line !== '')
  const shown = lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES - 1), '…'] : lines
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [lineOf(cut(oneLine(title), MAX_TITLE), head), ...shown.map((line) => lineOf(line))],
    // Without a base_url the address has no host, and Teams refuses the card.
    actions: URL.canParse(url) ? [{ type: 'Action.OpenUrl', title: 'Open in Windfall', url }] : [],
  }
  return {
    type: 'message',
    summary: cut(oneLine(title), MAX_TITLE),
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  }
}
