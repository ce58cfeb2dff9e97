/** The fields of each kind of channel, and how to get what they ask for. */

/** `where`: settings are shown again, secrets are not. */
export type KindField = Readonly<{
  where: 'settings' | 'secrets'
  name: string
  label: string
  hint: string
  isRequired: boolean
  isNumber?: true
}>

export type KindForm = Readonly<{
  kind: string
  title: string
  /** One line for the list of kinds. */
  about: string
  /** What to do at the provider first. */
  steps: string
  fields: readonly KindField[]
}>

const setting = (name: string, label: string, hint: string, isRequired = true): KindField => ({
  where: 'settings',
  name,
  label,
  hint,
  isRequired,
})
const secret = (name: string, label: string, hint: string, isRequired = true): KindField => ({
  where: 'secrets',
  name,
  label,
  hint,
  isRequired,
})

export const KIND_FORMS: readonly KindForm[] = [
  {
    kind: 'ntfy',
    title: 'ntfy',
    about: 'A free app for iPhone and Android; no account',
    steps:
      'Install the ntfy app, tap +, and subscribe to the topic below. Everyone who knows the topic can read it and mute alerts for an hour.',
    fields: [
      setting('topic', 'Topic', 'windfall-7f3kq9'),
      setting('server', 'Server (optional)', 'https://ntfy.sh', false),
      secret('token', 'Access token (optional)', 'tk_…', false),
    ],
  },
  {
    kind: 'telegram',
    title: 'Telegram',
    about: 'A chat with a bot of your own',
    steps:
      'Write /newbot to @BotFather, which answers with a token. Write any message to your new bot. @userinfobot answers with your chat id.',
    fields: [secret('token', 'Bot token', '123456:ABC…'), setting('chat_id', 'Chat id', '123456789')],
  },
  {
    kind: 'email',
    title: 'E-mail',
    about: 'Through your SMTP server',
    steps: 'Your mail provider lists the SMTP host. Many providers need a password for apps.',
    fields: [
      setting('to', 'To, several with commas', 'you@example.com'),
      setting('from', 'From', 'windfall@example.com'),
      setting('host', 'SMTP host', 'smtp.example.com'),
      { ...setting('port', 'Port (optional)', '587', false), isNumber: true },
      setting('user', 'User (optional)', 'windfall@example.com', false),
      secret('password', 'Password (optional)', '', false),
    ],
  },
  {
    kind: 'slack',
    title: 'Slack',
    about: 'An incoming webhook of a channel',
    steps: 'In Slack, create an app with Incoming Webhooks, add a webhook for a channel, and copy its URL.',
    fields: [secret('url', 'Webhook URL', 'https://hooks.slack.com/services/…')],
  },
  {
    kind: 'discord',
    title: 'Discord',
    about: 'A webhook of a channel',
    steps: 'In the settings of a channel, open Integrations, Webhooks, create one, and copy its URL.',
    fields: [secret('url', 'Webhook URL', 'https://discord.com/api/webhooks/…')],
  },
  {
    kind: 'mattermost',
    title: 'Mattermost',
    about: 'An incoming webhook, also of Rocket.Chat',
    steps:
      'In Mattermost, open Integrations, Incoming Webhooks, add one for a channel, and copy its URL. A server in your own network needs an entry in [outbound] allow.',
    fields: [secret('url', 'Webhook URL', 'https://chat.example.com/hooks/…')],
  },
  {
    kind: 'teams',
    title: 'Microsoft Teams',
    about: 'A workflow of a channel or chat',
    steps:
      'In the menu of a channel, open Workflows, choose the template that posts to the channel when a webhook request is received, and copy the URL of the finished workflow.',
    fields: [secret('url', 'Webhook URL', 'https://….environment.api.powerplatform.com/…')],
  },
  {
    kind: 'google_chat',
    title: 'Google Chat',
    about: 'A webhook of a space',
    steps:
      'In the menu of a space, open Apps & integrations, Webhooks, add one, and copy its URL. It needs Google Workspace.',
    fields: [secret('url', 'Webhook URL', 'https://chat.googleapis.com/v1/spaces/…')],
  },
  {
    kind: 'pushover',
    title: 'Pushover',
    about: 'An app with a one-time price',
    steps: 'On pushover.net, copy your user key, create an application, and copy its API token.',
    fields: [
      secret('user', 'User key', '30 letters and digits'),
      secret('token', 'API token of the application', '30 letters and digits'),
      setting('device', 'Device (optional)', 'all devices', false),
    ],
  },
  {
    kind: 'gotify',
    title: 'Gotify',
    about: 'An app with a server of your own',
    steps:
      'In Gotify, open Apps, create an application, and copy its token. A server in your own network needs an entry in [outbound] allow.',
    fields: [
      setting('server', 'Server', 'https://gotify.example.com'),
      secret('token', 'Token of the application', 'A…'),
    ],
  },
  {
    kind: 'json',
    title: 'JSON',
    about: 'A POST request to a URL of yours',
    steps:
      'The body has title, body, url, urgency, at and fields, or what the template says: a JSON object with placeholders in its texts. Any status from 200 to 299 accepts it.',
    fields: [
      setting('url', 'URL', 'https://example.com/alerts'),
      setting('template', 'Template (optional)', '{"message": "{{body}}"}', false),
      secret('token', 'Token (optional)', '', false),
    ],
  },
]

/** The title of a kind; a device has its own. */
export const kindTitle = (kind: string): string =>
  kind === 'web_push' ? 'Device' : (KIND_FORMS.find((one) => one.kind === kind)?.title ?? kind)
