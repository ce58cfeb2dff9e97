/** The requests of the load, as raw HTTP text that is cheap to build. */
import { randomUUID } from 'node:crypto'
import { APP, NEW_USER_EVERY, userId } from '../database.ts'

export type Load = { url: string; connections: number; warm_seconds: number; seconds: number } & (
  | { call: 'identify'; token: string; users: number; newcomers?: boolean }
  | { call: 'attribute'; token: string; users: number }
  | { call: 'notify'; bodies: readonly string[] }
)

/** Returns a function that returns the next request of the load, or null after the last one. */
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
    load.call === 'identify' ? openIdentify(load.users, load.newcomers ?? false) : openAttribute(load.users)
  return () => post(host, path, authorization, body())
}

/** The content length equals the number of characters, because every body is ASCII. */
const post = (host: string, path: string, extraHeaders: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: ${host}\r\n${extraHeaders}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`

/** Identifies a random user. With `newcomers`, one call in NEW_USER_EVERY has a new user id. */
function openIdentify(users: number, newcomers: boolean): () => string {
  let sent = 0
  return () => {
    sent += 1
    const isNew = newcomers && sent % NEW_USER_EVERY === 0
    const user = isNew ? `new-${randomUUID()}` : userId(randomBelow(users))
    return `{"appUserId":"${user}","bundleId":"${APP}","platform":"ios","osVersion":"18.${randomBelow(9)}","deviceModel":"iPhone17,1","locale":"en_US","attributes":{"plan":"pro","sessions":${randomBelow(900)},"experiment":"paywall-b"}}`
  }
}

/** Attributes a new purchase to a random user. */
const openAttribute = (users: number) => () =>
  `{"appUserId":"${userId(randomBelow(users))}","bundleId":"${APP}","platform":"ios","originalTransactionId":"${4e14 + randomBelow(1e14)}","productId":"com.example.bench.pro.monthly"}`

const randomBelow = (limit: number): number => Math.floor(Math.random() * limit)
