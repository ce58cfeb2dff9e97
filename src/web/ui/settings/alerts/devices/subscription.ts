/** The push subscription of this browser: made at a tap, and repaired when the page is opened. */
import { Problem, write } from '../../../http.ts'
import { type Channel, refreshAlerts } from '../alert_queries.ts'
import { removeHash, storedHash, storeHash } from './stored_hash.ts'

const NOT_PERMITTED = 'The browser does not permit notifications. Permit them in its settings of this site.'
const UNTRUSTED =
  'The browser does not run the service worker of this page. It needs a certificate that the device trusts. Or add ntfy or Telegram as a channel.'
const DEVICES_PATH = '/api/v1/alerts/devices'

/** What keeps this browser from getting alerts. `home_screen`: an iPhone or iPad outside of the Home Screen app. */
export type Obstacle = 'insecure' | 'home_screen' | 'unsupported' | 'denied'

const isApple = (): boolean =>
  /iPhone|iPad|iPod/.test(navigator.userAgent) ||
  (navigator.userAgent.includes('Macintosh') && navigator.maxTouchPoints > 1)
const isInstalled = (): boolean => matchMedia('(display-mode: standalone)').matches

/** The first obstacle; null if a tap can subscribe. */
export function obstacle(): Obstacle | null {
  if (!window.isSecureContext) return 'insecure'
  if (!('serviceWorker' in navigator) || !('PushManager' in window) || !('Notification' in window))
    return isApple() && !isInstalled() ? 'home_screen' : 'unsupported'
  return Notification.permission === 'denied' ? 'denied' : null
}

/** A name for this device, such as `Safari on iPhone`. */
function deviceName(): string {
  const agent = navigator.userAgent
  const has = (name: string): boolean => agent.includes(name)
  const browser = has('Edg/') ? 'Edge' : has('Firefox') ? 'Firefox' : has('Chrome') ? 'Chrome' : 'Safari'
  const places = ['iPhone', 'iPad', 'Android', 'Macintosh', 'Windows', 'Linux'] as const
  const place = places.find(has)
  return place === undefined ? browser : `${browser} on ${place === 'Macintosh' ? 'Mac' : place}`
}

const bytesOf = (base64url: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0))
const base64urlOf = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')

/** The hash by which the server knows an endpoint. */
async function hashOf(endpoint: string): Promise<string> {
  return base64urlOf(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(endpoint)))
}

/** The service worker, which receives pushes. Where it cannot run, `ready` alone never resolves. @throws Problem */
async function worker(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register('/service_worker.js').catch(() => {
    throw new Problem(0, 'untrusted', UNTRUSTED)
  })
  return navigator.serviceWorker.ready
}

/** Tells the server about a subscription. `replaces`: the hash that this browser had before. */
async function send(
  subscription: PushSubscription,
  organization_id: string | null,
  replaces: string | null,
): Promise<Channel> {
  const channel = await write<Channel>('POST', DEVICES_PATH, {
    name: deviceName(),
    subscription: subscription.toJSON(),
    replaces,
    ...(organization_id !== null && { organization_id }),
  })
  storeHash(await hashOf(subscription.endpoint))
  return channel
}

/** Subscribes with the key of this server. A subscription with another key is replaced. @throws Problem */
async function subscribe(): Promise<PushSubscription> {
  const { public_key } = await write<{ public_key: string }>('POST', `${DEVICES_PATH}/key`)
  const { pushManager } = await worker()
  const existing = await pushManager.getSubscription()
  const key = existing?.options.applicationServerKey ?? null
  if (existing && key !== null && base64urlOf(key) === public_key) return existing
  await existing?.unsubscribe()
  const options = { userVisibleOnly: true, applicationServerKey: bytesOf(public_key) }
  return pushManager.subscribe(options).catch((error: Error) => {
    const words = `The browser cannot subscribe at its push service: ${error.message.replace(/\.$/, '')}. Try again, or add ntfy or Telegram as a channel.`
    throw new Problem(0, 'not_subscribed', words)
  })
}

/** Asks for permission, subscribes and adds this device. Must be called from a tap. @throws Problem */
export async function addDevice(organization_id: string | null): Promise<Channel> {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Problem(0, 'not_permitted', NOT_PERMITTED)
  const channel = await send(await subscribe(), organization_id, storedHash())
  await refreshAlerts()
  return channel
}

/**
 * Compares the subscription of this browser and its key with the server, and repairs them, in each organization. Does
 * nothing on a browser that never subscribed, and for a device that was removed.
 */
export async function repairDevice(channels: readonly Channel[]): Promise<void> {
  const stored = storedHash()
  if (stored === null || obstacle() !== null || Notification.permission !== 'granted') return
  const { pushManager } = await worker()
  const existing = await pushManager.getSubscription()
  // The service worker may have renewed the device; it cannot write the stored hash.
  const hashes = [stored, existing && (await hashOf(existing.endpoint))]
  const devices = channels.flatMap(({ organization_id, settings: { endpoint_hash } }) =>
    typeof endpoint_hash === 'string' && hashes.includes(endpoint_hash)
      ? [{ organization_id, endpoint_hash }]
      : [],
  )
  if (devices.length === 0) return
  const subscription = await subscribe()
  const hash = await hashOf(subscription.endpoint)
  const changed = devices.filter(({ endpoint_hash }) => endpoint_hash !== hash)
  for (const { organization_id, endpoint_hash } of changed)
    await send(subscription, organization_id, endpoint_hash)
  if (changed.length === 0 && hash === stored) return
  storeHash(hash)
  await refreshAlerts()
}

/** Ends the subscription of this browser, after its last device was removed. */
export async function endSubscription(): Promise<void> {
  removeHash()
  const registration = await navigator.serviceWorker.getRegistration()
  await (await registration?.pushManager.getSubscription())?.unsubscribe()
}
