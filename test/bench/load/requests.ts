/** Requests of the load as raw bytes, built as cheaply as possible. */
import { APP, USER_EVERY, userId } from '../database.ts'

export type Load = { url: string; connections: number; warm_seconds: number; seconds: number } & (
  | { call: 'identify'; token: string; users: number; newcomers?: boolean }
  | { call: 'attribute'; token: string; users: number }
  | { call: 'notify'; bodies: readonly string[] }
)

/** The next request of the load, or null when there is none left. */
export function openRequests(load: Load): () => string | null {
  const host = new URL(load.url).host
  if (load.call === 'notify') {
    let next = 0
    return () => {
      const body = load.bodies[next++]
      return body === undefined ? null : post(host, '/apple/notifications', '', body)
    }
  }
  const path = `/api/sdk/v1/${load.call}`
  const authorization = `authorization: Bearer ${load.token}\r\n`
  const body =
    load.call === 'identify' ? openIdentify(load.users, load.newcomers ?? false) : attributeOf(load.users)
  return () => post(host, path, authorization, body())
}

/** Bodies are ASCII, so that characters are bytes. */
const post = (host: string, path: string, more: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: ${host}\r\n${more}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`

/** One of the users, every one as likely; now and then, where asked for, one that nobody knew. */
function openIdentify(users: number, newcomers: boolean): () => string {
  let sent = 0
  let strangers = 0
  return () => {
    sent += 1
    const isNew = newcomers && sent % USER_EVERY === 0
    const user = isNew ? `new-${process.pid}-${strangers++}-${process.hrtime.bigint()}` : userId(any(users))
    return `{"appUserId":"${user}","bundleId":"${APP}","platform":"ios","osVersion":"18.${any(9)}","deviceModel":"iPhone17,1","locale":"en_US","attributes":{"plan":"pro","sessions":${any(900)},"experiment":"paywall-b"}}`
  }
}

/** A purchase that nobody has named before, of one of the users. */
const attributeOf = (users: number) => () =>
  `{"appUserId":"${userId(any(users))}","bundleId":"${APP}","platform":"ios","originalTransactionId":"${4e14 + any(1e14)}","productId":"com.example.bench.pro.monthly"}`

const any = (below: number): number => Math.floor(Math.random() * below)
