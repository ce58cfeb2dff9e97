/** The owner of the server: signs in with the printed link, turns off quiet hours, adds a phone, makes keys. */
import type { Program } from './program.ts'

const PASSWORD = 'a sentence that nobody guesses'

type Device = { endpoint: string; keys: { p256dh: string; auth: string } }
type Token = { token: string }

/** What the owner has: the value of the cookie, two keys of the SDK and a token that reads. */
export type Owner = Awaited<ReturnType<typeof becomeOwner>>

/** Wall times such as 22:00; null for none. */
export type QuietHours = { from: string; until: string } | null

/** Sets the server up. It must have begun for the first time. */
export async function becomeOwner(
  program: Program,
  { url, quiet, device }: { url: string; quiet: QuietHours; device: Device },
) {
  const token = await program.until((text) => /\/setup#(\S+)/.exec(text)?.[1])
  let cookie = ''

  async function send(method: string, path: string, body: object): Promise<Response> {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', cookie },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response
  }

  const answered = await send('POST', '/api/v1/setup', { token, password: PASSWORD })
  cookie = answered.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  await send('PATCH', '/api/v1/alerts/settings', { quiet })
  await send('POST', '/api/v1/alerts/devices/key', {})
  await send('POST', '/api/v1/alerts/devices', { name: 'push', subscription: device })
  const publishable = await program.command<Token>('keys', 'create')
  const secret = await program.command<Token>('keys', 'create', '--secret')
  const reading = await program.command<Token>('tokens', 'create')
  return {
    cookie_value: cookie.split('=')[1] ?? '',
    publishable: publishable.token,
    secret: secret.token,
    reading: reading.token,
  }
}
