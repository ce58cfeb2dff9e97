/** `windfall-sdk/server`: what a backend needs to receive events from Windfall and to call it. */
export type {
  Access,
  AccessProduct,
  Attributed,
  Identified,
  ImportFault,
  ImportOutcome,
} from './answer_types.ts'
export {
  type AccessOptions,
  type Attribute,
  type Client,
  type ClientOptions,
  createClient,
  type Identify,
} from './client.ts'
export { type FieldFault, WindfallError } from './errors.ts'
export type {
  CustomerIdentifiedSnapshot,
  CustomerLinkedSnapshot,
  CustomerMergedSnapshot,
  CustomerMovedSnapshot,
  EndpointSnapshot,
  GapSnapshot,
  ImportFinishedSnapshot,
  NotificationSnapshot,
  TransactionSnapshot,
  WebhookCustomer,
  WebhookMoney,
  WebhookNotification,
  WebhookSubscription,
  WebhookSubscriptionNow,
  WebhookTransaction,
  WebhookUser,
} from './event_parts.ts'
export type {
  EventSnapshots,
  EventType,
  FeedEvent,
  FeedEventOf,
  WebhookData,
  WebhookEvent,
  WebhookEventOf,
} from './event_types.ts'
export type { EventsPage, EventsReader, ReadEvents } from './events.ts'
export type { AttributeValue, LinkImport, LinkRow, LinksImported } from './links.ts'
export type { Fetch, FetchAnswer, RequestOptions } from './requests.ts'
export {
  type VerifyOptions,
  verifyWebhook,
  type WebhookBody,
  WebhookError,
  type WebhookErrorCode,
  type WebhookHeaders,
} from './webhooks.ts'
