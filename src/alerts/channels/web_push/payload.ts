/** The payload of Web Push: declarative (https://webkit.org/blog/16535), and read by the service worker elsewhere. */
import { createHash } from 'node:crypto'
import type { ChannelMessage } from '../channel.ts'
import { bytesOf, cut, oneLine } from '../texts.ts'

/** The field that says that a payload is declarative; its value is the number of the RFC of Web Push. */
const DECLARATIVE = 8030
const MAX_TITLE_BYTES = 250
const SHORT_BODY_BYTES = 200
/** What remains of 4,096 bytes after padding, salt and tag. */
const MAX_BYTES = 3_993
const TOPIC_CHARACTERS = 32

/** The same for messages that replace one another: letters and digits only, at most 32. */
export const topicOf = (tag: string): string =>
  createHash('sha256').update(tag).digest('hex').slice(0, TOPIC_CHARACTERS)

/** The payload as JSON, at most 3,993 bytes; `isShort` cuts the body further. */
export function payloadOf(message: ChannelMessage, isShort = false): string {
  let limit = isShort ? SHORT_BODY_BYTES : MAX_BYTES
  // JSON escapes some characters, so the size is known only afterwards.
  for (;;) {
    const text = textOf(message, limit)
    if (bytesOf(text) <= MAX_BYTES || limit < SHORT_BODY_BYTES) return text
    limit = Math.floor(limit * 0.9)
  }
}

const textOf = ({ title, body, url, tag, badge }: ChannelMessage, limit: number): string =>
  JSON.stringify({
    web_push: DECLARATIVE,
    notification: {
      title: cut(oneLine(title), MAX_TITLE_BYTES, bytesOf),
      body: cut(body, limit, bytesOf),
      navigate: url,
      tag: topicOf(tag),
      lang: 'en',
      dir: 'auto',
    },
    app_badge: badge,
  })
