/** Push messages in the service worker: shows each, opens its page at a tap, and renews a subscription that changed. */

type Notice = {
  title: string
  body?: string
  navigate: string
  tag?: string
  lang?: string
  dir?: 'auto' | 'ltr' | 'rtl'
}
/** The declarative payload (https://webkit.org/blog/16535), which browsers without support deliver as any other. */
type Payload = { notification: Notice; app_badge?: number }

type WindowClient = { url: string; focus(): Promise<WindowClient>; navigate(url: string): Promise<unknown> }
type PushScope = {
  addEventListener(type: string, listener: (event: never) => void): void
  registration: ServiceWorkerRegistration
  clients: {
    matchAll(options: { type: 'window' }): Promise<WindowClient[]>
    openWindow(url: string): Promise<unknown>
  }
  location: Location
}
type Waiting = { waitUntil(work: Promise<unknown>): void }
type PushEvent = Waiting & { data: { json(): unknown } | null }
type ClickEvent = Waiting & { notification: Notification }
type ChangeEvent = Waiting & {
  oldSubscription: PushSubscription | null
  newSubscription: PushSubscription | null
}

/** A push that shows nothing costs the permission, so one that cannot be read is shown too. */
const UNREADABLE: Payload = {
  notification: { title: 'Windfall', body: 'Open the dashboard.', navigate: '/' },
}

function payloadOf({ data }: PushEvent): Payload {
  try {
    const payload = data?.json() as Payload | undefined
    return typeof payload?.notification?.title === 'string' ? payload : UNREADABLE
  } catch {
    return UNREADABLE
  }
}

async function showPush({ registration }: PushScope, event: PushEvent): Promise<void> {
  const { notification, app_badge } = payloadOf(event)
  const { title, navigate, ...rest } = notification
  await registration.showNotification(title, {
    ...rest,
    icon: '/icon-192.png',
    badge: '/icon-192.png',
    data: { navigate },
  })
  if (!('setAppBadge' in navigator) || app_badge === undefined) return
  await (app_badge > 0 ? navigator.setAppBadge(app_badge) : navigator.clearAppBadge()).catch(() => undefined)
}

/** Opens the page in the window that shows it, in another window of the dashboard, or in a new one. */
async function openPage({ clients, location }: PushScope, { notification }: ClickEvent): Promise<void> {
  notification.close()
  const url = new URL(String(notification.data?.navigate ?? '/'), location.origin)
  const all = await clients.matchAll({ type: 'window' })
  const open = all.find((client) => client.url === url.href) ?? all.find(isAt(url.origin))
  try {
    if (open === undefined) await clients.openWindow(url.href)
    else await (await open.focus()).navigate(url.href)
  } catch {
    // A window that closes at this moment cannot be focused, nor one that has no service worker yet.
    await clients.openWindow(url.href)
  }
}

const isAt =
  (origin: string) =>
  ({ url }: WindowClient): boolean =>
    new URL(url).origin === origin

/** A service worker has no session: the device proves itself with the secret of its old subscription. */
async function renew({ registration }: PushScope, event: ChangeEvent): Promise<void> {
  const { oldSubscription: old } = event
  const applicationServerKey = old?.options.applicationServerKey
  if (old === null || !applicationServerKey) return
  const options = { userVisibleOnly: true, applicationServerKey }
  const subscription = event.newSubscription ?? (await registration.pushManager.subscribe(options))
  await fetch('/api/v1/push/renew', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      endpoint: old.endpoint,
      auth: old.toJSON().keys?.auth,
      subscription: subscription.toJSON(),
    }),
  })
}

/** Listens to pushes, taps and changes of the subscription. */
export function listenToPushes(worker: PushScope): void {
  worker.addEventListener('push', (event: PushEvent) => event.waitUntil(showPush(worker, event)))
  worker.addEventListener('notificationclick', (event: ClickEvent) =>
    event.waitUntil(openPage(worker, event)),
  )
  worker.addEventListener('pushsubscriptionchange', (event: ChangeEvent) =>
    event.waitUntil(renew(worker, event)),
  )
}
