/** Google Chat (https://developers.google.com/workspace/chat/quickstart/webhooks): a webhook of a space, which posts a card. */
import type { ChannelKind, ChannelMessage } from './channel.ts'
import { jsonRequest, sendRequest } from './http_channel.ts'
import { cut, oneLine } from './texts.ts'
import { NoSettings, ONE_A_SECOND, type WebhookSecrets, webhookSecrets } from './webhook.ts'

const Secrets = webhookSecrets(
  /^https:\/\/chat\.googleapis\.com\/v1\/spaces\/[\w-]+\/messages\?/,
  'must be a webhook URL such as https://chat.googleapis.com/v1/spaces/AAAA/messages?key=…&token=…',
)

const MAX_TITLE = 250
/** Google Chat takes messages of at most 32,000 bytes. */
const MAX_TEXT = 3_000

export const googleChat: ChannelKind<NoSettings, WebhookSecrets> = {
  kind: 'google_chat',
  settings: NoSettings,
  secrets: Secrets,
  limitsOf: () => [ONE_A_SECOND],
  accountOf: (_, { url }) => new URL(url).pathname,
  addressOf: () => 'chat.googleapis.com',
  send: (message, { secrets: { url } }, context) =>
    sendRequest(jsonRequest(url, bodyOf(message)), context, { name: 'Google Chat' }),
}

/** A card has no mentions. `fallbackText` is what a phone shows. */
function bodyOf({ title, body, url }: ChannelMessage): object {
  const head = cut(oneLine(title), MAX_TITLE)
  const open = { text: 'Open in Windfall', onClick: { openLink: { url } } }
  const widgets = [
    ...(body === '' ? [] : [{ textParagraph: { text: htmlOf(cut(body, MAX_TEXT)) } }]),
    // Without a base_url the address has no host, and Google refuses the card.
    ...(URL.canParse(url) ? [{ buttonList: { buttons: [open] } }] : []),
  ]
  const card = { header: { title: head }, ...(widgets.length > 0 && { sections: [{ widgets }] }) }
  // Without its bracket no text is a mention such as <users/all>.
  const fallbackText = head.replaceAll('<', '‹')
  return { fallbackText, cardsV2: [{ cardId: 'windfall', card }] }
}

/** The simple HTML of cards. */
const htmlOf = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\n', '<br>')
